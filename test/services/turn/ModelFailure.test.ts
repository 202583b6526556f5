import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import { fromFacts, fromNetwork } from "../../../src/services/models/provider/ProviderFailure.ts"
import { isRefused, pauseBeforeRetry, toTurnError } from "../../../src/services/turn/ModelFailure.ts"

const context = { provider: "local", secrets: [] }

const answered = (status: number, message = "words of the provider", retryAfter?: number) =>
  fromFacts(
    {
      status,
      message,
      code: "",
      url: "http://localhost",
      retryAfter: retryAfter === undefined ? undefined : Duration.seconds(retryAfter)
    },
    context
  )

const foreign = (reason: AiError.AiErrorReason) => AiError.make({ module: "Own", method: "streamText", reason })

describe("ModelFailure", () => {
  it("tells a person what happened and what to do, with the provider's own words", () => {
    const kinds = ([401, 403, 400, 404, 429, 500, 529] as const).map((status) => {
      const error = toTurnError(answered(status))
      assert.include(error.message, "words of the provider")
      assert.strictEqual(error.status, status)
      return [status, error.kind]
    })
    assert.deepStrictEqual(kinds, [
      [401, "authentication"],
      [403, "authentication"],
      [400, "invalid_request"],
      [404, "model_unavailable"],
      [429, "rate_limit"],
      [500, "overloaded"],
      [529, "overloaded"]
    ])
    assert.strictEqual(toTurnError(fromNetwork("refused", "http://localhost", context)).kind, "network")
    assert.strictEqual(toTurnError(answered(429, "slow down", 7)).retryAfter, 7)
  })

  it("gives advice once", () => {
    const said = (error: AiError.AiError) => /\((.*)\)$/s.exec(toTurnError(error).message)?.[1]
    assert.strictEqual(
      said(fromNetwork("refused", "http://localhost/v1", context)),
      "refused; request to http://localhost/v1"
    )
    assert.strictEqual(said(answered(401, "no such key")), "no such key")
    assert.strictEqual(said(answered(400, "prompt is too long")), "prompt is too long")
    assert.strictEqual(
      said(foreign(new AiError.AuthenticationError({ kind: "ExpiredKey" }))),
      "ExpiredKey: Your API key has expired. Generate a new one"
    )
  })

  it("knows a conversation that is too long by our adapter's mark or by a foreign model's words", () => {
    assert.strictEqual(toTurnError(answered(400, "prompt is too long: 9 tokens > 8 maximum")).kind, "context_overflow")
    const words = "Input exceeds the model's token limit"
    const error = foreign(new AiError.InvalidRequestError({ description: words }))
    assert.strictEqual(toTurnError(error).kind, "context_overflow")
  })

  it("takes for refused what the provider would refuse again", () => {
    const refused = [answered(400), answered(400, "prompt is too long"), answered(400, "content_policy violation")]
    for (const error of refused) assert.isTrue(isRefused(toTurnError(error)), error.message)
    for (const status of [401, 403, 404, 429, 500, 529]) assert.isFalse(isRefused(toTurnError(answered(status))))
    assert.isFalse(isRefused(toTurnError(fromNetwork("refused", "http://localhost", context))))
  })

  it("waits longer with each try, as long as the provider asks, and not for ever", () => {
    const seconds = (tries: number, error: AiError.AiError) => {
      const pause = pauseBeforeRetry(error, tries)
      return pause === undefined ? undefined : Duration.toSeconds(pause)
    }
    assert.deepStrictEqual(
      [1, 2, 3, 4].map((tries) => seconds(tries, answered(529))),
      [1, 2, 4, undefined]
    )
    assert.strictEqual(seconds(1, answered(429, "slow down", 60)), 60)
    assert.isUndefined(seconds(1, answered(429, "slow down", 61)))
    assert.isUndefined(seconds(1, answered(400)))
    assert.isUndefined(seconds(1, answered(401)))
  })
})
