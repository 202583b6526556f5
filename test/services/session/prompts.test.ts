/** Prompts of one session: their order, their end, and what cancels them. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { text } from "../../../src/domain/Content.ts"
import type { ScriptStep } from "../../../src/services/models/script/Script.ts"
import { Turn } from "../../../src/services/Turn.ts"
import { agentLayer, connect } from "../../support/agents.ts"
import { makeEditor } from "../../support/editor.ts"
import { completed, type FakeTool } from "../../support/fakeTools.ts"
import { nothingAsked, spoken } from "../../support/models.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const write: FakeTool = {
  concurrency: "exclusive",
  access: { _tag: "Edit", paths: ["/a"], outside: [] },
  run: (value) => Effect.succeed(completed(`wrote ${value}`))
}
const read: FakeTool = { run: () => Effect.never }

/** What the model does when it reads these words. */
const script: ReadonlyArray<ScriptStep> = [
  { when: "hang", again: true, parts: [{ text: "Well" }, { hang: true }] },
  { when: "write", parts: [{ tool: { name: "write", input: { value: "x" } } }] },
  { when: "both", parts: ["x", "y"].map((value) => ({ tool: { name: "list", input: { value } } })) },
  { when: "read", parts: [{ tool: { name: "read", input: {} } }] },
  { again: true, parts: [{ text: "Fine: " }, { echo: true }] }
]

const layer = (asked = nothingAsked()) =>
  agentLayer({ script, tools: { write, read, list: { ...write, concurrency: "shared" } }, asked })

const stop = (outcome: { readonly stopReason: string }) => outcome.stopReason

describe("a prompt", () => {
  it.effect("is answered behind everything that it told, title and time last", () =>
    Effect.gen(function* () {
      const { open } = yield* connect()
      const { say, told } = yield* open
      assert.strictEqual(stop(yield* say("Hello\nthere")), "end_turn")
      assert.deepStrictEqual(told(), ["text Fine: Hello\nthere", "UsageUpdated", "InfoUpdated"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect.each([true, false])("whose model has to be asked again says so (notices: %s)", (notices) =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const steps: ReadonlyArray<ScriptStep> = [
        { parts: [{ error: { status: 429, retryAfter: 7, message: "slow down" } }] },
        { parts: [{ error: { status: 529, message: "too busy" } }] },
        { again: true, parts: [{ text: "Fine." }] }
      ]
      yield* Effect.gen(function* () {
        const { events, open, until } = yield* connect(makeEditor({ notices }))
        const { say, told } = yield* open
        const first = yield* fork(say("one"))
        yield* until(() => told().length === 1)
        yield* TestClock.adjust("7 seconds")
        yield* until(() => told().length === 2)
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual(stop(yield* Fiber.join(first)), "end_turn")
        const again = "The model did not answer; trying again in"
        assert.deepStrictEqual(
          told().slice(0, 2),
          notices
            ? [`notice ${again} 7s`, `notice ${again} 2s`]
            : [`thought ${again} 7s. slow down`, `thought ${again} 2s. Internal provider error: too busy`]
        )
        const ids = events.flatMap(([, event]) => (event._tag === "ThoughtDelta" ? [event.messageId] : []))
        assert.lengthOf(new Set(ids), notices ? 0 : 2)
        yield* say("two")
        assert.deepStrictEqual(spoken(asked.prompts.at(-1) ?? []), ["user one", "assistant Fine.", "user two"])
      }).pipe(Effect.provide(agentLayer({ script: steps, asked })))
    })
  )

  it.effect("waits for the one before, and runs then", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const { open, untilSaid } = yield* connect()
        const { cancel, say, told } = yield* open
        const first = yield* fork(say("hang"))
        const second = yield* fork(say("two"))
        const third = yield* fork(say("three"))
        yield* untilSaid("Well")
        assert.lengthOf(asked.prompts, 1)
        yield* cancel
        assert.strictEqual(stop(yield* Fiber.join(first)), "cancelled")
        assert.strictEqual(stop(yield* Fiber.join(second)), "end_turn")
        assert.strictEqual(stop(yield* Fiber.join(third)), "end_turn")
        assert.deepStrictEqual(
          told().filter((line) => line.startsWith("text")),
          ["text Well", "text Fine: two", "text Fine: three"]
        )
        assert.deepStrictEqual(spoken(asked.prompts.at(-1) ?? []), [
          "user hang",
          "assistant Well",
          "user two",
          "assistant Fine: two",
          "user three"
        ])
      }).pipe(Effect.provide(layer(asked)))
    })
  )

  it.effect("that is cancelled at once, and followed at once, gives cancelled and then end_turn", () =>
    Effect.gen(function* () {
      const { open } = yield* connect()
      const { cancel, say } = yield* open
      const first = yield* fork(say("hang"))
      yield* cancel
      const second = yield* fork(say("two"))
      assert.strictEqual(stop(yield* Fiber.join(first)), "cancelled")
      assert.strictEqual(stop(yield* Fiber.join(second)), "end_turn")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("is refused when sixteen wait, and the sixteen are not harmed", () =>
    Effect.gen(function* () {
      const { open } = yield* connect()
      const { cancel, say } = yield* open
      const first = yield* fork(say("hang"))
      const waiting = yield* Effect.forEach(
        Array.from({ length: 16 }, (_, index) => `p${index}`),
        (words) => fork(say(words))
      )
      const refused = yield* Effect.flip(say("one too many"))
      assert.strictEqual(refused._tag, "Busy")
      assert.include(refused.message, "16 prompts already wait")
      yield* cancel
      assert.strictEqual(stop(yield* Fiber.join(first)), "cancelled")
      for (const fiber of waiting) assert.strictEqual(stop(yield* Fiber.join(fiber)), "end_turn")
      assert.strictEqual(stop(yield* say("and again")), "end_turn")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("whose request is interrupted is cancelled, and leaves a session that works", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const { open, untilSaid } = yield* connect()
        const { say, told } = yield* open
        const first = yield* fork(say("hang"))
        yield* untilSaid("Well")
        yield* Fiber.interrupt(first)
        assert.strictEqual(asked.open, 0)
        assert.deepStrictEqual(told(), ["text Well", "InfoUpdated"])
        assert.strictEqual(stop(yield* say("two")), "end_turn")
        assert.include(spoken(asked.prompts.at(-1) ?? []), "assistant Well")
      }).pipe(Effect.provide(layer(asked)))
    })
  )

  it.effect("whose request is interrupted while it waits never runs", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const { open, untilSaid } = yield* connect()
        const { cancel, say } = yield* open
        const first = yield* fork(say("hang"))
        const second = yield* fork(say("two"))
        yield* untilSaid("Well")
        yield* Fiber.interrupt(second)
        yield* cancel
        assert.strictEqual(stop(yield* Fiber.join(first)), "cancelled")
        assert.strictEqual(stop(yield* say("three")), "end_turn")
        assert.lengthOf(asked.prompts, 2)
      }).pipe(Effect.provide(layer(asked)))
    })
  )

  it.effect("of one session does not wait for another's", () =>
    Effect.gen(function* () {
      const { open, untilSaid } = yield* connect()
      const one = yield* open
      const two = yield* open
      yield* fork(one.say("hang"))
      yield* untilSaid("Well")
      assert.strictEqual(stop(yield* two.say("Hi")), "end_turn")
      assert.deepStrictEqual(one.told(), ["text Well"])
    }).pipe(Effect.provide(layer()))
  )
})

