/** Several connections and one session. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { text } from "../../../src/domain/Content.ts"
import { textContent } from "../../../src/domain/Tool.ts"
import type { ScriptStep } from "../../../src/services/models/script/Script.ts"
import { agentLayer, connect, place } from "../../support/agents.ts"
import { makeEditor } from "../../support/editor.ts"
import type { FakeTool } from "../../support/fakeTools.ts"
import { info, nothingAsked } from "../../support/models.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const script: ReadonlyArray<ScriptStep> = [
  { when: "hang", again: true, parts: [{ text: "Well" }, { hang: true }] },
  { again: true, parts: [{ text: "Fine: " }, { echo: true }] }
]

const other = { ...info, id: "scripted/two", name: "Two", efforts: [] }
const models = { script, infos: [info, other] }

describe("several connections", () => {
  it.effect("see one session: each what the other does, its own words excepted", () =>
    Effect.gen(function* () {
      const one = yield* connect()
      const two = yield* connect(makeEditor(), "ask")
      const { id, say } = yield* one.open
      yield* say("One")
      yield* two.resumeSession(id, place(), {})
      const from = one.told(id).length
      yield* two.prompt(id, [text("Two")])
      assert.deepStrictEqual(two.told(id), ["text Fine: Two", "UsageUpdated", "InfoUpdated"])
      assert.deepStrictEqual(one.told(id).slice(from), [
        "ActivityChanged",
        "UserMessage",
        "text Fine: Two",
        "UsageUpdated",
        "InfoUpdated",
        "ActivityChanged"
      ])
      // Each is told the mode as its own transport allows it.
      yield* one.setMode(id, "always-approve")
      const modes = (events: typeof one.events) =>
        events.flatMap(([, event]) => (event._tag === "ModeChanged" ? [event.mode] : []))
      assert.deepStrictEqual([modes(one.events), modes(two.events)], [["always-approve"], ["ask"]])
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("know only what they opened themselves", () =>
    Effect.gen(function* () {
      const one = yield* connect()
      const two = yield* connect()
      const { id, say } = yield* one.open
      const running = yield* fork(say("hang"))
      yield* one.untilSaid("Well")
      assert.strictEqual((yield* Effect.flip(two.prompt(id, [text("Hi")])))._tag, "SessionNotFound")
      assert.strictEqual((yield* Effect.flip(two.setMode(id, "plan")))._tag, "SessionNotFound")
      assert.strictEqual((yield* Effect.flip(two.closeSession(id)))._tag, "SessionNotFound")
      yield* two.cancel(id)
      assert.isUndefined(running.pollUnsafe())
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("leave one by one: the session ends with the last", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const two = yield* connect()
        const id = yield* Effect.gen(function* () {
          const one = yield* connect()
          const { id, say } = yield* one.open
          yield* say("One")
          yield* two.loadSession(id, place(), {})
          return id
        }).pipe(Effect.scoped)
        const running = yield* fork(two.prompt(id, [text("hang")]))
        yield* two.untilSaid("Well")
        const three = yield* Effect.scoped(
          Effect.gen(function* () {
            const three = yield* connect()
            yield* three.loadSession(id, place(), {})
            return three
          })
        )
        assert.isUndefined(running.pollUnsafe())
        assert.strictEqual(asked.open, 1)
        yield* two.cancel(id)
        yield* Fiber.join(running)
        const from = three.told(id).length
        yield* two.prompt(id, [text("Two")])
        assert.strictEqual(three.told(id).length, from)
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ ...models, asked })))
    })
  )

  it.effect("close a session for themselves: for the others it goes on, and the last one ends it", () =>
    Effect.gen(function* () {
      const one = yield* connect()
      const two = yield* connect()
      const { id, say } = yield* one.open
      yield* say("One")
      yield* two.loadSession(id, place(), {})
      const running = yield* fork(two.prompt(id, [text("hang")]))
      yield* two.untilSaid("Well")
      const from = one.told(id).length
      yield* one.closeSession(id)
      assert.strictEqual((yield* Effect.flip(one.prompt(id, [text("Two")])))._tag, "SessionNotFound")
      assert.isUndefined(running.pollUnsafe())
      yield* two.closeSession(id)
      assert.strictEqual((yield* Fiber.join(running)).stopReason, "cancelled")
      assert.strictEqual(one.told(id).length, from)
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("take what they asked for along when they close, whether it runs or waits, and nothing of the others", () =>
    Effect.gen(function* () {
      const one = yield* connect()
      const two = yield* connect()
      const { id, say } = yield* one.open
      yield* two.resumeSession(id, place(), {})
      const running = yield* fork(say("hang"))
      yield* one.untilSaid("Well")
      const theirs = yield* fork(two.prompt(id, [text("Two")]))
      const waiting = yield* fork(say("hang"))
      yield* one.closeSession(id)
      assert.deepStrictEqual(
        [running, waiting].map((fiber) => fiber.pollUnsafe()),
        [Exit.succeed({ stopReason: "cancelled" as const }), Exit.succeed({ stopReason: "cancelled" as const })]
      )
      assert.strictEqual((yield* Fiber.join(theirs)).stopReason, "end_turn")
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("that come in the middle of a call learn of it once, with what it has shown", () => {
    const bash: FakeTool = {
      run: (_value, context) =>
        Effect.andThen(context.progress({ content: [textContent("half")], rawOutput: "half" }), Effect.never)
    }
    return Effect.gen(function* () {
      const one = yield* connect()
      const { id, say } = yield* one.open
      yield* fork(say("call"))
      yield* one.until(() => one.events.some(([, { _tag }]) => _tag === "ToolCallProgress"))
      const two = yield* connect()
      yield* two.resumeSession(id, place(), {})
      yield* two.resumeSession(id, place(), {})
      assert.deepStrictEqual(
        two.events.map(([, event]) =>
          event._tag === "ToolCallStarted" ? [event.call.status, event.call.rawOutput] : event._tag
        ),
        [["in_progress", "half"]]
      )
      const three = yield* connect()
      yield* three.loadSession(id, place(), {})
      assert.deepStrictEqual(
        three.events.flatMap(([, event]) => (event._tag === "ToolCallProgress" ? [event.patch.rawOutput] : [])),
        ["half"]
      )
      yield* one.cancel(id)
    }).pipe(
      Effect.provide(agentLayer({ script: [{ parts: [{ tool: { name: "bash", input: {} } }] }], tools: { bash } }))
    )
  })

  it.effect("that held a session that was deleted do not end the one that is opened next", () =>
    Effect.gen(function* () {
      const one = yield* connect()
      const { id, say } = yield* one.open
      yield* say("One")
      yield* Effect.gen(function* () {
        const two = yield* connect()
        yield* two.loadSession(id, place(), {})
        yield* one.deleteSession(id)
        assert.strictEqual((yield* Effect.flip(two.prompt(id, [text("Two")])))._tag, "SessionNotFound")
      }).pipe(Effect.scoped)
      assert.strictEqual((yield* Effect.flip(one.loadSession(id, place(), {})))._tag, "SessionNotFound")
    }).pipe(Effect.provide(agentLayer(models)))
  )
})
