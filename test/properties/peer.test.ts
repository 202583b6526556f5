import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import { WireError } from "../../src/domain/wire/ErrorCode.ts"
import { call, cancel, failure, link, messageOf, note, result, routes } from "../support/Link.ts"

const silent = Logger.layer([])

/** A frame and the code of the answer that it is owed, by construction; `result` for a good one. */
interface Owed {
  readonly frame: unknown
  readonly id?: unknown
  readonly answer?: number | "result"
}

const garbage = Arbitrary.map(
  Arbitrary.schema(
    Schema.Union([
      Schema.Struct({ kind: Schema.Literal("torn"), at: Schema.Natural }),
      Schema.Struct({
        kind: Schema.Literal("no object"),
        value: Schema.Union([Schema.Finite, Schema.Boolean, Schema.Null])
      }),
      Schema.Struct({ kind: Schema.Literal("batch"), values: Schema.Array(Schema.Json) }),
      Schema.Struct({ kind: Schema.Literal("no version"), value: Schema.Json }),
      Schema.Struct({ kind: Schema.Literal("id"), value: Schema.Union([Schema.Boolean, Schema.Array(Schema.Json)]) }),
      Schema.Struct({ kind: Schema.Literal("method"), value: Schema.Finite }),
      Schema.Struct({ kind: Schema.Literal("unknown"), value: Schema.Json }),
      Schema.Struct({ kind: Schema.Literal("dies"), value: Schema.Json }),
      Schema.Struct({ kind: Schema.Literal("fails"), value: Schema.Json }),
      Schema.Struct({ kind: Schema.Literal("note"), value: Schema.Json }),
      Schema.Struct({ kind: Schema.Literal("broken note"), value: Schema.Json }),
      Schema.Struct({ kind: Schema.Literal("answer"), value: Schema.Json }),
      Schema.Struct({ kind: Schema.Literal("half an answer"), value: Schema.Json }),
      Schema.Struct({ kind: Schema.Literal("cancel"), value: Schema.Json }),
      Schema.Struct({ kind: Schema.Literal("good"), value: Schema.Json })
    ])
  ),
  (spec) =>
    (id: string): Owed => {
      switch (spec.kind) {
        case "torn": {
          const text = JSON.stringify(call(id, "echo", {}))
          return { frame: text.slice(0, 1 + (spec.at % (text.length - 1))), id: null, answer: -32700 }
        }
        case "no object":
          return { frame: JSON.stringify(spec.value), id: null, answer: -32600 }
        case "batch":
          return { frame: JSON.stringify([call(id, "echo", {}), ...spec.values]), id: null, answer: -32600 }
        case "no version":
          return { frame: { id, method: "echo", params: spec.value }, id: null, answer: -32600 }
        case "id":
          return { frame: call(spec.value, "echo", {}), id: null, answer: -32600 }
        case "method":
          return { frame: { jsonrpc: "2.0", id, method: spec.value }, id: null, answer: -32600 }
        case "unknown":
          return { frame: call(id, "no such method", spec.value), id, answer: -32601 }
        case "dies":
          return { frame: call(id, "dies", spec.value), id, answer: -32603 }
        case "fails":
          return { frame: call(id, "fails", spec.value), id, answer: 7 }
        case "note":
          return { frame: note("unknown", spec.value) }
        case "broken note":
          return { frame: note("dies", spec.value) }
        case "answer":
          return { frame: { jsonrpc: "2.0", id: 12345, result: spec.value } }
        case "half an answer":
          return { frame: { jsonrpc: "2.0", id: 12345, other: spec.value } }
        case "cancel":
          return { frame: note("$/cancel_request", { requestId: spec.value }) }
        case "good":
          return { frame: call(id, "echo", { value: spec.value }), id, answer: "result" }
      }
    }
)

const codeOf = (message: unknown) => {
  const { error, id } = messageOf(message)
  return { id, answer: error?.code ?? "result" }
}

const byText = (left: unknown, right: unknown) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1)

/** What may happen to requests of either side, in any order. */
const Step = Schema.Struct({
  act: Schema.Literals(["open", "cancel", "release", "ask", "answer", "refuse", "abandon"]),
  which: Schema.Natural
})

/** Lets what was sent be read, and what follows from it be done. */
const settled = Effect.forEach([1, 2, 3, 4, 5], () => Effect.yieldNow, { discard: true })

const outcome = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.match(exit, {
    onSuccess: String,
    onFailure: (cause) => (Cause.hasInterruptsOnly(cause) ? "abandoned" : String(Cause.squash(cause)))
  })

const saidOf = Schema.decodeUnknownSync(
  Schema.Struct({
    id: Schema.optionalKey(Schema.Unknown),
    method: Schema.optionalKey(Schema.String),
    params: Schema.optionalKey(
      Schema.Struct({ request: Schema.optionalKey(Schema.Int), requestId: Schema.optionalKey(Schema.Int) })
    ),
    error: Schema.optionalKey(Schema.Struct({ code: Schema.Int, message: Schema.String }))
  })
)

