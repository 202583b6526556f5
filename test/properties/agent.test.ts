/** The real agent over the linked transport, driven by any script of an editor, and judged by the rules of the protocol. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Agent } from "../../src/services/Agent.ts"
import { serve } from "../../src/transports/acp/Connection.ts"
import * as Memory from "../../src/transports/Memory.ts"
import { agentLayer } from "../support/agents.ts"
import { behaviours, models, tools } from "../support/behaviour.ts"
import { countingFibers } from "../support/fibers.ts"
import { judge, type Line } from "../support/protocol.ts"
import { isObject, makeOracle } from "../support/Schema.ts"
import { makeSignal } from "../support/signal.ts"

const session = Schema.Literals([0, 1, 2])

const Command = Schema.Union([
  Schema.TaggedStruct("Prompt", { session, behaviour: Schema.Literals(behaviours) }),
  Schema.TaggedStruct("Prompt", { session, behaviour: Schema.Literals(["ask", "both"]) }),
  Schema.TaggedStruct("Prompt", { session: Schema.Literal(0), behaviour: Schema.Literals(["ask", "hang", "say"]) }),
  Schema.TaggedStruct("Cancel", { session }),
  Schema.TaggedStruct("CancelRequest", { prompt: Schema.Literals([0, 1, 2]) }),
  Schema.TaggedStruct("Answer", {
    question: Schema.Literals([0, 1, 2]),
    answer: Schema.Literals(["allow_once", "allow_always", "reject_once", "cancelled", "nonsense", "error"])
  }),
  Schema.TaggedStruct("Answer", {
    question: Schema.Literals([0, 1]),
    answer: Schema.Literals(["allow_once", "reject_once"])
  }),
  Schema.TaggedStruct("SetMode", { session, mode: Schema.Literals(["plan", "ask", "accept-edits", "nonsense"]) }),
  Schema.TaggedStruct("Close", { session: Schema.Literals([1, 2]) }),
  Schema.TaggedStruct("Load", { session: Schema.Literals([1, 2]) }),
  /** Waits for an answer, so that what was sent has begun. */
  Schema.TaggedStruct("Wait", {}),
  /** Waits until every open turn has come to rest. */
  Schema.TaggedStruct("Rest", {})
])
type Command = typeof Command.Type

type JsonObject = Schema.JsonObject

