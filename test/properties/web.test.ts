import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { BlockList, isIP } from "node:net"
import { isPublic } from "../../src/services/web/Address.ts"
import { toMarkdown } from "../../src/services/web/Markdown.ts"
import { decode, parseMediaType } from "../../src/services/web/MediaType.ts"
import { parseTarget, refusalOf, staysOn } from "../../src/services/web/Target.ts"
import { visible } from "../../src/domain/text/Visible.ts"

const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
const Group = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff }))

/** What must never be reached, as Node reads ranges. */
const closed = new BlockList()
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4]
] as const) {
  closed.addSubnet(network, bits, "ipv4")
}
for (const [network, bits] of [
  ["::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
  ["2001:db8::", 32]
] as const) {
  closed.addSubnet(network, bits, "ipv6")
}

const groups = Arbitrary.array(Arbitrary.schema(Group), { minLength: 8, maxLength: 8 })
const edges = Schema.Literals([0, 1, 0xfc00, 0xfd00, 0xfe80, 0xff02, 0xffff, 0x2001, 0xdb8, 0x2606, 0x64])

describe("addresses", () => {
  it.effect.prop(
    "of version 4 are public only outside of the ranges that nobody may reach, and the same behind ::ffff:",
    [
      Schema.Tuple([
        Schema.Union([Byte, Schema.Literals([0, 10, 100, 127, 169, 172, 192, 198, 224])]),
        Byte,
        Byte,
        Byte
      ])
    ],
    ([bytes]) =>
      Effect.sync(() => {
        const address = bytes.join(".")
        if (closed.check(address, "ipv4")) assert.isFalse(isPublic(address), address)
        const [a, b, c, d] = bytes
        const hex = `::ffff:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
        for (const other of [
          `::ffff:${address}`,
          hex,
          `0:0:0:0:0:FFFF:${address}`,
          `[${hex}]`,
          `64:ff9b::${address}`
        ]) {
          assert.strictEqual(isPublic(other), isPublic(address), other)
        }
      }),
    { arbitrary: { runs: 300 } }
  )

  it.effect.prop(
    "of version 6 are the same however they are shortened, and public only outside of those ranges",
    [groups, Arbitrary.schema(edges), Arbitrary.schema(Schema.Boolean)],
    ([parts, first, isEdge]) =>
      Effect.sync(() => {
        const [, ...rest] = parts
        const long = (isEdge ? [first, ...rest] : parts).map((part) => part.toString(16)).join(":")
        // As a URL writes it.
        const short = new URL(`http://[${long}]/`).hostname
        assert.strictEqual(isPublic(short), isPublic(long), long)
        if (closed.check(long, "ipv6")) assert.isFalse(isPublic(long), long)
      }),
    { arbitrary: { runs: 300 } }
  )

  const pieces = Arbitrary.schema(Schema.Literals(["1", "256", ".", ":", "a", "g", "%", "::", "ffff", " "]))
  const nearly = Arbitrary.map(Arbitrary.array(pieces, { maxLength: 12 }), (parts) => parts.join(""))

  it.effect.prop(
    "that Node does not read as one are not public",
    [Arbitrary.schema(Schema.String), nearly],
    (texts) =>
      Effect.sync(() => {
        for (const text of texts) {
          if (isIP(text) === 0) assert.isFalse(isPublic(text), text)
        }
      }),
    { arbitrary: { runs: 500 } }
  )
})

describe("what may be fetched", () => {
  const hosts = [
    "example.com",
    "www.example.com",
    "a.example.com",
    "example.org",
    "localhost",
    "10.0.0.1",
    "[::1]",
    "x"
  ]
  const Place = Schema.Struct({
    scheme: Schema.Literals(["http", "https"]),
    host: Schema.Literals(hosts),
    port: Schema.Literals(["", ":80", ":443", ":8080"])
  })
  const urlOf = ({ host, port, scheme }: typeof Place.Type) => new URL(`${scheme}://${host}${port}/x`)

  it.effect.prop(
    "is never more than the settings name, and never a private place unless they say so",
    [Place, Schema.Boolean, Schema.Array(Schema.Literals(["example.com", "Example.ORG.", "localhost"]))],
    ([place, allowLocal, domains]) =>
      Effect.sync(() => {
        const url = urlOf(place)
        const isLocal = ["localhost", "10.0.0.1", "[::1]", "x"].includes(place.host)
        const isNamed = domains.some((domain) =>
          `.${place.host}`.endsWith(`.${domain.toLowerCase().replace(/\.$/, "")}`)
        )
        assert.strictEqual(refusalOf(url, { allowLocal }) === undefined, allowLocal || !isLocal)
        const named = refusalOf(url, { allowLocal, allowedDomains: domains }) === undefined
        assert.strictEqual(named, isNamed && (allowLocal || !isLocal))
      })
  )

  it.effect.prop("stays where it was allowed when it is redirected", [Place, Place], ([from, to]) =>
    Effect.sync(() => {
      if (!staysOn(urlOf(from), urlOf(to))) return
      const bare = (host: string) => host.replace(/^www\./, "")
      assert.strictEqual(bare(from.host), bare(to.host))
      assert.isFalse(from.scheme === "https" && to.scheme === "http")
      if (from.port === ":8080" || to.port === ":8080") assert.strictEqual(from.port, to.port)
    })
  )

  it.effect.prop("is a page of the web, whatever is asked for", [Schema.String], ([text]) =>
    Effect.sync(() => {
      for (const candidate of [text, `http://${text}`, `https://a.b/${text}`]) {
        const target = parseTarget(candidate)
        if (target._tag === "Failure") continue
        assert.match(target.success.href, /^https?:\/\/[^/@]+\//)
        assert.strictEqual(target.success.hash, "")
      }
    })
  )
})

describe("pages", () => {
  const tags = [
    "p",
    "div",
    "ul",
    "ol",
    "li",
    "table",
    "tr",
    "td",
    "th",
    "a href=x",
    "pre",
    "code",
    "b",
    "h2",
    "blockquote"
  ]
  const piece = Arbitrary.schema(
    Schema.Literals([
      ...tags.map((tag) => `<${tag}>`),
      ...tags.map((tag) => `</${tag.split(" ")[0]}>`),
      "<br>",
      "<hr>",
      "<script>evil()</script>",
      "<style>evil{}</style>",
      "<!-- evil -->",
      "<div hidden>evil</div>",
      "&amp;",
      "< ",
      "|",
      "`",
      " \n "
    ])
  )
  const html = Arbitrary.map(Arbitrary.array(piece, { maxLength: 40 }), (parts) =>
    parts.map((part, at) => `${part}word${at}`)
  )

  it.effect.prop(
    "keep every word in its order, whatever tags are around it, and nothing that a browser would not show",
    [html],
    ([parts]) =>
      Effect.sync(() => {
        const { text } = toMarkdown(parts.join(""), new URL("https://example.com/"))
        const words = text.match(/word\d+/g) ?? []
        assert.deepStrictEqual(
          words,
          parts.map((_, at) => `word${at}`)
        )
        assert.notInclude(text, "evil")
      }),
    { arbitrary: { runs: 300 } }
  )

  it.effect.prop(
    "of any bytes and any headers become text",
    [Schema.Uint8Array, Schema.String, Schema.String],
    ([bytes, header, html]) =>
      Effect.sync(() => {
        const text = visible(decode(bytes, parseMediaType(header)))
        assert.isString(toMarkdown(text, new URL("https://example.com/")).text)
        assert.isString(toMarkdown(html, new URL("https://example.com/")).text)
      })
  )
})
