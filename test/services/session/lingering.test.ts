/** What becomes of a turn whose connection is lost, and of those who come back. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { text } from "../../../src/domain/Content.ts"
import type { Event } from "../../../src/domain/Event.ts"
import type { SessionId } from "../../../src/domain/Ids.ts"
import type { ScriptStep } from "../../../src/services/models/script/Script.ts"
import { Agent } from "../../../src/services/Agent.ts"
import { agentLayer, place } from "../../support/agents.ts"
import { makeEditor } from "../../support/editor.ts"
import { nothingAsked } from "../../support/models.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const script: ReadonlyArray<ScriptStep> = [
  { when: "hang", again: true, parts: [{ text: "Well" }, { hang: true }] },
  { again: true, parts: [{ text: "Fine: " }, { echo: true }] }
]

/** A connection over a network that a test can lose. */
const dial = Effect.fnUntraced(function* () {
  const fake = makeEditor()
  const scope = yield* Scope.make()
  const { connect } = yield* Agent
  const connection = yield* Scope.provide(connect(fake.editor, { ceiling: "always-approve", lingers: true }), scope)
  return {
    ...fake,
    ...connection,
    lost: Effect.suspend(() => {
      fake.lose()
      return Scope.close(scope, Exit.void)
    }),
    activities: (id: SessionId) =>
      fake.events.flatMap(([of, event]: readonly [SessionId, Event]) =>
        of === id && event._tag === "ActivityChanged" ? [[event.state, event.outcome?.stopReason]] : []
      )
  }
})

const hanging = Effect.gen(function* () {
  const one = yield* dial()
  const { sessionId: id } = yield* one.newSession(place(), {})
  const running = yield* fork(one.prompt(id, [text("hang")]))
  yield* one.untilSaid("Well")
  return { one, id, running }
})

describe("a connection that is lost", () => {
  it.effect("leaves its turn behind, which others watch and may end", () =>
    Effect.gen(function* () {
      const { working } = yield* Agent
      const { id, one, running } = yield* hanging
      yield* one.lost
      yield* Fiber.interrupt(running)
      assert.deepStrictEqual(yield* working, [id])
      const two = yield* dial()
      const snapshot = yield* two.loadSession(id, place(), {})
      assert.isTrue(snapshot.working)
      assert.deepStrictEqual(two.told(id), ["UserMessage", "text Well", "CommandsChanged"])
      yield* two.cancel(id)
      yield* two.until(() => two.activities(id).length === 1)
      assert.deepStrictEqual(two.activities(id), [["idle", "cancelled"]])
      assert.deepStrictEqual(yield* working, [])
    }).pipe(Effect.provide(agentLayer({ script })))
  )

  it.effect("is not the same as a prompt that is withdrawn", () =>
    Effect.gen(function* () {
      const { idle, working } = yield* Agent
      const { running } = yield* hanging
      yield* Fiber.interrupt(running)
      yield* idle
      assert.deepStrictEqual(yield* working, [])
    }).pipe(Effect.provide(agentLayer({ script })))
  )

  it.effect("lets its turn come to its end, which is in the log", () =>
    Effect.gen(function* () {
      const { idle } = yield* Agent
      const one = yield* dial()
      const { sessionId: id } = yield* one.newSession(place(), {})
      const first = yield* fork(one.prompt(id, [text("hang")]))
      yield* one.untilSaid("Well")
      const second = yield* fork(one.prompt(id, [text("then")]))
      yield* one.lost
      yield* Fiber.interruptAll([first, second])
      const two = yield* dial()
      yield* two.resumeSession(id, place(), {})
      yield* two.cancel(id)
      yield* idle
      yield* two.lost
      const three = yield* dial()
      assert.isFalse((yield* three.loadSession(id, place(), {})).working)
      assert.deepStrictEqual(three.told(id), [
        "UserMessage",
        "text Well",
        "InfoUpdated",
        "UserMessage",
        "text Fine: then",
        "InfoUpdated",
        "UsageUpdated",
        "CommandsChanged"
      ])
    }).pipe(Effect.provide(agentLayer({ script })))
  )

  it.effect("has the grace of the settings to come back", () =>
    Effect.gen(function* () {
      const { idle, working } = yield* Agent
      const { id, one, running } = yield* hanging
      yield* one.lost
      yield* Fiber.interrupt(running)
      yield* TestClock.adjust("59 seconds")
      const two = yield* dial()
      yield* two.resumeSession(id, place(), {})
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* working, [id])
      yield* two.lost
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(yield* working, [id])
      yield* TestClock.adjust("1 second")
      yield* idle
    }).pipe(Effect.provide(agentLayer({ script, settings: { remoteGrace: Duration.minutes(1) } })))
  )

  it.effect("ends what it held once nothing runs, and nothing before", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const { one, running } = yield* hanging
        yield* one.lost
        yield* Fiber.interrupt(running)
        assert.strictEqual(asked.open, 1)
      }).pipe(Effect.provide(agentLayer({ script, asked })))
      assert.strictEqual(asked.open, 0)
    })
  )
})

describe("coming back", () => {
  it.effect("tells only what the log has after the position that was seen last, to the character", () =>
    Effect.gen(function* () {
      const { id, one, running } = yield* hanging
      const seen = one.positions.findLast((position) => position !== undefined)
      yield* one.lost
      yield* Fiber.interrupt(running)
      const two = yield* dial()
      yield* two.loadSession(id, place(), {}, seen)
      assert.deepStrictEqual(two.told(id), ["CommandsChanged"])
      const half = { seq: seen?.seq ?? 0, length: 2 }
      const three = yield* dial()
      yield* three.loadSession(id, place(), {}, half)
      assert.deepStrictEqual(three.told(id), ["text ll", "CommandsChanged"])
      const all = yield* dial()
      yield* all.loadSession(id, place(), {}, { seq: 999, length: 0 })
      assert.deepStrictEqual(all.told(id), ["UserMessage", "text Well", "CommandsChanged"])
    }).pipe(Effect.provide(agentLayer({ script })))
  )
})

describe("what a transport wishes for new sessions", () => {
  it.effect("holds where the client wishes nothing else", () =>
    Effect.gen(function* () {
      const { connect } = yield* Agent
      const connection = yield* connect(makeEditor().editor, { ceiling: "auto", wishes: { mode: "plan" } })
      assert.strictEqual((yield* connection.newSession(place(), {})).mode, "plan")
      assert.strictEqual((yield* connection.newSession(place(), { mode: "accept-edits" })).mode, "accept-edits")
    }).pipe(Effect.provide(agentLayer({ script })))
  )
})