describe("the peer", () => {
  it.effect.prop(
    "answers each frame that is owed an answer exactly once, whatever surrounds it",
    [Arbitrary.array(garbage, { maxLength: 30 })],
    ([specs]) =>
      Effect.gen(function* () {
        const { agent, editor, rest, send, serving } = yield* link(
          routes(
            {
              echo: Effect.succeed,
              dies: () => Effect.die("died"),
              fails: () => Effect.fail(new WireError({ code: 7, message: "failed" }))
            },
            { dies: () => Effect.die("died") }
          )
        )
        const frames = [
          ...specs.map((spec, at) => spec(`r${at}`)),
          { frame: call("last", "echo", {}), id: "last", answer: "result" }
        ]
        yield* send(...frames.map(({ frame }) => frame))
        yield* editor.end
        yield* Fiber.join(serving)
        yield* agent.end
        const owed = frames.flatMap(({ answer, id }) => (answer === undefined ? [] : [{ id, answer }]))
        assert.deepStrictEqual((yield* rest).map(codeOf).sort(byText), owed.sort(byText))
      }).pipe(Effect.scoped, Effect.provide(silent)),
    { arbitrary: { runs: 300 } }
  )

  it.effect.prop(
    "keeps a plain model of open requests under any order of events, and leaves nothing alive",
    [Schema.Array(Step)],
    ([script]) =>
      Effect.gen(function* () {
        const gates: Array<Deferred.Deferred<void>> = []
        let alive = 0
        const { agent, editor, peer, rest, send, serving } = yield* link((self) =>
          routes({
            wait: (params, request) =>
              Effect.acquireUseRelease(
                Effect.sync(() => {
                  alive++
                  const gate = Deferred.makeUnsafe<void>()
                  gates.push(gate)
                  return gate
                }),
                (gate) => Effect.andThen(request.afterReply(self.notify("after", params)), Deferred.await(gate)),
                () => Effect.sync(() => alive--)
              )
          })
        )
        // The model: what each request must come to. An event counts only while the request is open.
        const served: Array<"open" | "released" | "cancelled"> = []
        const asked: Array<{ is: string; readonly fiber: Fiber.Fiber<unknown, unknown> }> = []
        for (const { act, which } of script) {
          const id = which % Math.max(1, served.length)
          const own = which % Math.max(1, asked.length)
          const question = asked[own]
          switch (act) {
            case "open":
              yield* send(call(served.length, "wait", { request: served.length }))
              served.push("open")
              break
            case "cancel":
              yield* send(cancel(id))
              if (served[id] === "open") served[id] = "cancelled"
              break
            case "release":
              yield* settled
              if (gates[id] !== undefined) yield* Deferred.succeed(gates[id], undefined)
              if (served[id] === "open") served[id] = "released"
              break
            case "ask":
              asked.push({
                is: "open",
                fiber: yield* Effect.forkChild(peer.request("own", {}), { startImmediately: true })
              })
              break
            case "answer":
              yield* send(result(own, "answered"))
              yield* settled
              if (question?.is === "open") question.is = "answered"
              break
            case "refuse":
              yield* send(failure(own, 5, "refused"))
              yield* settled
              if (question?.is === "open") question.is = "WireError: refused"
              break
            case "abandon":
              if (question !== undefined) yield* Fiber.interrupt(question.fiber)
              if (question?.is === "open") question.is = "abandoned"
          }
        }
        yield* editor.end
        yield* Fiber.join(serving)
        yield* agent.end
        const said = (yield* rest).map((message) => saidOf(message))
        for (const [id, is] of served.entries()) {
          const about = said.filter((message) => message.id === id && message.method === undefined)
          assert.deepStrictEqual(about.map(codeOf), [{ id, answer: is === "released" ? "result" : -32800 }])
          const after = said.filter(({ method, params }) => method === "after" && params?.request === id)
          assert.strictEqual(after.length, is === "released" ? 1 : 0)
          for (const message of after)
            assert.isAbove(
              said.indexOf(message),
              said.findIndex((one) => one === about[0])
            )
        }
        for (const [id, { fiber, is }] of asked.entries()) {
          assert.strictEqual(
            outcome(yield* Fiber.await(fiber)),
            is === "open" ? "ConnectionClosed: The connection is closed" : is
          )
          const withdrawn = said.filter(
            ({ method, params }) => method === "$/cancel_request" && params?.requestId === id
          )
          assert.isAtMost(withdrawn.length, is === "abandoned" ? 1 : 0)
        }
        assert.strictEqual(alive, 0)
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 300 } }
  )
})
