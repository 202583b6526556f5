/** What the store keeps of sessions, and what becomes of them when it fails. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { text } from "../../src/domain/Content.ts"
import { MessageId, SessionId } from "../../src/domain/Ids.ts"
import type { Entry } from "../../src/domain/session/Session.ts"
import { SessionStore } from "../../src/services/SessionStore.ts"
import * as SessionStoreSqlite from "../../src/services/store/SessionStoreSqlite.ts"
import type { ScriptStep } from "../../src/services/models/script/Script.ts"
import { agentLayer, connect, place } from "../support/agents.ts"
import { completed } from "../support/fakeTools.ts"
import { delta, recordOf } from "../support/logs.ts"
import { nothingAsked, spoken } from "../support/models.ts"
import { flakyStore, sharedStore } from "../support/stores.ts"
import { makeFolder, write as writeFile } from "../support/toolbox.ts"
import { platform } from "../support/turns.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const script: ReadonlyArray<ScriptStep> = [
  { when: "hang", again: true, parts: [{ text: "Well" }, { hang: true }] },
  { when: "write", again: true, parts: [{ tool: { name: "write", input: {} } }] },
  { when: "read", again: true, parts: [{ tool: { name: "read", input: {} } }] },
  { again: true, parts: [{ text: "Fine: " }, { echo: true }] }
]

/** A tool call for each prompt, and then a word. */
const writing: ReadonlyArray<ScriptStep> = [
  { parts: [{ tool: { name: "write", input: {} } }] },
  { parts: [{ tool: { name: "write", input: {} } }] },
  { parts: [{ text: "Done." }] }
]

const entriesOf = (store: SessionStore["Service"], id: SessionId) => Stream.runCollect(store.entries(id))

describe("what was answered", () => {
  it.effect("is in the store", () =>
    Effect.gen(function* () {
      const { open } = yield* connect()
      const { id, say } = yield* open
      const store = yield* SessionStore
      yield* say("Hi")
      const entries = yield* entriesOf(store, id)
      assert.deepStrictEqual(
        entries.map(({ _tag }) => _tag),
        [
          "Configured",
          "TurnStarted",
          "UserMessage",
          "ContextAppended",
          "TextDelta",
          "UsageUpdated",
          "ContextAppended",
          "InfoUpdated",
          "TurnEnded"
        ]
      )
      assert.deepInclude(entries.at(-1), {
        outcome: {
          stopReason: "end_turn",
          usage: { inputTokens: 100, outputTokens: 10, thoughtTokens: 0, cachedReadTokens: 0, cachedWriteTokens: 0 }
        }
      })
    }).pipe(Effect.provide(agentLayer({ script })))
  )

  it.effect("names the session after the first prompt, and moves its time with each", () =>
    Effect.gen(function* () {
      const { events, listSessions, open } = yield* connect()
      const { say } = yield* open
      yield* say("First things first")
      yield* TestClock.adjust("1 hour")
      yield* say("Second")
      assert.deepStrictEqual(
        events.flatMap(([, event]) => (event._tag === "InfoUpdated" ? [event] : [])),
        [
          { _tag: "InfoUpdated", title: "First things first", updatedAt: "1970-01-01T00:00:00.000Z" },
          { _tag: "InfoUpdated", updatedAt: "1970-01-01T01:00:00.000Z" }
        ]
      )
      const { sessions } = yield* listSessions({})
      assert.deepInclude(sessions[0], { title: "First things first", updatedAt: "1970-01-01T01:00:00.000Z" })
    }).pipe(Effect.provide(agentLayer({ script })))
  )
})

describe("a session whose process was killed", () => {
  const torn: ReadonlyArray<Entry> = [
    { _tag: "TurnStarted" },
    { _tag: "UserMessage", messageId: "u" as never, content: [text("Do it")] },
    { _tag: "ContextAppended", messages: [{ role: "user", content: [{ type: "text", text: "Do it" }] }] },
    {
      _tag: "ContextAppended",
      messages: [
        {
          role: "assistant",
          content: [{ type: "tool-call", id: "c", name: "read", params: {}, providerExecuted: false }]
        }
      ]
    },
    {
      _tag: "ToolCallStarted",
      call: {
        id: "c" as never,
        name: "read",
        title: "Read",
        kind: "read",
        status: "pending",
        locations: [],
        content: []
      }
    },
    delta("Half an ans")
  ]

  it.effect("loads with its calls closed, and the model knows what it had said", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      const { layer, store } = yield* sharedStore
      const record = recordOf("torn", { cwd: "/" })
      yield* store.create(record, torn)
      yield* Effect.gen(function* () {
        const { loadSession, prompt, told } = yield* connect()
        yield* loadSession(record.id, place(), {})
        assert.deepStrictEqual(told(record.id).slice(0, 3), ["UserMessage", "start read", "text Half an ans"])
        assert.match(told(record.id)[3] ?? "", /^failed The agent stopped before/)
        yield* prompt(record.id, [text("Go on")])
        assert.deepStrictEqual(
          spoken(asked.prompts.at(-1) ?? []).map((line) => line.replace(/ This call was.*/, "")),
          ["user Do it", "call read {}", "failed read", "assistant Half an ans", "user Go on"]
        )
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, store: layer, asked })))
    })
  )

  it.effect("is repaired once", () =>
    Effect.gen(function* () {
      const { layer, store } = yield* sharedStore
      const record = recordOf("torn", { cwd: "/" })
      yield* store.create(record, torn)
      const load = Effect.gen(function* () {
        const { loadSession } = yield* connect()
        yield* loadSession(record.id, place(), {})
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(agentLayer({ script, store: layer }))))
      yield* load
      const repaired = yield* entriesOf(store, record.id)
      assert.strictEqual(repaired.at(-1)?._tag, "TurnEnded")
      yield* load
      assert.deepStrictEqual(yield* entriesOf(store, record.id), repaired)
    })
  )
})

