/** Turns over the wire: conformance §8 and §9. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { MessageId } from "../../../../src/domain/Ids.ts"
import type { Outcome } from "../../../../src/domain/Turn.ts"
import { makeFakeAgent } from "../../../support/FakeAgent.ts"
import { at } from "../../../support/Schema.ts"
import { makeOpenWire } from "../../../support/Wire.ts"

type Json = Schema.Json

describe("a turn", () => {
  const text = { type: "text", text: "hello" } as const
  const link = { type: "resource_link", uri: "file:///a", name: "a", size: 3 } as const
  const resource = { type: "resource", resource: { uri: "file:///b", mimeType: "text/plain", text: "b" } } as const
  const image = { type: "image", data: "AA==", mimeType: "image/png" } as const
  const audio = { type: "audio", data: "AA==", mimeType: "audio/wav" } as const

  it.effect("TRN-02: content arrives in order, without what says how to show it", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeOpenWire(fake.agent)
      const prompt = [
        { ...text, annotations: { priority: 1 }, _meta: { a: 1 } },
        link,
        { ...resource, resource: { ...resource.resource, _meta: { b: 2 } } },
        image
      ]
      const { result } = yield* wire.request("session/prompt", {
        sessionId: "s-1",
        prompt,
        _meta: { traceparent: "x" }
      })
      assert.deepStrictEqual(result, { stopReason: "end_turn" })
      assert.deepStrictEqual(fake.intents, [{ name: "prompt", args: ["s-1", [text, link, resource, image]] }])
    })
  )

  it.effect("TRN-03, TRN-17: what is not advertised, or nothing at all, is refused and nothing runs", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent(() => ({
        describe: Effect.succeed({
          authMethods: [],
          harnesses: [],
          defaultHarness: "none",
          image: false,
          mcpHttp: false
        })
      }))
      const wire = yield* makeOpenWire(fake.agent)
      for (const [prompt, field] of [
        [[text, image], "prompt[1]: image"],
        [[audio], "prompt[0]: audio"],
        [[], "prompt: expected at least one"]
      ] as const) {
        const { error } = yield* wire.request("session/prompt", { sessionId: "s-1", prompt })
        assert.strictEqual(at(error, "code"), -32602)
        assert.include(at(error, "message"), field)
      }
      assert.deepStrictEqual(fake.intents, [])
    })
  )

  const usage = { inputTokens: 1, outputTokens: 2, thoughtTokens: 0, cachedReadTokens: 0, cachedWriteTokens: 0 }
  const failed = { kind: "rate_limit", message: "slow down", status: 429, retryAfter: 2.5 } as const
  const outcomes: ReadonlyArray<readonly [Outcome, Json]> = [
    [{ stopReason: "end_turn" }, { stopReason: "end_turn" }],
    [
      { stopReason: "max_tokens", usage },
      { stopReason: "max_tokens", _meta: { superPi: { usage } } }
    ],
    [{ stopReason: "cancelled" }, { stopReason: "cancelled" }],
    [{ stopReason: "max_turn_requests" }, { stopReason: "max_turn_requests" }],
    [
      { stopReason: "refusal", error: failed, usage },
      { stopReason: "refusal", _meta: { superPi: { error: failed, usage } } }
    ]
  ]
  for (const [outcome, expected] of outcomes) {
    it.effect(`TRN-01: ${JSON.stringify(outcome)}`, () =>
      Effect.gen(function* () {
        const fake = makeFakeAgent(() => ({ prompt: () => Effect.succeed(outcome) }))
        const wire = yield* makeOpenWire(fake.agent)
        const { result } = yield* wire.request("session/prompt", { sessionId: "s-1", prompt: [text] })
        assert.deepStrictEqual(result, expected)
      })
    )
  }

  it.effect("TRN-04, CAN-05: updates come before the answer; a cancel is heard meanwhile and never answered", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent((editor) => ({
        prompt: (id) =>
          editor
            .emit(id, { _tag: "TextDelta", messageId: MessageId.make("m"), text: "Hi" })
            .pipe(Effect.andThen(Effect.never), Effect.as({ stopReason: "end_turn" }))
      }))
      const wire = yield* makeOpenWire(fake.agent)
      yield* wire.send({
        jsonrpc: "2.0",
        id: "p",
        method: "session/prompt",
        params: { sessionId: "s-1", prompt: [text] }
      })
      assert.strictEqual((yield* wire.next)["method"], "session/update")
      yield* wire.notify("session/cancel", { sessionId: "s-1", _meta: {} })
      yield* wire.notify("session/cancel", { sessionId: 5 })
      yield* wire.notify("session/cancel")
      yield* wire.request("session/list")
      assert.deepStrictEqual(
        fake.intents.filter(({ name }) => name === "cancel"),
        [{ name: "cancel", args: ["s-1"] }]
      )
      yield* wire.notify("$/cancel_request", { requestId: "p" })
      const answer = yield* wire.next
      assert.deepStrictEqual([answer["id"], at(answer["error"], "code")], ["p", -32800])
    })
  )
})
