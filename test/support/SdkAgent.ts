/** The official SDK's agent as oracle of what an agent has to read, and what it makes of it. */
import { agent, type AnyMessage } from "@agentclientprotocol/sdk"
import * as Effect from "effect/Effect"

export type Reading =
  | { readonly _tag: "Read"; readonly params: unknown }
  | { readonly _tag: "Refused"; readonly code: number }

export interface SdkAgent {
  /** What a handler of the SDK is given for `params`, or the code of its refusal. */
  readonly read: (method: string, params: unknown) => Effect.Effect<Reading>
}

export const makeSdkAgent = Effect.gen(function* () {
  let seen: unknown
  const answer =
    <Result>(result: Result) =>
    ({ params }: { readonly params: unknown }): Result => {
      seen = params
      return result
    }

  const app = agent({ name: "oracle" })
    .onRequest("initialize", answer({ protocolVersion: 1 }))
    .onRequest("authenticate", answer({}))
    .onRequest("logout", answer({}))
    .onRequest("session/new", answer({ sessionId: "s" }))
    .onRequest("session/load", answer({}))
    .onRequest("session/resume", answer({}))
    .onRequest("session/list", answer({ sessions: [] }))
    .onRequest("session/close", answer({}))
    .onRequest("session/delete", answer({}))
    .onRequest("session/set_mode", answer({}))
    .onRequest("session/set_config_option", answer({ configOptions: [] }))
    .onRequest("session/prompt", answer({ stopReason: "end_turn" as const }))

  const toAgent = new TransformStream<AnyMessage, AnyMessage>()
  const fromAgent = new TransformStream<AnyMessage, AnyMessage>()
  yield* Effect.acquireRelease(
    Effect.sync(() => app.connect({ readable: toAgent.readable, writable: fromAgent.writable })),
    (connection) => Effect.sync(() => connection.close())
  )
  const writer = toAgent.writable.getWriter()
  const reader = fromAgent.readable.getReader()
  let id = 0

  const read = Effect.fnUntraced(function* (method: string, params: unknown) {
    seen = undefined
    yield* Effect.promise(() => writer.write({ jsonrpc: "2.0", id: id++, method, params }))
    const { value } = yield* Effect.promise(() => reader.read())
    const reading: Reading =
      value !== undefined && "error" in value
        ? { _tag: "Refused", code: value.error.code }
        : { _tag: "Read", params: seen }
    return reading
  })

  // It refuses everything else before.
  yield* read("initialize", { protocolVersion: 1 })
  const oracle: SdkAgent = { read }
  return oracle
})
