/** Custom agents of a session: chosen, kept, held to their limits, and gone again. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FoundAgent } from "../../../src/domain/CustomAgent.ts"
import { InvalidInput } from "../../../src/domain/Failure.ts"
import type { ExecutionMode } from "../../../src/domain/permission/ExecutionMode.ts"
import { PermissionBroker } from "../../../src/services/PermissionBroker.ts"
import { CustomAgents } from "../../../src/services/CustomAgents.ts"
import type { AgentConnection } from "../../../src/services/Agent.ts"
import { agentLayer, type AgentOptions, connect, place } from "../../support/agents.ts"
import { echo } from "../../support/fakeTools.ts"
import { info, nothingAsked } from "../../support/models.ts"
import { makeEditor } from "../../support/editor.ts"

const agent = (fields: Partial<FoundAgent> = {}): FoundAgent => ({
  name: "reviewer",
  description: "Reviews",
  prompt: "You review.",
  replaces: false,
  scope: "user",
  path: "/agents/reviewer.md",
  ...fields
})

const small = { ...info, id: "scripted/small", name: "Small" }
const says = { again: true, parts: [{ text: "Fine" }] } as const

/** Files that a test can change while the agent runs. */
const withAgents = (files: { agents: Array<FoundAgent>; problems: Array<string> }, options: AgentOptions = {}) =>
  agentLayer({ script: [says], infos: [info, small], tools: { read: echo, write: echo, bash: echo }, ...options }).pipe(
    Layer.provide(
      Layer.succeed(CustomAgents, {
        list: () => Effect.sync(() => ({ agents: [...files.agents], problems: [...files.problems] })),
        create: (_cwd, { name, instructions }) =>
          Effect.sync(() => {
            const created = agent({ name, prompt: instructions, scope: "project" })
            files.agents.push(created)
            return created
          }),
        load: (path) =>
          path === "/profile.md"
            ? Effect.succeed(agent({ name: "profile", scope: "session", mode: "plan" }))
            : Effect.fail(new InvalidInput({ field: "agentProfile", message: "is not there" })),
        define: (value) => Effect.succeed(agent({ name: String(value["name"]), scope: "session" }))
      })
    )
  )

type Opened = Effect.Success<ReturnType<typeof connect>>

const notices = ({ events }: Opened) => events.flatMap(([, event]) => (event._tag === "Notice" ? [event.title] : []))
const modes = ({ events }: Opened) => events.flatMap(([, event]) => (event._tag === "ModeChanged" ? [event.mode] : []))
const systemOf = (asked: ReturnType<typeof nothingAsked>): string => {
  const first = asked.prompts.at(-1)?.[0]
  return first?.role === "system" ? first.content : ""
}
const optionsOf = (connection: AgentConnection, id: Effect.Success<Opened["open"]>["id"]) =>
  Effect.map(connection.resumeSession(id, place(), {}), ({ options }) => options)

const withNotices = () => makeEditor({ notices: true })

