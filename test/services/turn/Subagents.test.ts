/** Tasks handed to subagents, over scripted models and tools of the test. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { CustomAgent } from "../../../src/domain/CustomAgent.ts"
import type { ExecutionMode } from "../../../src/domain/permission/ExecutionMode.ts"
import { textContent, type ToolContent } from "../../../src/domain/Tool.ts"
import { replay } from "../../../src/domain/session/Replay.ts"
import type { ModelInfo } from "../../../src/domain/Model.ts"
import { PermissionBroker, type PermissionRequest } from "../../../src/services/PermissionBroker.ts"
import type { ScriptPart, ScriptStep } from "../../../src/services/models/script/Script.ts"
import { Tools } from "../../../src/services/Tools.ts"
import { taskTool } from "../../../src/services/tools/Task.ts"
import { completed, echo, type FakeTool, fakeTools } from "../../support/fakeTools.ts"
import { type Asked, info, nothingAsked, scripted, spoken } from "../../support/models.ts"
import { runTurn } from "../../support/turns.ts"
import { makeSession, type SessionOptions } from "../../support/turnSession.ts"

const agent = (fields: Partial<CustomAgent> = {}): CustomAgent => ({
  name: "helper",
  description: "Helps",
  prompt: "You help.",
  replaces: false,
  ...fields
})

const task = (prompt: string, name = "helper"): ScriptPart => ({
  tool: { name: "task", input: { agent: name, description: `do ${prompt}`, prompt } }
})
const use = (name: string, value = "x"): ScriptPart => ({ tool: { name, input: { value } } })
const step = (when: string | undefined, ...parts: ReadonlyArray<ScriptPart>): ScriptStep =>
  when === undefined ? { parts } : { when, parts }

interface Options {
  readonly tools?: Parameters<typeof fakeTools>[0]
  readonly agents?: ReadonlyArray<CustomAgent>
  readonly asked?: Asked
  readonly infos?: ReadonlyArray<ModelInfo>
  readonly broker?: Layer.Layer<PermissionBroker>
  readonly maxRequests?: number
  readonly session?: SessionOptions
}

const prepare = (script: ReadonlyArray<ScriptStep>, options: Options = {}) => {
  const { agents = [agent()], asked = nothingAsked(), infos, tools = { read: echo } } = options
  const recorded = makeSession({ agents: Effect.succeed(agents), ...options.session })
  const turn = runTurn(recorded.session, "go", {
    models: scripted(script, asked, infos),
    tools: Layer.provide(Tools.layerBeside([taskTool]), fakeTools(tools)),
    ...(options.broker === undefined ? {} : { broker: options.broker }),
    ...(options.maxRequests === undefined ? {} : { maxRequests: options.maxRequests })
  })
  return { ...recorded, asked, turn }
}

const run = Effect.fnUntraced(function* (script: ReadonlyArray<ScriptStep>, options?: Options) {
  const prepared = prepare(script, options)
  return { ...prepared, outcome: yield* prepared.turn }
})

const callsOf = ({ events }: Pick<ReturnType<typeof prepare>, "events">) =>
  events.flatMap((event) => (event._tag === "ToolCallStarted" ? [event.call] : []))

const systemOf = (messages: Asked["prompts"][number]): string => {
  const first = messages[0]
  return first?.role === "system" ? first.content : ""
}

const simple = [
  step("go", { text: "I hand it over." }, task("the work")),
  step("the work", { text: "Let me look." }, use("read", "a")),
  step("the work", { text: "The answer is 42." }),
  step(undefined, { text: "It is 42." })
]

describe("a subagent", () => {
  it.effect("works in a context of its own, and only its last message is the result", () =>
    Effect.gen(function* () {
      const { asked, outcome, state, told } = yield* run(simple)
      assert.strictEqual(outcome.stopReason, "end_turn")
      assert.deepStrictEqual(spoken(asked.prompts[1] ?? []), ["user the work"])
      assert.deepStrictEqual(spoken(asked.prompts[2] ?? []), [
        "user the work",
        "assistant Let me look.",
        'call read {"value":"a"}',
        "result read echo a"
      ])
      assert.deepStrictEqual(spoken(asked.prompts[3] ?? []), [
        "user go",
        "assistant I hand it over.",
        'call task {"agent":"helper","description":"do the work","prompt":"the work"}',
        "result task The answer is 42."
      ])
      assert.lengthOf(state().context, 4)
      assert.notInclude(told().join("\n"), "text Let me look.")
    })
  )

  it.effect("shows its calls below its own, and how far it is (F79)", () =>
    Effect.gen(function* () {
      const recorded = yield* run(simple)
      const [parent, child] = callsOf(recorded)
      assert.deepInclude(parent, { name: "task", kind: "other" })
      assert.notProperty(parent, "parent")
      assert.strictEqual(child?.name, "read")
      assert.strictEqual(child?.parent, parent?.id)
      const progress = recorded.events.flatMap((event) =>
        event._tag === "ToolCallProgress" && event.id === parent?.id ? [JSON.stringify(event.patch.content)] : []
      )
      assert.include(progress[0], "- … Use read")
      assert.include(progress.at(-1), "- ✓ read a\\n\\nLet me look.")
      const last = recorded.events.findLast((event) => event._tag === "ToolCallUpdated" && event.id === parent?.id)
      assert.deepNestedInclude(last, {
        "patch.status": "completed",
        "patch.rawOutput.agent": "helper",
        "patch.rawOutput.calls": 1,
        "patch.rawOutput.usage.inputTokens": 200
      })
      assert.include(
        recorded.events.map((event) => (event._tag === "ToolCallUpdated" ? event.patch.title : undefined)),
        "helper: do the work"
      )
    })
  )

  it.effect("is told the same again when its session is loaded", () =>
    Effect.gen(function* () {
      const { entries, events } = yield* run(simple)
      const calls = (list: ReadonlyArray<{ readonly _tag: string }>) =>
        list.filter(({ _tag }) => _tag.startsWith("ToolCall"))
      assert.deepStrictEqual(
        calls(replay(entries)),
        calls(events).filter(({ _tag }) => _tag !== "ToolCallProgress")
      )
    })
  )

  it.effect("counts for usage and cost, and fills no window (F79)", () =>
    Effect.gen(function* () {
      const price = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 }
      const { events, outcome } = yield* run(simple, { infos: [{ ...info, price }] })
      assert.strictEqual(outcome.usage?.inputTokens, 400)
      const used = events.flatMap((event) => (event._tag === "UsageUpdated" ? [[event.used, event.cost]] : []))
      assert.deepStrictEqual(used, [
        [110, 100],
        [110, 200],
        [110, 300],
        [110, 400]
      ])
    })
  )

  it.effect("is told who it is: in addition, or instead of the harness", () =>
    Effect.gen(function* () {
      const { asked } = yield* run(simple)
      assert.match(systemOf(asked.prompts[1] ?? []), /You are a coding agent[^]*You are a subagent[^]*You help\./)
      const full = yield* run(simple, { agents: [agent({ replaces: true })] })
      const system = systemOf(full.asked.prompts[1] ?? [])
      assert.match(system, /^You help\.[^]*You are a subagent/)
      assert.notInclude(system, "You are a coding agent")
    })
  )

  it.effect("has the tools of its file that its parent has, and cannot hand tasks on", () =>
    Effect.gen(function* () {
      const tools = { read: echo, write: echo, todo: echo, ask_user: echo }
      const offered: Array<ReadonlyArray<string>> = []
      const asked = nothingAsked()
      const watched = {
        ...asked,
        get tools() {
          return []
        },
        set tools(names: ReadonlyArray<string>) {
          offered.push(names)
        }
      }
      yield* run([step("go", task("one")), step("one", { text: "1" }), step(undefined, { text: "ok" })], {
        tools,
        asked: watched
      })
      const narrow = [agent({ tools: ["read", "bash", "task"] })]
      yield* run([step("go", task("one")), step("one", { text: "1" }), step(undefined, { text: "ok" })], {
        tools,
        asked: watched,
        agents: narrow
      })
      assert.deepStrictEqual(offered, [
        ["read", "write", "task", "todo", "ask_user"],
        ["read", "write"],
        ["read", "write", "task", "todo", "ask_user"],
        ["read", "write", "task", "todo", "ask_user"],
        ["read"],
        ["read", "write", "task", "todo", "ask_user"]
      ])
    })
  )

  it.effect("goes no further than its parent and its own file, and asks under the session's id (F31)", () =>
    Effect.gen(function* () {
      const requests: Array<PermissionRequest> = []
      const broker = Layer.succeed(PermissionBroker, {
        decide: (request) =>
          Effect.sync(() => {
            requests.push(request)
            return { _tag: "Allowed" } as const
          }),
        readable: () => Effect.succeedNone
      })
      const modes: ReadonlyArray<readonly [ExecutionMode, ExecutionMode | undefined, ExecutionMode]> = [
        ["ask", "auto", "ask"],
        ["auto", "plan", "plan"],
        ["accept-edits", undefined, "accept-edits"]
      ]
      for (const [own, its, expected] of modes) {
        requests.length = 0
        const ask = () => Effect.die(new Error("nobody is asked"))
        const { session } = yield* run(simple, {
          broker,
          agents: [agent(its === undefined ? {} : { mode: its })],
          session: { mode: Effect.succeed(own), ask }
        })
        assert.deepStrictEqual(
          requests.map(({ mode }) => mode),
          [own, expected]
        )
        assert.strictEqual(requests[1]?.sessionId, session.workspace.sessionId)
        assert.isDefined(requests[1]?.ask)
      }
    })
  )

  it.effect("is named by its questions, and by no other", () =>
    Effect.gen(function* () {
      const shown: Array<ReadonlyArray<ToolContent>> = []
      const broker = Layer.succeed(PermissionBroker, {
        decide: ({ ask, call, sessionId }) =>
          Effect.as(ask === undefined ? Effect.void : ask({ sessionId, call, options: [] }), {
            _tag: "Allowed"
          } as const),
        readable: () => Effect.succeedNone
      })
      yield* run(simple, {
        broker,
        session: {
          ask: ({ call }) =>
            Effect.sync(() => {
              shown.push(call.patch.content ?? [])
              return { _tag: "Cancelled" } as const
            })
        }
      })
      const note = textContent("Asked by the subagent helper")
      assert.deepStrictEqual(
        shown.map(([first]) => first),
        [undefined, note]
      )
    })
  )

  it.effect("uses its model when there is one, else tells and takes its parent's", () =>
    Effect.gen(function* () {
      const used = (model: string) =>
        Effect.map(
          run(simple, { agents: [agent({ model })], infos: [info, { ...info, id: "scripted/small-haiku" }] }),
          ({ events, told }) => [
            events.flatMap((event) =>
              event._tag === "ToolCallUpdated" && event.patch.rawOutput !== undefined ? [event.patch.rawOutput] : []
            ),
            told().filter((line) => line.startsWith("notice"))
          ]
        )
      const [outputs, notices] = yield* used("haiku")
      assert.deepNestedInclude({ outputs }, { "outputs[0].model": "scripted/small-haiku" })
      assert.deepStrictEqual(notices, [])
      const [others, warned] = yield* used("opus")
      assert.deepNestedInclude({ others }, { "others[0].model": "scripted/one" })
      assert.deepStrictEqual(warned, ["notice The model opus of the agent helper cannot be used"])
    })
  )

  it.effect("that fails, says nothing or never ends is a failed call that says why", () =>
    Effect.gen(function* () {
      const parent = step("go", task("w1"), task("w2"), task("w3"), task("w4"), task("w5", "helpr"))
      const { asked, told } = yield* run(
        [
          parent,
          step("w1", { error: { status: 400, message: "no such thing" } }),
          step("w2", { thought: "hm" }),
          { when: "w3", again: true, parts: [{ text: "Still at it." }, use("read")] },
          step("w4", { text: "Half an ans" }, { finish: "length" }),
          step(undefined, { text: "I see." })
        ],
        { agents: [agent({ steps: 3 })] }
      )
      const results = spoken(asked.prompts.at(-1) ?? []).filter((line) => line.startsWith("failed"))
      assert.lengthOf(results, 5)
      assert.match(results[0] ?? "", /The subagent helper failed: .*no such thing/)
      assert.match(results[1] ?? "", /ended without an answer/)
      assert.match(results[2] ?? "", /stopped after 3 requests to the model.*It said last:\nStill at it\./s)
      assert.match(results[3] ?? "", /cut off at the model's limit.*Half an ans/s)
      assert.match(results[4] ?? "", /there is no such agent; did you mean helper\?/)
      assert.strictEqual(told().at(-1), "UsageUpdated")
    })
  )

  it.effect("that breaks off leaves no call open, and its parent goes on", () =>
    Effect.gen(function* () {
      const { state, told } = yield* run([
        step("go", task("one")),
        step("one", { tool: { name: "read", input: "{" } }, { error: { message: "gone" } }),
        step(undefined, { text: "ok" })
      ])
      assert.strictEqual(state().openCalls.size, 0)
      assert.include(told(), "text ok")
    })
  )

  it.effect("runs beside others, at most four at a time, and changes nothing beside them", () =>
    Effect.gen(function* () {
      let [open, most, changing, mostChanging] = [0, 0, 0, 0]
      const release = yield* Deferred.make<void>()
      const read: FakeTool = {
        run: () =>
          Effect.gen(function* () {
            most = Math.max(most, ++open)
            if (open === 4) yield* Deferred.succeed(release, undefined)
            yield* Deferred.await(release)
            open -= 1
            return completed("read")
          })
      }
      const write: FakeTool = {
        concurrency: "exclusive",
        run: () =>
          Effect.gen(function* () {
            mostChanging = Math.max(mostChanging, ++changing)
            yield* Effect.yieldNow
            changing -= 1
            return completed("wrote")
          })
      }
      const works = ["w1", "w2", "w3", "w4", "w5", "w6"]
      const { asked } = yield* run(
        [
          step("go", ...works.map((work) => task(work))),
          ...works.flatMap((work) => [
            step(work, use("read")),
            step(work, use("write")),
            step(work, { text: `${work} done` })
          ]),
          step(undefined, { text: "ok" })
        ],
        { tools: { read, write } }
      )
      assert.strictEqual(most, 4)
      assert.strictEqual(mostChanging, 1)
      const results = spoken(asked.prompts.at(-1) ?? []).filter((line) => line.startsWith("result"))
      assert.deepStrictEqual(
        results,
        works.map((work) => `result task ${work} done`)
      )
    })
  )

  it.effect("is cancelled with its session, at once and with what it began", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      let stopped = false
      const bash: FakeTool = {
        run: (_value, { workspace }) =>
          Scope.addFinalizer(
            workspace.lifetime,
            Effect.sync(() => (stopped = true))
          ).pipe(Effect.andThen(Deferred.succeed(started, undefined)), Effect.andThen(Effect.never))
      }
      const recorded = prepare([step("go", task("one")), step("one", use("bash"))], { tools: { bash } })
      const running = yield* Effect.forkChild(recorded.turn)
      yield* Deferred.await(started)
      yield* Fiber.interrupt(running)
      assert.isTrue(stopped)
      yield* recorded.session.settle("Cancelled.")
      assert.strictEqual(recorded.state().openCalls.size, 0)
      const last = recorded.told().filter((line) => line.startsWith("failed"))
      assert.lengthOf(last, 2)
      assert.include(last[0], "The subagent stopped before this call finished")
      assert.include(last[1], "Cancelled.")
    })
  )

  it.effect("ends what it left running in the background", () =>
    Effect.gen(function* () {
      const ended: Array<string> = []
      const bash: FakeTool = {
        run: (_value, { workspace }) =>
          Effect.as(
            Scope.addFinalizer(
              workspace.lifetime,
              Effect.sync(() => ended.push("background"))
            ),
            completed("started")
          )
      }
      const { session } = yield* run(
        [
          step("go", task("one")),
          step("one", use("bash")),
          step("one", { text: "left it" }),
          step(undefined, { text: "ok" })
        ],
        { tools: { bash } }
      )
      assert.deepStrictEqual(ended, ["background"])
      yield* Scope.close(session.workspace.lifetime as Scope.Closeable, Exit.void)
    })
  )

  it.effect("is one of those that the model is told of", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 50 }, (_, at) =>
        agent({ name: `a${at}`, description: `Line\n${"x".repeat(1000)}` })
      )
      const { asked } = yield* run(
        [step("go", task("x", "a49")), step("x", { text: "1" }), step(undefined, { text: "ok" })],
        { agents: many }
      )
      assert.lengthOf(asked.prompts, 3)
      const builtIn = yield* run(
        [step("go", task("x", "explore")), step("x", { text: "1" }), step(undefined, { text: "ok" })],
        {
          agents: [],
          tools: { read: echo, write: echo }
        }
      )
      assert.strictEqual(builtIn.outcome.stopReason, "end_turn")
    })
  )
})
