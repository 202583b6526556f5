/** What one connection can do with sessions, and what it is told. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { text } from "../../src/domain/Content.ts"
import type { SessionId } from "../../src/domain/Ids.ts"
import type { McpSpec } from "../../src/domain/McpSpec.ts"
import type { ScriptStep } from "../../src/services/models/script/Script.ts"
import { defaultSettings } from "../../src/services/settings/Merge.ts"
import { Settings } from "../../src/services/Settings.ts"
import { agentLayer, connect, place } from "../support/agents.ts"
import { makeEditor } from "../support/editor.ts"
import { completed, type FakeTool } from "../support/fakeTools.ts"
import { info, nothingAsked } from "../support/models.ts"
import { sharedStore } from "../support/stores.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const write: FakeTool = {
  access: { _tag: "Edit", paths: ["/a"], outside: [] },
  run: (value) => Effect.succeed(completed(`wrote ${value}`))
}

const script: ReadonlyArray<ScriptStep> = [
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
        ["plan", "ask", "accept-edits", "auto", "always-approve"]
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

  it.effect("takes a preferred mode where it is offered, and its usual one where it is not", () =>
    Effect.gen(function* () {
      const wishes = { mode: "plan", preferredMode: "auto" } as const
      const wide = yield* connect(makeEditor(), "auto")
      assert.strictEqual((yield* wide.newSession(place(), wishes)).mode, "auto")
      const narrow = yield* connect(makeEditor(), "accept-edits")
      assert.strictEqual((yield* narrow.newSession(place(), wishes)).mode, "plan")
      assert.strictEqual((yield* narrow.newSession(place(), { preferredMode: "auto" })).mode, "ask")
    }).pipe(Effect.provide(agentLayer(models)))
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

  it.effect("opens with a model that is there when the default is not, and says so at the next prompt (F43)", () =>
    Effect.gen(function* () {
      const { events, newSession, prompt, told } = yield* connect()
      const { options, sessionId } = yield* newSession(place(), {})
      assert.deepInclude(options[0], { id: "model", currentValue: "scripted/one" })
      assert.lengthOf(events, 0)
      yield* prompt(sessionId, [text("Hi")])
      assert.match(told(sessionId)[0] ?? "", /gone\/model cannot be used.*uses scripted\/one instead/)
      const after = told(sessionId).length
      yield* prompt(sessionId, [text("Again")])
      assert.notMatch(told(sessionId).slice(after).join(), /gone/)
      const chosen = yield* newSession(place(), { model: "scripted/two" })
      yield* prompt(chosen.sessionId, [text("Hi")])
      assert.notMatch(told(chosen.sessionId).join(), /gone/)
    }).pipe(Effect.provide(agentLayer({ ...models, settings: { defaultModel: "gone/model" } })))
  )

  it.effect("tells of a default model without a provider how models are named, and which one is close", () =>
    Effect.gen(function* () {
      const { newSession, prompt, told } = yield* connect()
      const { sessionId } = yield* newSession(place(), {})
      yield* prompt(sessionId, [text("Hi")])
      assert.match(
        told(sessionId)[0] ?? "",
        /^thought The default model two cannot be used\. A model is named provider\/model\. Did you mean scripted\/two\?/
      )
    }).pipe(Effect.provide(agentLayer({ ...models, settings: { defaultModel: "two" } })))
  )

  it.effect("tells of rules that do not hold at the next prompt, as a notice or a thought, also after a load", () =>
    Effect.gen(function* () {
      for (const [notices, told] of [
        [true, /^notice Permission rules or hooks that were to forbid something do not hold$/],
        [
          false,
          /^thought Permission rules or hooks that were to forbid something do not hold\. Correct the file.*\nfirst\nsecond$/s
        ]
      ] as const) {
        const editor = makeEditor({ notices })
        const { closeSession, events, loadSession, newSession, prompt } = yield* connect(editor)
        const lines = (id: SessionId) => editor.told(id).filter((line) => /^(notice|thought)/.test(line))
        const { sessionId } = yield* newSession(place(), {})
        assert.lengthOf(events, 0)
        yield* prompt(sessionId, [text("Hi")])
        yield* prompt(sessionId, [text("Again")])
        assert.lengthOf(lines(sessionId), 1)
        assert.match(lines(sessionId)[0] ?? "", told)
        yield* closeSession(sessionId)
        yield* loadSession(sessionId, place(), {})
        yield* loadSession(sessionId, place(), {})
        const before = lines(sessionId).length
        yield* prompt(sessionId, [text("Hi")])
        assert.lengthOf(lines(sessionId), before + 1)
        assert.match(lines(sessionId).at(-1) ?? "", told)
      }
    }).pipe(Effect.provide(agentLayer({ ...models, settings: { lostRules: ["first", "second"] } })))
  )

  it.effect("tells of rules that came to hold no more while it goes on, once and again when they are others", () => {
    let lostRules: ReadonlyArray<string> = []
    const settingsLayer = Layer.succeed(Settings, {
      home: "/nonexistent/.supercharge",
      current: Effect.sync(() => ({ ...defaultSettings, lostRules }))
    })
    return Effect.gen(function* () {
      const editor = makeEditor({ notices: false })
      const { newSession, prompt } = yield* connect(editor)
      const { sessionId } = yield* newSession(place(), {})
      const thoughts = () => editor.told(sessionId).filter((line) => line.startsWith("thought"))
      const counts: Array<number> = []
      for (const lost of [[], ["first"], ["first"], ["other"], [], ["other"]]) {
        lostRules = lost
        yield* prompt(sessionId, [text("Hi")])
        counts.push(thoughts().length)
      }
      assert.deepStrictEqual(counts, [0, 1, 1, 2, 2, 3])
      assert.match(thoughts()[1] ?? "", /do not hold\..*\nother$/s)
    }).pipe(Effect.provide(agentLayer({ ...models, settingsLayer })))
  })

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

describe("a connection that may only plan", () => {
  const program: McpSpec = { _tag: "Stdio", name: "any", command: "/bin/sh", args: ["-c", "true"], env: [] }
  const address: McpSpec = { _tag: "Http", name: "far", url: "http://127.0.0.1:1/", headers: [] }

  it.effect("starts no program as an MCP server, however the session is opened", () =>
    Effect.gen(function* () {
      const { forkSession, loadSession, newSession, prompt, resumeSession } = yield* connect(makeEditor(), "plan")
      const { sessionId } = yield* newSession(place({ mcpServers: [address] }), {})
      yield* prompt(sessionId, [text("Hi")])
      const wanted = place({ mcpServers: [address, program] })
      for (const opening of [
        newSession(wanted, {}),
        loadSession(sessionId, wanted, {}),
        resumeSession(sessionId, wanted, {}),
        forkSession(sessionId, wanted)
      ]) {
        const failure = yield* Effect.flip(opening)
        assert.deepInclude(failure, { _tag: "InvalidInput", field: "mcpServers[1]" })
        assert.include(failure.message, "remote.execution_mode_ceiling")
      }
    }).pipe(Effect.provide(agentLayer({ script: [{ again: true, parts: [{ text: "Hello" }] }] })))
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