describe("the agent of a session", () => {
  it.effect("is chosen like a mode, works in the mode that was chosen before, and is left by choosing one", () => {
    const asked = nothingAsked()
    return Effect.gen(function* () {
      const client = yield* connect()
      const opened = yield* client.newSession(place(), {})
      assert.deepStrictEqual(
        opened.modes.map(({ id }) => id),
        ["plan", "ask", "accept-edits", "auto", "always-approve", "reviewer"]
      )
      const say = (words: string) => client.prompt(opened.sessionId, [{ type: "text", text: words }])
      yield* client.setMode(opened.sessionId, "accept-edits")
      yield* client.setMode(opened.sessionId, "reviewer")
      const again = yield* client.resumeSession(opened.sessionId, place(), {})
      assert.strictEqual(again.mode, "reviewer")
      assert.strictEqual(again.options.find(({ id }) => id === "mode")?.currentValue, "reviewer")
      assert.deepInclude(yield* client.listAgents(opened.sessionId), { current: "reviewer" })
      yield* say("Hi")
      assert.deepStrictEqual(asked.tools, ["read"])
      assert.match(systemOf(asked), /You are a coding agent[^]*You review\./)
      yield* client.setMode(opened.sessionId, "ask")
      yield* say("Hi")
      assert.deepStrictEqual(asked.tools, ["read", "write", "bash"])
      assert.notInclude(systemOf(asked), "You review.")
      assert.deepStrictEqual(modes(client), ["accept-edits", "reviewer", "ask"])
      const error = yield* Effect.flip(client.setMode(opened.sessionId, "nobody"))
      assert.match(error.message, /"nobody" is no choice of Mode here.*reviewer/)
    }).pipe(Effect.provide(withAgents({ agents: [agent({ tools: ["read"] })], problems: [] }, { asked })))
  })

  it.effect("takes the place of the harness's words, or of those that the client sent", () => {
    const asked = nothingAsked()
    const files = { agents: [agent(), agent({ name: "full", prompt: "Only this.", replaces: true })], problems: [] }
    return Effect.gen(function* () {
      const client = yield* connect()
      const { sessionId } = yield* client.newSession(place(), {
        systemPrompt: "Be odd.",
        agentProfile: "reviewer",
        rules: "Rule."
      })
      const say = client.prompt(sessionId, [{ type: "text", text: "Hi" }])
      yield* say
      assert.match(systemOf(asked), /^Be odd\.\n\nYou review\.[^]*Rule\./)
      yield* client.setMode(sessionId, "full")
      yield* say
      assert.match(systemOf(asked), /^Only this\./)
      assert.notInclude(systemOf(asked), "Be odd.")
    }).pipe(Effect.provide(withAgents(files, { asked })))
  })

  it.effect("survives a load, and keeps its session from more than it was chosen with", () => {
    const files = { agents: [agent({ mode: "ask", tools: ["read"] })], problems: [] as Array<string> }
    const asked = nothingAsked()
    return Effect.gen(function* () {
      const client = yield* connect(withNotices())
      const { sessionId } = yield* client.newSession(place(), { mode: "always-approve", agentProfile: "reviewer" })
      const say = client.prompt(sessionId, [{ type: "text", text: "Hi" }])
      yield* say
      yield* client.closeSession(sessionId)
      files.agents = [agent({ mode: "auto", tools: ["read", "write", "bash"], prompt: "New words." })]
      const loaded = yield* client.loadSession(sessionId, place(), {})
      assert.strictEqual(loaded.mode, "reviewer")
      yield* say
      assert.deepStrictEqual(asked.tools, ["read"])
      assert.include(systemOf(asked), "New words.")
      files.agents = []
      yield* client.closeSession(sessionId)
      const gone = yield* client.loadSession(sessionId, place(), {})
      assert.strictEqual(gone.mode, "ask")
      assert.notInclude(
        gone.modes.map(({ id }) => id),
        "reviewer"
      )
      yield* say
      yield* say
      assert.deepStrictEqual(notices(client), ["The agent reviewer is not there any more"])
      assert.deepStrictEqual(asked.tools, ["read"])
      yield* client.setMode(sessionId, "always-approve")
      yield* say
      assert.deepStrictEqual(asked.tools, ["read", "write", "bash"])
    }).pipe(Effect.provide(withAgents(files, { asked })))
  })

  it.effect("never raises a mode above the session's or the transport's", () => {
    const judged: Array<ExecutionMode> = []
    const broker = Layer.succeed(PermissionBroker, {
      decide: ({ mode }) =>
        Effect.sync(() => {
          judged.push(mode)
          return { _tag: "Allowed" } as const
        }),
      readable: () => Effect.succeedNone
    })
    const script = [
      { when: "use", again: true, parts: [{ tool: { name: "read", input: {} } }, { finish: "stop" }] },
      says
    ] as const
    const files = {
      agents: [agent({ mode: "always-approve" }), agent({ name: "planner", mode: "plan" })],
      problems: []
    }
    return Effect.gen(function* () {
      const client = yield* connect(makeEditor(), "accept-edits")
      const { sessionId } = yield* client.newSession(place(), {})
      for (const [mode, name] of [
        ["ask", "reviewer"],
        ["accept-edits", "reviewer"],
        ["accept-edits", "planner"]
      ] as const) {
        yield* client.setMode(sessionId, mode)
        yield* client.setMode(sessionId, name)
        yield* client.prompt(sessionId, [{ type: "text", text: `use ${name}` }])
      }
      assert.deepStrictEqual(judged, ["ask", "accept-edits", "plan"])
    }).pipe(Effect.provide(withAgents(files, { broker, script, maxRequests: 1 })))
  })

  it.effect("brings its model, until another one is chosen", () => {
    const files = { agents: [agent({ model: "small" }), agent({ name: "other", model: "opus" })], problems: [] }
    return Effect.gen(function* () {
      const client = yield* connect(withNotices())
      const { sessionId } = yield* client.newSession(place(), {})
      const model = Effect.map(
        optionsOf(client, sessionId),
        (options) => options.find(({ id }) => id === "model")?.currentValue
      )
      assert.strictEqual(yield* model, "scripted/one")
      yield* client.setMode(sessionId, "reviewer")
      assert.strictEqual(yield* model, "scripted/small")
      yield* client.setOption(sessionId, "model", "scripted/one")
      assert.strictEqual(yield* model, "scripted/one")
      yield* client.setMode(sessionId, "reviewer")
      assert.strictEqual(yield* model, "scripted/small")
      yield* client.setMode(sessionId, "other")
      assert.strictEqual(yield* model, "scripted/one")
      yield* client.prompt(sessionId, [{ type: "text", text: "Hi" }])
      assert.deepStrictEqual(notices(client), ["The model opus of the agent other cannot be used"])
      const chosen = yield* client.newSession(place(), { model: "scripted/one", agentProfile: "reviewer" })
      assert.strictEqual(chosen.options.find(({ id }) => id === "model")?.currentValue, "scripted/one")
    }).pipe(Effect.provide(withAgents(files)))
  })

  it.effect("may be one that the client or the command line brings, which outlives the process", () =>
    Effect.gen(function* () {
      const client = yield* connect()
      const byFlag = yield* client.newSession(place(), {})
      assert.strictEqual(byFlag.mode, "profile")
      const inline = yield* client.newSession(place(), { agentProfile: { name: "inline" } })
      assert.strictEqual(inline.mode, "inline")
      yield* client.prompt(inline.sessionId, [{ type: "text", text: "Hi" }])
      yield* client.closeSession(inline.sessionId)
      const loaded = yield* client.loadSession(inline.sessionId, place(), {})
      assert.strictEqual(loaded.mode, "inline")
      yield* client.setMode(inline.sessionId, "ask")
      yield* client.setMode(inline.sessionId, "inline")
      const error = yield* Effect.flip(client.newSession(place(), { agentProfile: "nobody" }))
      assert.strictEqual(error._tag === "InvalidInput" ? error.field : "", "agentProfile")
      assert.match(error.message, /There is no agent "nobody"; choose one of: reviewer/)
    }).pipe(
      Effect.provide(withAgents({ agents: [agent()], problems: [] }, { settings: { agentProfile: "/profile.md" } }))
    )
  )

  it.effect("whose file cannot be used any more fails a new session by name", () =>
    Effect.gen(function* () {
      const client = yield* connect()
      const error = yield* Effect.flip(client.newSession(place(), {}))
      assert.strictEqual(error._tag === "InvalidInput" ? error.field : "", "agentProfile")
    }).pipe(Effect.provide(withAgents({ agents: [], problems: [] }, { settings: { agentProfile: "/gone.md" } })))
  )
})

