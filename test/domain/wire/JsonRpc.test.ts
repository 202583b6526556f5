import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ErrorCode, WireError } from "../../../src/domain/wire/ErrorCode.ts"
import * as JsonRpc from "../../../src/domain/wire/JsonRpc.ts"
import * as RequestId from "../../../src/domain/wire/RequestId.ts"

const test = (name: string, check: () => void) => it.effect(name, () => Effect.sync(check))

/** The tag, and for a request its id, for an error its code. */
const told = (text: string): string => {
  const message = JsonRpc.parse(text)
  switch (message._tag) {
    case "Request":
    case "Cancel":
      return `${message._tag} ${message.id}`
    case "Response":
      return `Response ${message.id} ${Result.isSuccess(message.outcome) ? "result" : message.outcome.failure.message}`
    case "Invalid":
      return `${message.code} ${message.id}`
    default:
      return message._tag
  }
}

const table = (rows: Readonly<Record<string, string>>) => () => {
  for (const [text, expected] of Object.entries(rows)) assert.strictEqual(told(text), expected, text)
}

describe("parse", () => {
  test("reads the three kinds of message", () => {
    assert.deepStrictEqual(JsonRpc.parse('{"jsonrpc":"2.0","id":0,"method":"a","params":{"b":[1]}}'), {
      _tag: "Request",
      id: RequestId.fromCount(0),
      method: "a",
      params: { b: [1] }
    })
    assert.deepStrictEqual(JsonRpc.parse('{"jsonrpc":"2.0","method":"a","params":[1]}'), {
      _tag: "Notification",
      method: "a",
      params: [1]
    })
    assert.deepStrictEqual(JsonRpc.parse('{"jsonrpc":"2.0","id":7,"result":null}'), {
      _tag: "Response",
      id: RequestId.fromCount(7),
      outcome: Result.succeed(null)
    })
    assert.deepStrictEqual(
      JsonRpc.parse('{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no","data":{"why":1},"more":2}}'),
      {
        _tag: "Response",
        id: RequestId.fromCount(7),
        outcome: Result.fail(new WireError({ code: -1, message: "no", data: { why: 1 } }))
      }
    )
  })

  test("RPC-15: absent and null params are an empty object", () => {
    for (const params of ["", ',"params":null', ',"params":{}']) {
      const message = JsonRpc.parse(`{"jsonrpc":"2.0","id":1,"method":"a"${params}}`)
      assert.deepStrictEqual(message._tag === "Request" ? message.params : message, {})
    }
  })

  test(
    "RPC-02: ids keep value and type, and integers beyond 2^53 every digit",
    table({
      '{"jsonrpc":"2.0","id":-1,"method":"a"}': "Request -1",
      '{"jsonrpc":"2.0","id":9007199254740991,"method":"a"}': "Request 9007199254740991",
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}': "Request 9007199254740993",
      '{"jsonrpc":"2.0","id" : -12345678901234567890123,"method":"a"}': "Request -12345678901234567890123",
      '{"id":9007199254740995,"params":{"id":9007199254740997},"method":"a","jsonrpc":"2.0"}':
        "Request 9007199254740995",
      '{"\\u0069d":9007199254740993,"method":"a","jsonrpc":"2.0"}': "Request 9007199254740993",
      '{"jsonrpc":"2.0","id":9007199254740993,"result":{"id":9007199254740995}}': "Response 9007199254740993 result",
      '{"jsonrpc":"2.0","id":"","method":"a"}': 'Request ""',
      '{"jsonrpc":"2.0","id":"1","method":"a"}': 'Request "1"',
      '{"jsonrpc":"2.0","id":"\\u0061\\n\\ud800","method":"a"}': 'Request "a\\n\\ud800"',
      '{"jsonrpc":"2.0","id":null,"method":"a"}': "Request null"
    })
  )

  test(
    "numbers that are integers by value come back in plain digits",
    table({
      '{"jsonrpc":"2.0","id":-0,"method":"a"}': "Request 0",
      '{"jsonrpc":"2.0","id":1.0,"method":"a"}': "Request 1",
      '{"jsonrpc":"2.0","id":1e3,"method":"a"}': "Request 1000"
    })
  )

  test(
    "RPC-09: ids of any other kind are refused without id",
    table({
      '{"jsonrpc":"2.0","id":1.5,"method":"a"}': "-32600 null",
      '{"jsonrpc":"2.0","id":1e300,"method":"a"}': "-32600 null",
      '{"jsonrpc":"2.0","id":1e999,"method":"a"}': "-32600 null",
      '{"jsonrpc":"2.0","id":12345678901234567890.5,"method":"a"}': "-32600 null",
      '{"jsonrpc":"2.0","id":{},"method":"a"}': "-32600 null",
      '{"jsonrpc":"2.0","id":[1],"method":"a"}': "-32600 null",
      '{"jsonrpc":"2.0","id":true,"method":"a"}': "-32600 null"
    })
  )

  test(
    "RPC-08, RPC-09, RPC-10: what is no message says so",
    table({
      "": "-32700 null",
      "not json": "-32700 null",
      '{"jsonrpc":"2.0","id":1,"method":"a"': "-32700 null",
      "\u0000": "-32700 null",
      "42": "-32600 null",
      '"text"': "-32600 null",
      null: "-32600 null",
      "{}": "-32600 null",
      "[]": "-32600 null",
      '[{"jsonrpc":"2.0","id":1,"method":"a"}]': "-32600 null",
      '[{"jsonrpc":"2.0","method":"a"}]': "-32600 null",
      '{"id":1,"method":"a"}': "-32600 null",
      '{"jsonrpc":"1.0","id":1,"method":"a"}': "-32600 null",
      '{"jsonrpc":2,"method":"a"}': "-32600 null",
      '{"jsonrpc":"2.0","id":1,"method":7}': "-32600 null",
      '{"jsonrpc":"2.0","method":null}': "-32600 null",
      '{"jsonrpc":"2.0"}': "-32600 null"
    })
  )

  test(
    "RPC-11, RPC-12: an answer is never answered, and a malformed one names its request",
    table({
      '{"jsonrpc":"2.0","id":999,"result":{}}': "Response 999 result",
      '{"jsonrpc":"2.0","id":1,"error":null,"result":{}}': "Response 1 result",
      '{"jsonrpc":"2.0","id":1}': 'Response 1 The answer cannot be read: it has neither "result" nor "error"',
      '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"},"result":{}}':
        'Response 1 The answer cannot be read: it has both "result" and "error"',
      '{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}':
        'Response 1 The answer cannot be read: "error" needs an integer "code" and a text "message"',
      '{"jsonrpc":"2.0","id":1,"error":"x"}':
        'Response 1 The answer cannot be read: "error" needs an integer "code" and a text "message"',
      '{"jsonrpc":"2.0","result":{}}': "Ignored",
      '{"jsonrpc":"2.0","id":{},"result":{}}': "Ignored",
      '{"jsonrpc":"2.0","id":1.5,"result":{}}': "Ignored",
      '{"id":1,"result":{}}': "Ignored",
      '{"error":{}}': "Ignored"
    })
  )

  test(
    "CAN-07: a cancellation names a request by any id, or is ignored",
    table({
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}': "Cancel 0",
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"1"}}': 'Cancel "1"',
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":null}}': "Cancel null",
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":9007199254740993}}':
        "Cancel 9007199254740993",
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"_meta":{"requestId":9007199254740995},"requestId":9007199254740993}}':
        "Cancel 9007199254740993",
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1.5}}': "Ignored",
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":{}}}': "Ignored",
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":[]}': "Ignored",
      '{"jsonrpc":"2.0","method":"$/cancel_request"}': "Ignored",
      '{"jsonrpc":"2.0","id":3,"method":"$/cancel_request","params":{"requestId":1}}': "Request 3"
    })
  )

  test("duplicate keys and __proto__ change nothing but the message that holds them", () => {
    assert.strictEqual(told('{"jsonrpc":"1.0","jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}'), "Request 2")
    assert.strictEqual(
      told('{"jsonrpc":"2.0","id":1.5,"id":9007199254740993,"method":"b"}'),
      "Request 9007199254740993"
    )
    assert.strictEqual(told('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"a"}}'), "-32600 null")
    const message = JsonRpc.parse('{"jsonrpc":"2.0","method":"a","params":{"__proto__":{"polluted":1}}}')
    assert.deepStrictEqual(message._tag === "Notification" && Object.keys(Object(message.params)), ["__proto__"])
    assert.isFalse(Object.hasOwn(Object.prototype, "polluted"))
  })

  test("nesting deeper than the stack is no more than data", () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000)
    assert.strictEqual(told(`{"jsonrpc":"2.0","id":1,"method":"a","params":${deep}}`), "Request 1")
    assert.strictEqual(told(`{"jsonrpc":"2.0","id":9007199254740993,"method":"a","params":${deep}}`), "-32600 null")
    assert.strictEqual(told(`{"jsonrpc":"2.0","id":1,"result":${deep}}`), "Response 1 result")
    const data = '{"a":'.repeat(200_000) + "1" + "}".repeat(200_000)
    assert.strictEqual(told(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x","data":${data}}}`), "Response 1 x")
    assert.strictEqual(told(deep), "-32600 null")
    assert.strictEqual(told("[".repeat(200_000)), "-32700 null")
  })

  test("RPC-14: refusals are one short line without values of the message", () => {
    const secret = "sk-do-not-repeat"
    for (const text of [
      secret,
      `"${secret}"`,
      `{"a":"${secret}"}`,
      `{"jsonrpc":"2.0","id":{"a":"${secret}"},"method":"a"}`
    ]) {
      const message = JsonRpc.parse(text)
      if (message._tag !== "Invalid") return assert.fail(message._tag)
      assert.match(message.message, /^[^\n]{1,100}$/)
      assert.notInclude(message.message, secret)
    }
  })
})

