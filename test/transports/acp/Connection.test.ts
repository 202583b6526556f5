/** A whole connection, driven by the official SDK's client, and how it ends. */
import { client, methods } from "@agentclientprotocol/sdk"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { AgentShape } from "../../../src/services/Agent.ts"
import { Agent } from "../../../src/services/Agent.ts"
import { MessageId, ToolCallId } from "../../../src/domain/Ids.ts"
import { serve } from "../../../src/transports/acp/Connection.ts"
import * as Memory from "../../../src/transports/Memory.ts"
import { makeFakeAgent } from "../../support/FakeAgent.ts"
import { sdkStream } from "../../support/SdkClient.ts"

const connect = Effect.fnUntraced(function* (agent: AgentShape) {
  const link = yield* Memory.pair
  const serving = yield* Effect.forkScoped(Effect.provideService(serve(link.agent, { version: "1.2.3" }), Agent, agent))
  return { editor: link.editor, serving }
})

const messageId = MessageId.make("m-1")

describe("a connection", () => {
  it.effect("serves the official client: updates, a question and the answer, in order", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent((editor) => ({
        prompt: Effect.fnUntraced(function* (id) {
          const call = { id: ToolCallId.make("t-1"), patch: { title: "Run ls" } }
          yield* editor.emit(id, { _tag: "TextDelta", messageId, text: "Let me see. " })
          yield* editor.emit(id, {
            _tag: "ToolCallStarted",
            call: {
              id: call.id,
              name: "bash",
              title: "Run ls",
              kind: "execute",
              status: "pending",
              locations: [],
              content: []
            }
          })
          const answer = yield* editor.ask({
            sessionId: id,
            call,
            options: [{ id: "yes", name: "Allow", kind: "allow_once" }]
          })
          const status = answer._tag === "Selected" ? "completed" : "failed"
          yield* editor.emit(id, { _tag: "ToolCallUpdated", id: call.id, patch: { status } })
          return { stopReason: "end_turn" }
        })
      }))
      const { editor } = yield* connect(fake.agent)
      const { problems, stream } = yield* sdkStream(editor)
      const seen: Array<string> = []
      const app = client({ name: "editor" })
        .onNotification(methods.client.session.update, ({ params }) => {
          seen.push(params.update.sessionUpdate)
        })
        .onRequest(methods.client.session.requestPermission, ({ params }) => {
          seen.push("question")
          return { outcome: { outcome: "selected", optionId: params.options[0]?.optionId ?? "" } }
        })
      const stopReason = yield* Effect.promise(() =>
        app.connectWith(stream, async (agent) => {
          await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} })
          const { sessionId } = await agent.request(methods.agent.session.new, { cwd: "/w", mcpServers: [] })
          const result = await agent.request(methods.agent.session.prompt, {
            sessionId,
            prompt: [{ type: "text", text: "go" }]
          })
          seen.push("answer")
          return result.stopReason
        })
      )
      assert.strictEqual(stopReason, "end_turn")
      assert.deepStrictEqual(seen, ["agent_message_chunk", "tool_call", "question", "tool_call_update", "answer"])
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("ends with its input: what it started is interrupted and what it opened is closed", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const ended: Array<string> = []
      const fake = makeFakeAgent(() => ({
        prompt: () =>
          Deferred.succeed(started, undefined).pipe(
            Effect.andThen(Effect.never),
            Effect.onInterrupt(() => Effect.sync(() => ended.push("turn"))),
            Effect.as({ stopReason: "end_turn" })
          )
      }))
      const agent: AgentShape = {
        ...fake.agent,
        connect: (editor, options) =>
          Effect.acquireRelease(fake.agent.connect(editor, options), () => Effect.sync(() => ended.push("connection")))
      }
      const { editor, serving } = yield* connect(agent)
      yield* editor.send([
        '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}',
        '{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":""}]}}'
      ])
      yield* Deferred.await(started)
      yield* editor.end
      yield* Fiber.join(serving)
      assert.deepStrictEqual(ended, ["turn", "connection"])
    })
  )
})
