/** Coming back to a session, and going on from a copy of it. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import { text } from "../../../src/domain/Content.ts"
import { SessionId } from "../../../src/domain/Ids.ts"
import type { ScriptStep } from "../../../src/services/models/script/Script.ts"
import { agentLayer, connect, place } from "../../support/agents.ts"
import { makeEditor } from "../../support/editor.ts"
import { info, nothingAsked, spoken } from "../../support/models.ts"
import { makeFolder } from "../../support/toolbox.ts"
import { platform } from "../../support/turns.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const script: ReadonlyArray<ScriptStep> = [
  { when: "hang", again: true, parts: [{ text: "Well" }, { hang: true }] },
  { again: true, parts: [{ text: "Fine: " }, { echo: true }] }
]

const other = { ...info, id: "scripted/two", name: "Two", efforts: [] }
const models = { script, infos: [info, other] }

describe("loading", () => {
  /** A stored session of two turns. */
  const stored = (wishes: Parameters<Effect.Success<ReturnType<typeof connect>>["newSession"]>[1] = {}) =>
    Effect.gen(function* () {
      const { newSession, prompt } = yield* connect()
      const { sessionId } = yield* newSession(place(), wishes)
      yield* prompt(sessionId, [text("One")])
      yield* prompt(sessionId, [text("Two")])
      return sessionId
    }).pipe(Effect.scoped)

  it.effect("tells the whole history, then the commands, and then nothing", () =>
    Effect.gen(function* () {
      const id = yield* stored()
      const { loadSession, told } = yield* connect()
      yield* loadSession(id, place(), {})
      assert.deepStrictEqual(told(id), [
        "UserMessage",
        "text Fine: One",
        "InfoUpdated",
        "UserMessage",
        "text Fine: Two",
        "InfoUpdated",
        "UsageUpdated",
        "CommandsChanged"
      ])
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("twice tells twice what was, and once what comes", () =>
    Effect.gen(function* () {
      const id = yield* stored()
      const { loadSession, prompt, told } = yield* connect()
      yield* loadSession(id, place(), {})
      yield* loadSession(id, place(), {})
      assert.lengthOf(told(id), 16)
      yield* prompt(id, [text("Three")])
      assert.deepStrictEqual(told(id).slice(16), ["text Fine: Three", "UsageUpdated", "InfoUpdated"])
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("by resuming tells nothing, and the model remembers", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const id = yield* stored()
        const { prompt, resumeSession, told } = yield* connect()
        yield* resumeSession(id, place(), {})
        assert.deepStrictEqual(told(id), [])
        yield* prompt(id, [text("Three")])
        assert.deepStrictEqual(spoken(asked.prompts.at(-1) ?? []), [
          "user One",
          "assistant Fine: One",
          "user Two",
          "assistant Fine: Two",
          "user Three"
        ])
      }).pipe(Effect.provide(agentLayer({ ...models, asked })))
    })
  )

  it.effect("keeps the client's words, and takes new ones", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const id = yield* stored({ rules: "Be green.", systemPrompt: "Parrot." })
        const { loadSession, prompt } = yield* connect()
        const system = () => String(asked.prompts.at(-1)?.[0]?.content)
        yield* loadSession(id, place(), {})
        yield* prompt(id, [text("Three")])
        assert.match(system(), /^Parrot\.[^]*Be green\./)
        const { options } = yield* loadSession(id, place(), { systemPrompt: "Owl.", model: "scripted/two" })
        assert.strictEqual(options[0]?.currentValue, "scripted/two")
        yield* prompt(id, [text("Four")])
        assert.match(system(), /^Owl\.[^]*Be green\./)
        yield* loadSession(id, place(), { appended: "Be slow." })
        yield* loadSession(id, place(), { appended: "Be quick." })
        yield* prompt(id, [text("Five")])
        assert.match(system(), /<rules>\nBe green\.\n\nBe quick\.\n<\/rules>/)
      }).pipe(Effect.provide(agentLayer({ ...models, asked })))
    })
  )

  it.effect("of an unknown session, or with a wish that cannot be met, fails and leaves nothing alive", () =>
    Effect.gen(function* () {
      const id = yield* stored()
      const { loadSession, prompt } = yield* connect()
      const unknown = yield* Effect.flip(loadSession(SessionId.make("nobody"), place(), {}))
      assert.strictEqual(unknown._tag, "SessionNotFound")
      const elsewhere = yield* Effect.flip(loadSession(id, place({ cwd: "/tmp" }), {}))
      assert.strictEqual(elsewhere._tag, "InvalidInput")
      assert.match(elsewhere.message, /works in \/; open it with that cwd/)
      const model = yield* Effect.flip(loadSession(id, place(), { model: "scripted/three" }))
      assert.strictEqual(model._tag, "InvalidInput")
      assert.strictEqual((yield* Effect.flip(prompt(id, [text("Hi")])))._tag, "SessionNotFound")
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("takes another way to the same folder", () =>
    Effect.gen(function* () {
      const { base, work } = yield* makeFolder
      const fileSystem = yield* FileSystem.FileSystem
      yield* fileSystem.symlink(work, `${base}/link`)
      yield* Effect.gen(function* () {
        const { loadSession, newSession, prompt } = yield* connect()
        const { sessionId } = yield* newSession(place({ cwd: work }), {})
        yield* prompt(sessionId, [text("One")])
        yield* loadSession(sessionId, place({ cwd: `${base}/link` }), {})
      }).pipe(Effect.provide(agentLayer(models)))
    }).pipe(Effect.provide(platform))
  )

  it.effect("while a turn runs tells what was, then what comes, and a cancel still reaches the turn", () =>
    Effect.gen(function* () {
      const { loadSession, open, untilSaid } = yield* connect()
      const { cancel, id, say, told } = yield* open
      const prompt = yield* fork(say("hang"))
      yield* untilSaid("Well")
      yield* loadSession(id, place(), {})
      assert.deepStrictEqual(told().slice(1), ["UserMessage", "text Well", "CommandsChanged"])
      yield* cancel
      assert.strictEqual((yield* Fiber.join(prompt)).stopReason, "cancelled")
      assert.strictEqual(told().at(-1), "InfoUpdated")
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("that is interrupted leaves no session alive", () =>
    Effect.gen(function* () {
      const id = yield* stored()
      const slow = makeEditor()
      const telling = yield* Deferred.make<void>()
      const emit = () => Effect.andThen(Deferred.succeed(telling, undefined), Effect.never)
      const { loadSession } = yield* connect({ ...slow, editor: { ...slow.editor, emit } })
      const loading = yield* fork(loadSession(id, place(), {}))
      yield* Deferred.await(telling)
      yield* Fiber.interrupt(loading)
      const { loadSession: load, told } = yield* connect()
      yield* load(id, place(), {})
      assert.lengthOf(told(id), 8)
    }).pipe(Effect.provide(agentLayer(models)))
  )
})

describe("a fork", () => {
  it.effect("has the history of its source, and a life of its own", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const { forkSession, open, prompt, listSessions } = yield* connect()
        const { id, say } = yield* open
        yield* say("One")
        const fork = yield* forkSession(id, place({ cwd: "/tmp" }))
        assert.notStrictEqual(fork.sessionId, id)
        yield* prompt(fork.sessionId, [text("Two")])
        assert.deepStrictEqual(spoken(asked.prompts.at(-1) ?? []), ["user One", "assistant Fine: One", "user Two"])
        assert.include(String(asked.prompts.at(-1)?.[0]?.content), "Working directory: /tmp")
        yield* say("Three")
        assert.deepStrictEqual(spoken(asked.prompts.at(-1) ?? []), ["user One", "assistant Fine: One", "user Three"])
        const { sessions } = yield* listSessions({})
        assert.sameMembers(
          sessions.map(({ cwd, title }) => `${title} in ${cwd}`),
          ["One in /", "One in /tmp"]
        )
      }).pipe(Effect.provide(agentLayer({ ...models, asked })))
    })
  )

  it.effect("of a session in which nothing was said has its choices and its harness", () =>
    Effect.gen(function* () {
      const { forkSession, newSession } = yield* connect()
      const { sessionId } = yield* newSession(place(), { harness: "super-pi-planner", model: "scripted/two" })
      const fork = yield* forkSession(sessionId, place())
      assert.strictEqual(fork.options[0]?.currentValue, "scripted/two")
      assert.deepStrictEqual(
        fork.modes.map(({ id }) => id),
        ["plan"]
      )
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("of a session at work is not at work", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const { cancel, forkSession, open, prompt, untilSaid } = yield* connect()
        const { id, say } = yield* open
        const running = yield* fork(say("hang"))
        yield* untilSaid("Well")
        const { sessionId } = yield* forkSession(id, place())
        assert.strictEqual((yield* prompt(sessionId, [text("Two")])).stopReason, "end_turn")
        assert.deepStrictEqual(spoken(asked.prompts.at(-1) ?? []), ["user hang", "assistant Well", "user Two"])
        yield* cancel(id)
        assert.strictEqual((yield* Fiber.join(running)).stopReason, "cancelled")
      }).pipe(Effect.provide(agentLayer({ ...models, asked })))
    })
  )
})
