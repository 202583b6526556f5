/** What one connection can do with sessions, and what it is told. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import { text } from "../../src/domain/Content.ts"
import { SessionId } from "../../src/domain/Ids.ts"
import type { ScriptStep } from "../../src/services/models/script/Script.ts"
import { agentLayer, connect, place } from "../support/agents.ts"
import { makeEditor } from "../support/editor.ts"
import { completed, type FakeTool } from "../support/fakeTools.ts"
import { info, nothingAsked, spoken } from "../support/models.ts"
import { sharedStore } from "../support/stores.ts"
import { makeFolder } from "../support/toolbox.ts"
import { platform } from "../support/turns.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const write: FakeTool = {
  access: { _tag: "Edit", paths: ["/a"], outside: [] },
  run: (value) => Effect.succeed(completed(`wrote ${value}`))
}

const script: ReadonlyArray<ScriptStep> = [
  { when: "hang", again: true, parts: [{ text: "Well" }, { hang: true }] },
  { when: "write", parts: [{ tool: { name: "write", input: { value: "x" } } }] },
  { when: "write again", parts: [{ tool: { name: "write", input: { value: "y" } } }] },
  { again: true, parts: [{ text: "Fine: " }, { echo: true }] }
]

const other = { ...info, id: "scripted/two", name: "Two", efforts: [] }
const models = { script, infos: [info, other] }

describe("a new session", () => {
  it.effect("offers what can be chosen, with what is in force", () =>
    Effect.gen(function* () {
      const { newSession } = yield* connect()
      const snapshot = yield* newSession(place(), {})
      assert.strictEqual(snapshot.mode, "ask")
      assert.deepStrictEqual(
        snapshot.modes.map(({ id }) => id),
        ["plan", "ask", "accept-edits", "always-approve"]
      )
      assert.deepStrictEqual(
        snapshot.options.map(({ currentValue, id }) => [id, currentValue]),
        [
          ["model", "scripted/one"],
          ["reasoning_effort", "medium"],
          ["mode", "ask"]
        ]
      )
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("takes the wishes of the client", () =>
    Effect.gen(function* () {
      const asked = nothingAsked()
      yield* Effect.gen(function* () {
        const { newSession, prompt } = yield* connect()
        const wishes = {
          model: "scripted/one",
          effort: "high",
          mode: "plan",
          rules: "Be green.",
          systemPrompt: "Parrot."
        } as const
        const { mode, options, sessionId } = yield* newSession(place(), wishes)
        assert.strictEqual(mode, "plan")
        assert.deepStrictEqual(
          options.map(({ currentValue }) => currentValue),
          ["scripted/one", "high", "plan"]
        )
        yield* prompt(sessionId, [text("Hi")])
        const system = String(asked.prompts[0]?.[0]?.content)
        assert.match(system, /^Parrot\./)
        assert.include(system, "Be green.")
      }).pipe(Effect.provide(agentLayer({ ...models, asked })))
    })
  )

  it.effect("is refused, and nothing kept, for a wish that cannot be met", () =>
    Effect.gen(function* () {
      const { listSessions, newSession } = yield* connect(makeEditor(), "accept-edits")
      const refusals = [
        newSession(place({ cwd: "/nowhere" }), {}),
        newSession(place({ additionalDirectories: ["/", "/nowhere"] }), {}),
        newSession(place(), { harness: "hamster" }),
        newSession(place(), { model: "scripted/three" }),
        newSession(place(), { mode: "always-approve" }),
        newSession(place(), { mode: "auto" }),
        newSession(place(), { harness: "super-pi-planner", mode: "ask" })
      ]
      const fields: Array<string> = []
      for (const refusal of refusals) {
        const failure = yield* Effect.flip(refusal)
        assert.strictEqual(failure._tag, "InvalidInput")
        if (failure._tag === "InvalidInput") fields.push(failure.field)
      }
      assert.deepStrictEqual(fields, ["cwd", "additionalDirectories[1]", "harness", "model", "mode", "mode", "mode"])
      assert.deepStrictEqual((yield* listSessions({})).sessions, [])
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("is limited by its harness and by its transport", () =>
    Effect.gen(function* () {
      const { newSession } = yield* connect(makeEditor(), "accept-edits")
      const modes = (snapshot: { readonly modes: ReadonlyArray<{ readonly id: string }> }) =>
        snapshot.modes.map(({ id }) => id)
      const planner = yield* newSession(place(), { harness: "super-pi-planner" })
      assert.deepStrictEqual([planner.mode, modes(planner)], ["plan", ["plan"]])
      const code = yield* newSession(place(), {})
      assert.deepStrictEqual([code.mode, modes(code)], ["accept-edits", ["plan", "ask", "accept-edits"]])
    }).pipe(Effect.provide(agentLayer({ ...models, settings: { alwaysApprove: true } })))
  )

  it.effect("is not listed before anything was said in it", () =>
    Effect.gen(function* () {
      const { listSessions, open } = yield* connect()
      yield* open
      const { id, say } = yield* open
      yield* say("Fix the login\nplease")
      const { sessions } = yield* listSessions({})
      assert.deepStrictEqual(
        sessions.map((session) => [session.id, session.title]),
        [[id, "Fix the login"]]
      )
    }).pipe(Effect.provide(agentLayer(models)))
  )
})

describe("a session with nobody present", () => {
  it.effect("asks nobody: what would be asked is denied", () =>
    Effect.gen(function* () {
      const { newSession, prompt, questions, told } = yield* connect()
      const { sessionId } = yield* newSession(place(), { harness: "super-pi-librarian" })
      assert.strictEqual((yield* prompt(sessionId, [text("read")])).stopReason, "end_turn")
      assert.lengthOf(questions, 0)
      assert.match(told(sessionId).join("\n"), /start read\n(UsageUpdated\n)?failed /)
    }).pipe(
      Effect.provide(
        agentLayer({
          script: [
            { when: "read", parts: [{ tool: { name: "read", input: {} } }] },
            { again: true, parts: [{ text: "No." }] }
          ],
          tools: { read: { ...write, access: { _tag: "Read", paths: ["/etc/x"], outside: ["/etc/x"] } } }
        })
      )
    )
  )
})

describe("options of a session", () => {
  it.effect("take effect in the running turn where they can, and are told", () =>
    Effect.gen(function* () {
      const { events, open, questions, setMode, setOption, until } = yield* connect()
      const { id, say } = yield* open
      const prompt = yield* fork(say("write"))
      yield* until(() => questions.length === 1)
      const options = yield* setOption(id, "mode", "accept-edits")
      assert.strictEqual(options.find((option) => option.id === "mode")?.currentValue, "accept-edits")
      yield* questions[0]?.choose("allow_once") ?? Effect.void
      yield* Fiber.join(prompt)
      // The next edit is not asked for any more.
      yield* say("write again")
      assert.lengthOf(questions, 1)
      yield* setMode(id, "plan")
      const changes = events.flatMap(([, event]) => (event._tag === "ModeChanged" ? [event.mode] : []))
      assert.deepStrictEqual(changes, ["accept-edits", "plan"])
      assert.lengthOf(
        events.filter(([, event]) => event._tag === "ConfigChanged"),
        2
      )
    }).pipe(Effect.provide(agentLayer({ ...models, tools: { write } })))
  )

  it.effect("that are unknown or not offered change nothing, and the error names what is", () =>
    Effect.gen(function* () {
      const { events, open, setMode, setOption } = yield* connect(makeEditor(), "ask")
      const { id } = yield* open
      const failures = [
        yield* Effect.flip(setOption(id, "color", "red")),
        yield* Effect.flip(setOption(id, "model", "scripted/three")),
        yield* Effect.flip(setOption(id, "mode", "always-approve")),
        yield* Effect.flip(setMode(id, "always-approve"))
      ]
      assert.deepStrictEqual(
        failures.map((failure) => (failure._tag === "InvalidInput" ? [failure.field, failure.message] : failure._tag)),
        [
          ["option", 'There is no option "color"; the options are: model, reasoning_effort, mode'],
          ["value", '"scripted/three" is no choice of Model here; choose one of: scripted/one, scripted/two'],
          ["value", '"always-approve" is no choice of Mode here; choose one of: plan, ask'],
          ["value", '"always-approve" is no choice of Mode here; choose one of: plan, ask']
        ]
      )
      assert.lengthOf(events, 0)
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("follow the model: one without efforts offers none", () =>
    Effect.gen(function* () {
      const { open, setOption } = yield* connect()
      const { id } = yield* open
      const options = yield* setOption(id, "model", "scripted/two")
      assert.deepStrictEqual(
        options.map((option) => option.id),
        ["model", "mode"]
      )
    }).pipe(Effect.provide(agentLayer(models)))
  )

  it.effect("survive a reload, and one that is gone stays visible", () =>
    Effect.gen(function* () {
      const { layer: store } = yield* sharedStore
      const id = yield* Effect.gen(function* () {
        const { open, setMode, setOption } = yield* connect()
        const { id, say } = yield* open
        yield* say("Hi")
        yield* setOption(id, "model", "scripted/two")
        yield* setMode(id, "plan")
        return id
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ ...models, store })))
      yield* Effect.gen(function* () {
        const { loadSession } = yield* connect()
        const { mode, options } = yield* loadSession(id, place(), {})
        assert.strictEqual(mode, "plan")
        assert.strictEqual(options[0]?.currentValue, "scripted/two")
        assert.isTrue(options[0]?.options.some(({ value }) => value === "scripted/two"))
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, store })))
    })
  )
})

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
        assert.deepStrictEqual(sessions.map(({ cwd, title }) => [cwd, title]).toSorted(), [
          ["/", "One"],
          ["/tmp", "One"]
        ])
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
      assert.deepStrictEqual(one.told(id).slice(from), ["UserMessage", "text Fine: Two", "UsageUpdated", "InfoUpdated"])
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

  it.effect("that held a session that was closed and opened anew do not end the new one", () =>
    Effect.gen(function* () {
      const one = yield* connect()
      const { id, say } = yield* one.open
      yield* say("One")
      yield* Effect.gen(function* () {
        const two = yield* connect()
        yield* two.loadSession(id, place(), {})
        yield* one.closeSession(id)
        yield* one.loadSession(id, place(), {})
        assert.strictEqual((yield* Effect.flip(two.prompt(id, [text("Two")])))._tag, "SessionNotFound")
      }).pipe(Effect.scoped)
      assert.strictEqual((yield* one.prompt(id, [text("Three")])).stopReason, "end_turn")
    }).pipe(Effect.provide(agentLayer(models)))
  )
})
