import { assert, describe, it } from "@effect/vitest"
import { proxyOf } from "../../../src/transports/relay/Proxy.ts"

const proxy = "http://proxy.example.org:3128"

const through = (address: string, variables: Readonly<Record<string, string>>): string | undefined => {
  const found = proxyOf(new URL(address), variables)
  return found instanceof URL ? found.href : found
}

describe("proxyOf", () => {
  for (const [address, variables, expected] of [
    ["wss://relay.example.org/agent", {}, undefined],
    ["wss://relay.example.org/agent", { HTTPS_PROXY: proxy }, `${proxy}/`],
    ["wss://relay.example.org/agent", { HTTP_PROXY: proxy }, undefined],
    ["ws://relay.example.org/agent", { HTTP_PROXY: proxy }, `${proxy}/`],
    ["ws://relay.example.org/agent", { HTTPS_PROXY: proxy }, undefined],
    ["ws://relay.example.org/agent", { ALL_PROXY: proxy }, `${proxy}/`],
    ["ws://relay.example.org/agent", { HTTP_PROXY: "http://other:1", http_proxy: proxy }, `${proxy}/`],
    ["ws://relay.example.org/agent", { HTTP_PROXY: "", ALL_PROXY: " " }, undefined],
    ["ws://relay.example.org/agent", { HTTP_PROXY: "proxy.example.org:3128" }, `${proxy}/`],
    ["ws://relay.example.org/agent", { HTTP_PROXY: "https://u:p@proxy:1" }, "https://u:p@proxy:1/"],
    ["ws://relay.example.org/agent", { HTTP_PROXY: "socks5://proxy:1080" }, "invalid"],
    ["ws://relay.example.org/agent", { HTTP_PROXY: "http://u%40:p%25@proxy:1" }, "http://u%40:p%25@proxy:1/"],
    ["ws://relay.example.org/agent", { HTTP_PROXY: "http://u:100%@proxy:1" }, "invalid"],
    ["ws://relay.example.org/agent", { HTTP_PROXY: "http://u%ff:p@proxy:1" }, "invalid"],
    ["ws://relay.example.org/agent", { HTTP_PROXY: "http://" }, "invalid"]
  ] as const) {
    it(`${address} with ${JSON.stringify(variables)} goes ${expected ?? "directly"}`, () => {
      assert.strictEqual(through(address, variables), expected)
    })
  }

  for (const [address, exceptions, isDirect] of [
    ["ws://relay.example.org", "*", true],
    ["ws://relay.example.org", "relay.example.org", true],
    ["ws://relay.example.org", "example.org", true],
    ["ws://relay.example.org", ".example.org", true],
    ["ws://relay.example.org", "*.example.org", true],
    ["ws://relay.example.org", "other.org, RELAY.example.ORG", true],
    ["ws://relay.example.org.", "relay.example.org", true],
    ["ws://relay.example.org:8080", "relay.example.org:8080", true],
    ["ws://relay.example.org", "relay.example.org:80", true],
    ["wss://relay.example.org", "relay.example.org:443", true],
    ["ws://127.0.0.1:1", "127.0.0.1", true],
    ["ws://[::1]:1", "::1", true],
    ["ws://[::1]:1", "[::1]", true],
    ["ws://[::1]:1", "[::1]:1", true],
    ["ws://relay.example.org", "", false],
    ["ws://relay.example.org", "ample.org", false],
    ["ws://relay.example.org", "relay.example.org:81", false],
    ["ws://relay.example.org", "relay", false],
    ["ws://example.org", "relay.example.org", false],
    ["ws://[::1]:1", "[::1]:2", false],
    ["ws://relay.example.org", " , ,", false]
  ] as const) {
    it(`NO_PROXY "${exceptions}" ${isDirect ? "frees" : "does not free"} ${address}`, () => {
      assert.strictEqual(
        through(address, { ALL_PROXY: proxy, NO_PROXY: exceptions }),
        isDirect ? undefined : `${proxy}/`
      )
    })
  }
})
