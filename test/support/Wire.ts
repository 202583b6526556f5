/** One connection over the linked transport, driven by raw messages. Every line of the agent passes the oracle. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ExecutionMode } from "../../src/domain/permission/ExecutionMode.ts"
import { Agent, type AgentShape } from "../../src/services/Agent.ts"
import { serve } from "../../src/transports/acp/Connection.ts"
import * as Memory from "../../src/transports/Memory.ts"
import { isObject, makeOracle } from "./Schema.ts"

type Json = Schema.Json

export interface Wire {
  readonly send: (message: Json) => Effect.Effect<void>
  /** The next line of the agent. */
  readonly next: Effect.Effect<Schema.JsonObject>
  /** Sends a request, and waits for its answer; what comes before goes to `seen`. */
  readonly request: (method: string, params?: Json) => Effect.Effect<Schema.JsonObject>
  readonly notify: (method: string, params?: Json) => Effect.Effect<void>
  /** Every line of the agent so far, in order. */
  readonly seen: ReadonlyArray<Schema.JsonObject>
}

export const makeWire = Effect.fnUntraced(function* (agent: AgentShape, ceiling?: ExecutionMode) {
  const oracle = makeOracle()
  const link = yield* Memory.pair
  const lines = yield* Queue.unbounded<string>()
  const seen: Array<Schema.JsonObject> = []
  let id = 0

  yield* Effect.forkScoped(
    Stream.runForEach(link.editor.incoming, (frame) =>
      frame._tag === "Text" ? Queue.offer(lines, frame.text) : Effect.void
    )
  )
  yield* Effect.forkScoped(
    Effect.provideService(
      serve(link.agent, { version: "1.2.3", ...(ceiling === undefined ? {} : { ceiling }) }),
      Agent,
      agent
    )
  )

  const send = (message: Json) =>
    Effect.suspend(() => {
      const line = JSON.stringify(message)
      oracle.sent(line)
      return link.editor.send([line])
    })

  const next = Effect.map(Queue.take(lines), (line) => {
    assert.deepStrictEqual(oracle.received(line), [], line)
    const message: Json = JSON.parse(line)
    if (!isObject(message)) return assert.fail(line)
    seen.push(message)
    return message
  })

  const request = Effect.fnUntraced(function* (method: string, params?: Json) {
    const mine = id++
    yield* send({ jsonrpc: "2.0", id: mine, method, ...(params === undefined ? {} : { params }) })
    while (true) {
      const message = yield* next
      if (message["id"] === mine && message["method"] === undefined) return message
    }
  })

  const wire: Wire = {
    send,
    next,
    request,
    notify: (method, params) => send({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) }),
    seen
  }
  return wire
})

/** As `makeWire`, already initialized. */
export const makeOpenWire = Effect.fnUntraced(function* (
  agent: AgentShape,
  clientCapabilities: Json = {},
  ceiling?: ExecutionMode
) {
  const wire = yield* makeWire(agent, ceiling)
  const answer = yield* wire.request("initialize", { protocolVersion: 1, clientCapabilities })
  assert.isUndefined(answer["error"])
  return wire
})