describe("a cancel", () => {
  it.effect("withdraws the questions, closes the calls, and answers", () =>
    Effect.gen(function* () {
      const { happened, open, questions, until } = yield* connect()
      const { cancel, say, told } = yield* open
      const prompt = yield* fork(Effect.tap(say("both"), () => Effect.sync(() => happened.push("answered"))))
      yield* until(() => questions.length === 2)
      const from = happened.length
      yield* cancel
      assert.strictEqual(stop(yield* Fiber.join(prompt)), "cancelled")
      assert.deepStrictEqual(happened.slice(from), [
        "withdrawn",
        "withdrawn",
        "ToolCallUpdated",
        "ToolCallUpdated",
        "InfoUpdated",
        "answered"
      ])
      assert.lengthOf(
        told().filter((line) => line === "failed Cancelled before it finished."),
        2
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("does not ask the model again, and takes no late answer for a yes", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const { open, questions, until } = yield* connect()
        const { cancel, id, say, told } = yield* open
        const prompt = yield* fork(say("write"))
        yield* until(() => questions.length === 1)
        yield* cancel
        yield* questions[0]?.choose("allow_once") ?? Effect.void
        assert.strictEqual(stop(yield* Fiber.join(prompt)), "cancelled")
        assert.lengthOf(asked.prompts, 1)
        assert.notInclude(told().join("\n"), "in_progress")
        assert.strictEqual(told().at(-1), "InfoUpdated", id)
      }).pipe(Effect.provide(layer(asked)))
    })
  )

  it.effect("ends a running tool", () =>
    Effect.gen(function* () {
      const { open, until } = yield* connect()
      const { cancel, say, told } = yield* open
      const prompt = yield* fork(say("read"))
      yield* until(() => told().includes("in_progress"))
      yield* cancel
      assert.strictEqual(stop(yield* Fiber.join(prompt)), "cancelled")
      assert.deepStrictEqual(told().slice(-2), ["failed Cancelled before it finished.", "InfoUpdated"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("of an idle session does nothing, to the next prompt neither", () =>
    Effect.gen(function* () {
      const { open } = yield* connect()
      const { cancel, say, told } = yield* open
      yield* cancel
      assert.strictEqual(stop(yield* say("Hi")), "end_turn")
      yield* cancel
      const before = told()
      yield* cancel
      assert.deepStrictEqual(told(), before)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("leaves the session usable, fifty times over", () =>
    Effect.gen(function* () {
      const { events, open, until } = yield* connect()
      const { cancel, say } = yield* open
      for (let turn = 0; turn < 50; turn++) {
        const from = events.length
        const prompt = yield* fork(say("hang"))
        // Cancelled at whatever point it has come to.
        for (let steps = 0; steps < turn % 7; steps++) yield* Effect.yieldNow
        if (turn % 2 === 0) yield* until(() => events.length > from)
        yield* cancel
        assert.strictEqual(stop(yield* Fiber.join(prompt)), "cancelled")
        assert.strictEqual(stop(yield* say("ping")), "end_turn")
      }
    }).pipe(Effect.provide(layer()))
  )
})

describe("a turn", () => {
  it.effect("that dies ends as a refusal, with its calls closed and its text kept", () =>
    Effect.gen(function* () {
      const turn = Turn.layerOf((session) =>
        session
          .emit({
            _tag: "ToolCallStarted",
            call: {
              id: "c" as never,
              name: "x",
              title: "X",
              kind: "other",
              status: "pending",
              locations: [],
              content: []
            }
          })
          .pipe(Effect.andThen(Effect.die(new Error("secret detail"))))
      )
      yield* Effect.gen(function* () {
        const { open } = yield* connect()
        const { say, told } = yield* open
        const outcome = yield* say("Hi")
        assert.strictEqual(outcome.stopReason, "refusal")
        assert.strictEqual(outcome.error?.kind, "internal")
        assert.match(told().join("\n"), /^start x\nfailed The turn failed.*\ntext The turn failed.*\nInfoUpdated$/)
        assert.notInclude(JSON.stringify([told(), outcome]), "secret detail")
      }).pipe(Effect.provide(agentLayer({ turn })))
    })
  )

  it.effect("that is cancelled while its servers connect keeps the prompt for the model", () =>
    Effect.gen(function* () {
      const contexts: Array<number> = []
      const started = yield* Deferred.make<void>()
      const turn = Turn.layerOf((session) =>
        Effect.gen(function* () {
          contexts.push((yield* session.context).length)
          if (contexts.length > 1) return { stopReason: "end_turn" } as const
          yield* Deferred.succeed(started, undefined)
          return yield* Effect.never
        })
      )
      yield* Effect.gen(function* () {
        const { cancel, newSession, prompt } = yield* connect()
        const { sessionId } = yield* newSession({ cwd: "/", additionalDirectories: [], mcpServers: [] }, {})
        const first = yield* fork(prompt(sessionId, [text("one")]))
        yield* Deferred.await(started)
        yield* cancel(sessionId)
        assert.strictEqual(stop(yield* Fiber.join(first)), "cancelled")
        yield* prompt(sessionId, [text("two")])
        assert.deepStrictEqual(contexts, [0, 1])
      }).pipe(Effect.provide(agentLayer({ turn })))
    })
  )
})

describe("closing a session", () => {
  it.effect("answers cancelled to the running prompt and to those that wait, and then ends", () =>
    Effect.gen(function* () {
      const { closeSession, open, untilSaid } = yield* connect()
      const { id, say, told } = yield* open
      const order: Array<string> = []
      const answered = (name: string) =>
        Effect.onExit(say("hang"), (exit) =>
          Effect.sync(() => order.push(`${name} ${Exit.isSuccess(exit) ? stop(exit.value) : "failed"}`))
        )
      const prompts = [yield* fork(answered("one")), yield* fork(answered("two")), yield* fork(answered("three"))]
      yield* untilSaid("Well")
      yield* closeSession(id)
      order.push("closed")
      yield* Fiber.joinAll(prompts)
      assert.deepStrictEqual(order, ["one cancelled", "two cancelled", "three cancelled", "closed"])
      assert.deepStrictEqual(told(), ["text Well", "InfoUpdated"])
      const after = yield* Effect.flip(say("again"))
      assert.strictEqual(after._tag, "SessionNotFound")
    }).pipe(Effect.provide(layer()))
  )
})