describe("the agents of a session", () => {
  it.effect("are told again when their files change, and their mistakes once", () => {
    const files = { agents: [agent()], problems: ["x.md, line 2: mode must be one of …"] }
    return Effect.gen(function* () {
      const client = yield* connect(withNotices())
      const { id, say } = yield* client.open
      yield* say("Hi")
      files.agents = [agent(), agent({ name: "second" })]
      yield* say("Hi")
      yield* say("Hi")
      assert.deepStrictEqual(notices(client), ["The file of an agent has a mistake"])
      const lists = client.events.flatMap(([, event]) =>
        event._tag === "ConfigChanged"
          ? [event.options.find((option) => option.id === "mode")?.options.map(({ value }) => value)]
          : []
      )
      assert.lengthOf(lists, 1)
      assert.includeMembers([...(lists[0] ?? [])], ["reviewer", "second"])
      assert.isTrue(client.told(id).includes("ConfigChanged"))
    }).pipe(Effect.provide(withAgents(files)))
  })

  it.effect("get a new one, which every view is told of", () => {
    const files = { agents: [] as Array<FoundAgent>, problems: [] }
    return Effect.gen(function* () {
      const one = yield* connect()
      const two = yield* connect(makeEditor(), "plan")
      const { id, say } = yield* one.open
      yield* say("Hi")
      yield* two.resumeSession(id, place(), {})
      const created = yield* one.createAgent(id, { name: "fresh", instructions: "Do." })
      assert.strictEqual(created.name, "fresh")
      assert.deepStrictEqual(
        [one, two].map((view) => view.events.filter(([, { _tag }]) => _tag === "ConfigChanged").length),
        [1, 1]
      )
      yield* one.setMode(id, "fresh")
      assert.deepStrictEqual(modes(two), ["fresh"])
      const refused = yield* Effect.flip(two.createAgent(id, { name: "x", instructions: "Do." }))
      assert.match(refused.message, /ceiling of this connection is "plan"/)
      const { agents, current } = yield* two.listAgents(id)
      assert.deepStrictEqual([agents.map(({ name }) => name), current], [["fresh"], "fresh"])
    }).pipe(Effect.provide(withAgents(files)))
  })
})
