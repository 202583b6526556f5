import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import { waitOf } from "../../../src/services/models/provider/RetryAfter.ts"

const now = Date.parse("2026-01-01T00:00:00Z")

describe("the pause that a provider wishes", () => {
  const table: ReadonlyArray<readonly [Record<string, string>, string, number | undefined]> = [
    [{ "retry-after": "7" }, "", 7000],
    [{ "Retry-After": "1.5" }, "", 1500],
    [{ "retry-after": "9", "retry-after-ms": "250" }, "", 250],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, "", 30_000],
    [{ "retry-after": "Thu, 01 Jan 2025 00:00:30 GMT" }, "", 0],
    [{ "retry-after": "soon" }, "", undefined],
    [{ "retry-after": "-3" }, "", undefined],
    [{}, `{"error":{"details":[{"retryDelay": "34s"}]}}`, 34_000],
    [{}, "", undefined]
  ]
  it.each(table)("%o %s", (headers, body, millis) => {
    const wait = waitOf(headers, body, now)
    assert.strictEqual(wait === undefined ? undefined : Duration.toMillis(wait), millis)
  })
})