const play = Effect.fnUntraced(function* (commands: ReadonlyArray<Command>) {
  const link = yield* Memory.pair
  const oracle = makeOracle()
  const lines: Array<Line> = []
  const { changed, until } = makeSignal()
  let count = 0
  const agent = yield* Agent
  const serving = yield* Effect.forkScoped(Effect.provideService(serve(link.agent, { version: "1.2.3" }), Agent, agent))
  yield* Effect.forkScoped(
    Stream.runForEach(link.editor.incoming, (frame) =>
      Effect.sync(() => {
        if (frame._tag !== "Text") return
        assert.deepStrictEqual(oracle.received(frame.text), [], frame.text)
        lines.push(["received", JSON.parse(frame.text)])
        changed()
      })
    )
  )

  const send = (message: JsonObject) => {
    const line = JSON.stringify(message)
    oracle.sent(line)
    lines.push(["sent", message])
    return link.editor.send([line])
  }
  const received = () => lines.flatMap(([side, message]) => (side === "received" ? [message] : []))
  const answerTo = (id: number) => received().find((message) => message["id"] === id && message["method"] === undefined)
  const ask = Effect.fnUntraced(function* (method: string, params: JsonObject) {
    const id = count++
    yield* send({ jsonrpc: "2.0", id, method, params })
    return id
  })
  const call = Effect.fnUntraced(function* (method: string, params: JsonObject) {
    const id = yield* ask(method, params)
    yield* until(() => answerTo(id) !== undefined)
    return answerTo(id) ?? {}
  })

  yield* call("initialize", { protocolVersion: 1, clientCapabilities: {} })
  const sessions: Array<string> = []
  for (let index = 0; index < 3; index++) {
    const { result } = yield* call("session/new", { cwd: "/", mcpServers: [] })
    sessions.push(isObject(result) ? String(result["sessionId"]) : "")
  }
  const idOf = (index: number) => sessions[index] ?? ""
  const prompts: Array<number> = []

  /** Questions without an answer or a withdrawal. */
  const questions = () => {
    const withdrawn = received().flatMap(({ method, params }) =>
      method === "$/cancel_request" && isObject(params) ? [params["requestId"]] : []
    )
    const answered = lines.flatMap(([side, { id, method }]) => (side === "sent" && method === undefined ? [id] : []))
    const ended = new Set([...withdrawn, ...answered])
    return received().filter(({ id, method }) => method === "session/request_permission" && !ended.has(id))
  }

  const respond = (question: JsonObject, answer: string) => {
    const { id = null, params } = question
    const options = isObject(params) && Array.isArray(params["options"]) ? params["options"].filter(isObject) : []
    const optionId = options.find(({ kind }) => kind === answer)?.["optionId"] ?? "nonsense"
    if (answer === "error") return send({ jsonrpc: "2.0", id, error: { code: -32603, message: "Editor trouble" } })
    const outcome = answer === "cancelled" ? { outcome: "cancelled" } : { outcome: "selected", optionId }
    return send({ jsonrpc: "2.0", id, result: { outcome } })
  }

  const run = (command: Command): Effect.Effect<unknown> => {
    switch (command._tag) {
      case "Prompt":
        return Effect.tap(
          ask("session/prompt", {
            sessionId: idOf(command.session),
            prompt: [{ type: "text", text: `p${prompts.length} ${command.behaviour}` }]
          }),
          (id) => Effect.sync(() => prompts.push(id))
        )
      case "Cancel":
        return send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: idOf(command.session) } })
      case "CancelRequest": {
        const requestId = prompts.at(-1 - command.prompt)
        return requestId === undefined
          ? Effect.void
          : send({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId } })
      }
      case "Answer": {
        const open = questions()
        const question = open[command.question % Math.max(1, open.length)]
        return question === undefined ? Effect.void : respond(question, command.answer)
      }
      case "SetMode":
        return ask("session/set_mode", { sessionId: idOf(command.session), modeId: command.mode })
      case "Close":
        return ask("session/close", { sessionId: idOf(command.session) })
      case "Load":
        return ask("session/load", { sessionId: idOf(command.session), cwd: "/", mcpServers: [] })
      case "Wait":
        return call("_test/nothing", {})
      case "Rest":
        return Effect.gen(function* () {
          for (let still = 0; still < 3;) {
            const before = lines.length
            yield* call("_test/nothing", {})
            still = lines.length === before + 2 ? still + 1 : 0
          }
        })
    }
  }

  for (const command of commands) yield* run(command)
  for (const sessionId of sessions) yield* ask("session/close", { sessionId })
  yield* until(() => prompts.every((id) => answerTo(id) !== undefined))
  yield* link.editor.end
  yield* Fiber.join(serving)
  return lines
})

const scripts = Arbitrary.array(Arbitrary.schema(Command), { maxLength: 40 })

const holds = (commands: ReadonlyArray<Command>) =>
  countingFibers((live) =>
    Effect.gen(function* () {
      const before = live()
      judge(yield* Effect.scoped(play(commands)))
      assert.strictEqual(live(), before, "fibers are left at work")
    })
  )

describe("the agent", () => {
  it.effect("answers a close before the load behind it, and that load's view stays", () =>
    Effect.provide(
      holds([
        { _tag: "Prompt", session: 1, behaviour: "ask" },
        { _tag: "Close", session: 1 },
        { _tag: "Load", session: 1 },
        { _tag: "Wait" },
        { _tag: "Wait" },
        { _tag: "Prompt", session: 1, behaviour: "both" }
      ]),
      agentLayer({ models, tools, tasks: true })
    )
  )

  it.effect.prop(
    "answers each prompt once, behind its updates, and leaves nothing at work, whatever an editor does",
    [scripts],
    ([commands]) => Effect.provide(holds(commands), agentLayer({ models, tools, tasks: true })),
    { arbitrary: { runs: 250, size: 200 }, timeout: 120_000 }
  )
})