describe("encode", () => {
  const big = JsonRpc.parse('{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}')
  const id = big._tag === "Request" ? big.id : RequestId.nullId

  test("splices the id and leaves out what is absent", () => {
    assert.strictEqual(JsonRpc.encodeResult(id, { a: 1 }), '{"jsonrpc":"2.0","id":9007199254740993,"result":{"a":1}}')
    assert.strictEqual(JsonRpc.encodeResult(id, undefined), '{"jsonrpc":"2.0","id":9007199254740993,"result":null}')
    assert.strictEqual(
      JsonRpc.encodeError(RequestId.nullId, new WireError({ code: ErrorCode.ParseError, message: "no" })),
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}'
    )
    assert.strictEqual(
      JsonRpc.encodeError(id, new WireError({ code: -1, message: "no", data: { why: [] } })),
      '{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-1,"message":"no","data":{"why":[]}}}'
    )
    assert.strictEqual(
      JsonRpc.encodeRequest(RequestId.fromCount(0), "a", { b: 1 }),
      '{"jsonrpc":"2.0","id":0,"method":"a","params":{"b":1}}'
    )
    assert.strictEqual(JsonRpc.encodeNotification("a", undefined), '{"jsonrpc":"2.0","method":"a"}')
    assert.strictEqual(
      JsonRpc.encodeCancel(RequestId.fromCount(5)),
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}'
    )
  })

  test("TR-01: any text is one line of valid UTF-8, lone surrogates too", () => {
    const text = 'a\nb\r\u2028"\\\u0000\ud800 漢🎉 \udc00'
    const line = JsonRpc.encodeNotification("a", { text })
    assert.notMatch(line, /[\n\r]/)
    assert.isTrue(line.isWellFormed())
    assert.deepStrictEqual(JSON.parse(line), { jsonrpc: "2.0", method: "a", params: { text } })
  })
})
