import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { factsOf } from "../../../../src/domain/permission/PermissionFacts.ts"
import { judge } from "../../../../src/domain/permission/PermissionPolicy.ts"
import { parseRules } from "../../../../src/domain/permission/PermissionRule.ts"

const verdict = (url: string, rules: Partial<Parameters<typeof parseRules>[0]>) =>
  judge(
    factsOf({
      access: { _tag: "Fetch", url },
      search: false,
      cwd: "/w",
      roots: ["/w"],
      home: undefined,
      links: new Map(),
      rules: parseRules({ allow: [], ask: [], deny: [], ...rules }).rules,
      grants: [],
      confined: false,
      unconfinable: false,
      forgetful: false
    }),
    "ask"
  )._tag

/** Whether a rule that allows covers the address, and whether one that denies strikes it. */
const cases: ReadonlyArray<readonly [url: string, pattern: string, covered: boolean, struck: boolean]> = [
  ["https://example.org/a", "domain:example.org", true, true],
  ["https://docs.example.org/a", "domain:example.org", true, true],
  ["https://www.EXAMPLE.org/", "domain:example.org", true, true],
  ["https://example.org./", "DOMAIN:Example.org", true, true],
  ["https://example.org:8443/", "domain:example.org", true, true],
  ["https://example.org", "domain:www.example.org", true, true],
  ["https://münchen.de/", "domain:xn--mnchen-3ya.de", true, true],
  ["https://xn--mnchen-3ya.de/", "domain:münchen.de", true, true],
  ["https://badexample.org/", "domain:example.org", false, false],
  ["https://example.org.evil.net/", "domain:example.org", false, false],
  ["https://evil.net/?example.org", "domain:example.org", false, false],
  ["https://example.org@evil.net/", "domain:example.org", false, false],
  ["https://example.org/", "domain:*.org", false, false],
  ["not an address", "domain:example.org", false, false],
  ["https://example.org/docs/a", "https://example.org/docs/*", true, true],
  ["https://example.org/docs/a?q=1#x", "https://example.org/docs/*", true, true],
  ["https://example.org/admin", "https://example.org/docs/*", false, false],
  ["https://example.org/docs/../admin", "https://example.org/admin", true, true],
  ["https://example.org/docs/../admin", "https://example.org/docs/*", false, true],
  ["https://example.org/docs/..%2fadmin", "https://example.org/docs/*", false, true],
  ["https://example.org/%61dmin", "https://example.org/admin*", false, true],
  ["https://EXAMPLE.org/admin", "https://example.org/admin", true, true],
  ["https://example.org:443/admin", "https://example.org/admin", true, true],
  ["https://example.org:8443/admin", "https://example.org/admin", false, true],
  ["https://ada@example.org/admin", "https://example.org/admin", false, true],
  ["https://www.example.org/admin", "https://example.org/admin", false, true],
  ["https://example.org", "https://example.org", true, true],
  ["https://example.org/a", "https://example.org*", true, true],
  ["https://example.org.evil.net/a", "https://example.org*", false, true],
  ["https://example.org@evil.net/a", "https://example.org*", false, true],
  ["https://evil.net/https://example.org/x", "*://example.org/*", false, true],
  ["https://evil.net/x.example.org/y", "*.example.org/*", false, true],
  ["https://docs.example.org/y", "*.example.org/*", true, true],
  ["http://anything.net/x", "*", true, true],
  ["http://anything.net/x", "https://*", false, false]
]

describe("WebFetch", () => {
  for (const [url, pattern, covered, struck] of cases) {
    it(`${pattern} ${covered ? "covers" : "does not cover"} and ${struck ? "strikes" : "does not strike"} ${url}`, () => {
      assert.strictEqual(verdict(url, { allow: [`WebFetch(${pattern})`] }), covered ? "Allow" : "Ask")
      assert.strictEqual(verdict(url, { deny: [`WebFetch(${pattern})`] }), struck ? "Deny" : "Ask")
    })
  }

  it("a rule without a pattern is for every address, one of another tool for none", () => {
    assert.strictEqual(verdict("https://a.org", { allow: ["WebFetch"] }), "Allow")
    assert.strictEqual(verdict("https://a.org", { deny: ["WebFetch"] }), "Deny")
    assert.strictEqual(verdict("https://a.org", { allow: ["WebSearch", "Bash", "Read"] }), "Ask")
  })

  const host = Arbitrary.schema(
    Schema.Literals(["example.org", "docs.example.org", "evil.net", "example.org.evil.net"])
  )
  const rest = Arbitrary.schema(
    Schema.Literals(["", "/", "/example.org", "/docs/a", "/docs/../x", "?u=https://example.org/", "#@example.org"])
  )
  const user = Arbitrary.schema(Schema.Literals(["", "ada@", "example.org@", "example.org:x@"]))
  const pattern = Arbitrary.schema(
    Schema.Literals([
      "domain:example.org",
      "https://example.org",
      "https://example.org*",
      "https://example.org/*",
      "*example.org/*",
      "*.example.org/*"
    ])
  )

  it.prop(
    "an allow rule that names a host reaches no other",
    [host, rest, user, pattern],
    ([host, rest, user, pattern]) => {
      const url = `https://${user}${host}${rest}`
      if (verdict(url, { allow: [`WebFetch(${pattern})`] }) === "Allow") {
        assert.match(URL.parse(url)?.hostname ?? "", /(^|\.)example\.org$/, url)
      }
    }
  )

  it.prop(
    "what an allow rule covers, the same deny rule strikes",
    [host, rest, user, pattern],
    ([host, rest, user, pattern]) => {
      const url = `https://${user}${host}${rest}`
      const rule = [`WebFetch(${pattern})`]
      if (verdict(url, { allow: rule }) === "Allow")
        assert.strictEqual(verdict(url, { allow: rule, deny: rule }), "Deny", url)
    }
  )
})