describe("a store that fails", () => {
  it.effect("fails the prompts of its session, each with a clear error, until it works again", () =>
    Effect.gen(function* () {
      const { control, layer, store } = yield* flakyStore
      yield* Effect.gen(function* () {
        const { open } = yield* connect()
        const one = yield* open
        const two = yield* open
        control.fails = (id) => id === one.id
        const failure = yield* Effect.flip(one.say("One"))
        assert.strictEqual(failure._tag, "StoreFailed")
        assert.include(failure.message, "The disk is full")
        assert.include(one.told(), "text Fine: One")
        assert.strictEqual((yield* two.say("Two")).stopReason, "end_turn")
        control.fails = () => false
        assert.strictEqual((yield* one.say("Three")).stopReason, "end_turn")
        const said = (yield* entriesOf(store, one.id)).flatMap((entry) =>
          entry._tag === "TextDelta" ? [entry.text] : []
        )
        assert.deepStrictEqual(said, ["Fine: One", "Fine: Three"])
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, store: layer })))
    })
  )

  it.effect("is told of before a tool changes anything that nobody would remember", () =>
    Effect.gen(function* () {
      const { control, layer } = yield* flakyStore
      const written: Array<string> = []
      const tools = { write: { run: (value: string) => Effect.sync(() => (written.push(value), completed("Done"))) } }
      yield* Effect.gen(function* () {
        const { open } = yield* connect()
        const { say, told } = yield* open
        control.fails = () => true
        assert.include((yield* Effect.flip(say("write"))).message, "The disk is full")
        assert.deepStrictEqual(written, [])
        assert.include(told(), "text No tool was run. The disk is full.")
        control.fails = () => false
        yield* say("write once")
        assert.deepStrictEqual(written, [""])
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script: writing, store: layer, tools })))
    })
  )

  it.effect("that another process writes to while it is read here makes a conflict, and no gap", () =>
    Effect.gen(function* () {
      const { store } = yield* sharedStore
      const record = recordOf("shared")
      // A turn that was cut off: opening the session writes its end.
      yield* store.create(record, [
        { _tag: "TurnStarted" },
        { _tag: "UserMessage", messageId: MessageId.make("m"), content: [text("Hi")] }
      ])
      const nextSeq = yield* store.nextSeq(record.id)
      let left = 1
      const late = Effect.suspend(() =>
        left-- > 0 ? store.append(record.id, nextSeq, [{ _tag: "InfoUpdated", title: "From elsewhere" }]) : Effect.void
      )
      const entries: SessionStore["Service"]["entries"] = (id) =>
        Stream.concat(store.entries(id), Stream.drain(Stream.fromEffect(Effect.orDie(late))))
      const layer = Layer.succeed(SessionStore, { ...store, entries })
      yield* Effect.gen(function* () {
        const { loadSession } = yield* connect()
        const failure = yield* Effect.flip(loadSession(record.id, place({ cwd: record.cwd }), {}))
        assert.isTrue(failure._tag === "StoreFailed" && failure.reason === "conflict")
        assert.strictEqual((yield* loadSession(record.id, place({ cwd: record.cwd }), {})).sessionId, record.id)
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, store: layer })))
    })
  )

  it.effect("does not keep a cancel from being confirmed", () =>
    Effect.gen(function* () {
      const { control, layer } = yield* flakyStore
      yield* Effect.gen(function* () {
        const { open, untilSaid } = yield* connect()
        const { cancel, say } = yield* open
        control.fails = () => true
        const prompt = yield* fork(say("hang"))
        yield* untilSaid("Well")
        yield* cancel
        assert.strictEqual((yield* Fiber.join(prompt)).stopReason, "cancelled")
        control.fails = () => false
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, store: layer })))
    })
  )

  it.effect("because another process wrote the session says so, and the other one goes on", () =>
    Effect.gen(function* () {
      const { layer } = yield* sharedStore
      const process = <E>(use: Effect.Effect<void, E, Effect.Services<ReturnType<typeof connect>>>) =>
        use.pipe(Effect.scoped, Effect.provide(Layer.fresh(agentLayer({ script, store: layer }))))
      yield* process(
        Effect.gen(function* () {
          const one = yield* connect()
          const { id, say } = yield* one.open
          yield* say("One")
          yield* process(
            Effect.gen(function* () {
              const two = yield* connect()
              yield* two.loadSession(id, place(), {})
              yield* say("Two")
              const failure = yield* Effect.flip(two.prompt(id, [text("Three")]))
              assert.deepInclude(failure, { _tag: "StoreFailed", reason: "conflict" })
            })
          )
          assert.strictEqual((yield* say("Four")).stopReason, "end_turn")
        })
      )
    })
  )
})

