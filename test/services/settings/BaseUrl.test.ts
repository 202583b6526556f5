import { assert, describe, it } from "@effect/vitest"
import { parseBaseUrl } from "../../../src/services/settings/BaseUrl.ts"

describe("BaseUrl", () => {
  it.each([
    ["http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"],
    ["https://example.org/v1/", "https://example.org/v1"],
    ["https://example.org//", "https://example.org"],
    [" https://Example.org ", "https://example.org"],
    ["http://[::1]:9", "http://[::1]:9"],
    ["localhost:8080", undefined],
    ["ftp://example.org", undefined],
    ["file:///etc/passwd", undefined],
    ["https://user:secret@example.org", undefined],
    ["https://secret@example.org", undefined],
    ["https://example.org/v1?key=secret", undefined],
    ["https://example.org/v1?", undefined],
    ["https://example.org/#x", undefined],
    ["", undefined],
    ["not an address", undefined]
  ])("%s gives %s", (text, expected) => {
    assert.strictEqual(parseBaseUrl(text), expected)
  })
})
