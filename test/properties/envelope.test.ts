import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
// The official library's own judgement of what a message is; it does not export it.
import * as official from "../../node_modules/@agentclientprotocol/sdk/dist/core/jsonrpc.js"
import * as JsonRpc from "../../src/domain/wire/JsonRpc.ts"
import * as RequestId from "../../src/domain/wire/RequestId.ts"

const options = { arbitrary: { runs: 500 } }

const tags = ["Request", "Notification", "Cancel", "Response", "Invalid", "Ignored"]

const jsonrpc = Schema.Union([Schema.Literals(["2.0", "1.0"]), Schema.Json])
const id = Schema.Union([Schema.Int, Schema.String, Schema.Null, Schema.Finite, Schema.Json])
const method = Schema.Union([Schema.Literals(["session/prompt", "$/cancel_request"]), Schema.String, Schema.Json])
const error = Schema.Union([
  Schema.Struct({ code: Schema.Int, message: Schema.String, data: Schema.optionalKey(Schema.Json) }),
  Schema.Struct({ code: Schema.Json, message: Schema.Json }),
  Schema.Json
])

/** Objects that are nearly messages: each field may be there, be right, or be anything. */
const Nearly = Schema.Struct({
  jsonrpc: Schema.optionalKey(jsonrpc),
  id: Schema.optionalKey(id),
  method: Schema.optionalKey(method),
  params: Schema.optionalKey(Schema.Json),
  result: Schema.optionalKey(Schema.Json),
  error: Schema.optionalKey(error)
})

/** The ids that ACP allows: JSON text by construction. */
const idText = Arbitrary.map(
  Arbitrary.schema(
    Schema.Union([
      Schema.Struct({ kind: Schema.Literal("text"), text: Schema.String }),
      Schema.Struct({ kind: Schema.Literal("integer"), value: Schema.Int }),
      Schema.Struct({
        kind: Schema.Literal("large"),
        digits: Schema.Array(Schema.Literals(["0", "1", "2", "7", "9"])),
        negative: Schema.Boolean
      }),
      Schema.Struct({ kind: Schema.Literal("null") })
    ])
  ),
  (spec) => {
    switch (spec.kind) {
      case "text":
        return JSON.stringify(spec.text)
      case "integer":
        return String(spec.value)
      case "large":
        return `${spec.negative ? "-" : ""}98765432109876543${spec.digits.join("")}`
      case "null":
        return "null"
    }
  }
)

/** Integers beyond 2^53 are ids too, as long as their text has only digits (RPC-02). */
const isUsableId = (id: unknown): boolean =>
  RequestId.fromJson(id) !== undefined || /^-?\d+$/.test(JSON.stringify(id) ?? "")

const agrees = (fields: typeof Nearly.Type) =>
  Effect.sync(() => {
    const text = JSON.stringify(fields)
    const message = JsonRpc.parse(text)
    const value: unknown = JSON.parse(text)
    const usable = !("id" in fields) || isUsableId(fields.id)
    if (official.isRequestMessage(value)) {
      // Fractional ids pass there; here they are refused, as version 2 does.
      assert.strictEqual(message._tag, usable ? "Request" : "Invalid")
    } else if (official.isNotificationMessage(value)) {
      assert.include(["Notification", "Cancel", "Ignored"], message._tag)
      if (message._tag !== "Notification") assert.strictEqual(fields.method, "$/cancel_request")
    } else if (official.isResponseMessage(value)) {
      assert.strictEqual(message._tag, usable ? "Response" : "Ignored")
      if (message._tag === "Response" && fields.error === undefined) {
        assert.deepStrictEqual(message.outcome, Result.succeed(fields.result))
      }
    } else if (!("method" in fields) && ("id" in fields || "result" in fields || "error" in fields)) {
      assert.include(["Response", "Ignored"], message._tag)
      if (message._tag === "Response" && fields.error !== null) assert.isTrue(Result.isFailure(message.outcome))
    } else {
      assert.strictEqual(message._tag === "Invalid" && message.code, -32600)
    }
  })

describe("the envelope", () => {
  it.effect.prop(
    "of any text is exactly one kind of message",
    [Schema.String],
    ([text]) => Effect.sync(() => assert.include(tags, JsonRpc.parse(text)._tag)),
    options
  )

  it.effect.prop(
    "of any JSON that is no object is refused, and never looks like more",
    [Schema.Json],
    ([value]) =>
      Effect.sync(() => {
        const message = JsonRpc.parse(JSON.stringify(value))
        assert.include(tags, message._tag)
        if (typeof value !== "object" || value === null || Array.isArray(value)) {
          assert.strictEqual(message._tag === "Invalid" && message.code, -32600)
        }
      }),
    options
  )

  it.effect.prop("of near misses agrees with the official library", [Nearly], ([fields]) => agrees(fields), {
    arbitrary: { runs: 2000 }
  })

  it.effect("of an answer to an integer beyond 2^53 agrees with the official library", () =>
    agrees({ id: -9007199261734458, error: { code: -5, message: "kj15", data: null }, jsonrpc: "2.0" })
  )

  it.effect.prop(
    "returns every id with its type and digits, from requests, answers and cancellations",
    [idText, Schema.Json],
    ([text, params]) =>
      Effect.sync(() => {
        const around = JSON.stringify({ id: 1, requestId: 2, params })
        const request = JsonRpc.parse(`{"jsonrpc":"2.0","params":${around},"id":${text},"method":"a"}`)
        if (request._tag !== "Request") return assert.fail(request._tag)
        assert.strictEqual(JsonRpc.encodeResult(request.id, null), `{"jsonrpc":"2.0","id":${text},"result":null}`)
        const response = JsonRpc.parse(`{"jsonrpc":"2.0","id":${text},"result":${around}}`)
        assert.strictEqual(response._tag === "Response" && response.id, request.id)
        const cancel = JsonRpc.parse(JsonRpc.encodeCancel(request.id))
        assert.strictEqual(cancel._tag === "Cancel" && cancel.id, request.id)
      }),
    options
  )

  it.effect.prop(
    "that is written is read back as the same message",
    [Schema.Natural, Schema.String, Schema.Json],
    ([count, name, value]) =>
      Effect.sync(() => {
        const id = RequestId.fromCount(count)
        const params = { value }
        const request = JsonRpc.parse(JsonRpc.encodeRequest(id, name, params))
        assert.deepStrictEqual(request, {
          _tag: "Request",
          id,
          method: name,
          params: JSON.parse(JSON.stringify(params))
        })
        const notification = JsonRpc.parse(JsonRpc.encodeNotification(`_${name}`, params))
        assert.strictEqual(notification._tag, "Notification")
        const line = JsonRpc.encodeResult(id, value)
        assert.notMatch(line, /[\n\r]/)
        assert.isTrue(official.isResponseMessage(JSON.parse(line)))
        assert.isTrue(
          official.isResponseMessage(JSON.parse(JsonRpc.encodeError(id, { code: count, message: name, data: value })))
        )
      }),
    options
  )
})