describe("a session of two processes", () => {
  it.effect("is loaded again by the one that was overtaken, and goes on as it was continued", () =>
    Effect.gen(function* () {
      const { base } = yield* makeFolder
      const asked = nothingAsked()
      const process = <E>(use: Effect.Effect<void, E, Effect.Services<ReturnType<typeof connect>>>) => {
        const store = Layer.provide(SessionStoreSqlite.layer({ file: `${base}/sessions.db` }), platform)
        return use.pipe(Effect.scoped, Effect.provide(Layer.fresh(agentLayer({ script, store, asked }))))
      }
      yield* process(
        Effect.gen(function* () {
          const one = yield* connect()
          const { id } = yield* one.open
          yield* one.prompt(id, [text("One")])
          yield* process(
            Effect.gen(function* () {
              const two = yield* connect()
              yield* two.loadSession(id, place(), {})
              yield* one.prompt(id, [text("Two")])
              assert.match((yield* Effect.flip(two.prompt(id, [text("Lost")]))).message, /load it again/)

              // What could not be kept is not even begun.
              const requests = asked.prompts.length
              assert.match((yield* Effect.flip(two.prompt(id, [text("Lost")]))).message, /load it again/)
              assert.lengthOf(asked.prompts, requests)

              const from = two.told(id).length
              yield* two.loadSession(id, place(), {})
              assert.deepStrictEqual(
                two
                  .told(id)
                  .slice(from)
                  .filter((line) => line.startsWith("text")),
                ["text Fine: One", "text Fine: Two"]
              )
              assert.strictEqual((yield* two.prompt(id, [text("Three")])).stopReason, "end_turn")
            })
          )
          assert.match((yield* Effect.flip(one.prompt(id, [text("Lost")]))).message, /load it again/)
          yield* one.resumeSession(id, place(), {})
          assert.strictEqual((yield* one.prompt(id, [text("Four")])).stopReason, "end_turn")
          assert.deepStrictEqual(
            spoken(asked.prompts.at(-1) ?? []).filter((line) => line.startsWith("user")),
            ["user One", "user Two", "user Three", "user Four"]
          )
        })
      )
    }).pipe(Effect.provide(platform))
  )
})

describe("deleting", () => {
  it.effect("ends what runs, and removes the session and its folder", () =>
    Effect.gen(function* () {
      const { base } = yield* makeFolder
      const fileSystem = yield* FileSystem.FileSystem
      yield* Effect.gen(function* () {
        const { deleteSession, listSessions, loadSession, open, untilSaid } = yield* connect()
        const { id, say } = yield* open
        yield* say("One")
        yield* fileSystem.makeDirectory(`${base}/sessions/${id}`, { recursive: true })
        yield* writeFile(`${base}/sessions/${id}/output`, "x")
        const prompt = yield* fork(say("hang"))
        yield* untilSaid("Well")
        yield* deleteSession(id)
        assert.strictEqual((yield* Fiber.join(prompt)).stopReason, "cancelled")
        assert.isFalse(yield* fileSystem.exists(`${base}/sessions/${id}`))
        assert.deepStrictEqual((yield* listSessions({})).sessions, [])
        assert.strictEqual((yield* Effect.flip(loadSession(id, place(), {})))._tag, "SessionNotFound")
        yield* deleteSession(id)
        yield* deleteSession(SessionId.make("nobody"))
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, settings: { home: base } })))
    }).pipe(Effect.provide(platform))
  )

  it.effect("takes no id as the way to a folder that is not a session's", () =>
    Effect.gen(function* () {
      const { base } = yield* makeFolder
      const fileSystem = yield* FileSystem.FileSystem
      const kept = [`${base}/home/config.toml`, `${base}/home/sessions/another/output`, `${base}/neighbour/file`]
      for (const file of kept) {
        yield* fileSystem.makeDirectory(file.replace(/[^/]*$/, ""), { recursive: true })
        yield* writeFile(file, "x")
      }
      yield* Effect.gen(function* () {
        const { deleteSession } = yield* connect()
        for (const id of ["..", ".", "/", "./", "../../neighbour", "x/../another", "another/.", `${base}/neighbour`]) {
          yield* deleteSession(SessionId.make(id))
          for (const file of kept) assert.isTrue(yield* fileSystem.exists(file), `${id} removed ${file}`)
        }
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, settings: { home: `${base}/home` } })))
    }).pipe(Effect.provide(platform))
  )
})
