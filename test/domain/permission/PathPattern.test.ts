import { assert, describe, it } from "@effect/vitest"
import { anchorsOf, covering, mayLieIn, striking } from "../../../src/domain/permission/PathPattern.ts"

const place = { cwd: "/w [x]", home: "/home/ada", links: new Map<string, string>() }

describe("PathPattern", () => {
  for (const [pattern, path, expected] of [
    ["src/**", "/w [x]/src/a/b.ts", true],
    ["src/*", "/w [x]/src/a/b.ts", false],
    ["**/*.sql", "/w [x]/a/b.sql", true],
    ["**/*.sql", "/w [x]/b.sql", true],
    ["**/.env", "/w [x]/a/.env", true],
    [".env", "/w [x]/.env", true],
    [".env", "/w [x]/a/.env", false],
    ["./src/../.env", "/w [x]/.env", true],
    ["/etc/*", "/etc/passwd", true],
    ["/etc/*", "/etc/../w [x]/passwd", false],
    ["~/x/**", "/home/ada/x/y", true],
    ["~", "/home/ada", true],
    ["secret/", "/w [x]/secret/a", true],
    ["*.{ts,js}", "/w [x]/a.js", true],
    ["a\\*", "/w [x]/a*", true],
    ["a\\*", "/w [x]/ab", false]
  ] as const) {
    it(`${pattern} ${expected ? "covers" : "does not cover"} ${path}`, () =>
      assert.strictEqual(covering(pattern, place)(path), expected))
  }

  it("what names a folder strikes its content too, and covers only itself", () => {
    for (const pattern of ["secret", "secret/", "secret/*", "secret/**", "s*t", "**/secret", "**"]) {
      assert.isTrue(striking(pattern, place)("/w [x]/secret/a"), pattern)
      assert.isTrue(striking(pattern, place)("/w [x]/secret/a/b"), pattern)
      assert.isFalse(striking(pattern, place)("/elsewhere/secret/a"), pattern)
    }
    assert.isFalse(covering("secret", place)("/w [x]/secret/a"))
    assert.isTrue(striking("/", place)("/any/thing"))
  })

  it("without a home folder, ~ is about nothing", () => {
    const homeless = { ...place, home: undefined }
    assert.isFalse(striking("~/**", homeless)("/home/ada/x"))
    assert.isFalse(covering("~/**", homeless)("/home/ada/x"))
    assert.isFalse(mayLieIn("~/**", "/", homeless))
    assert.deepStrictEqual(anchorsOf("~/**", homeless), [])
  })

  describe("links", () => {
    const linked = {
      cwd: "/tmp/w",
      home: "/home/ada",
      links: new Map([
        ["/tmp/w", "/private/tmp/w"],
        ["/tmp/w/keys", "/vault/[1]"],
        ["/tmp/w/.env", "/vault/env"],
        ["/home/ada", "/users/ada"]
      ])
    }

    it("a rule strikes in both names of the folder that it starts in, and of the one that it names", () => {
      for (const [pattern, path] of [
        ["src/**", "/tmp/w/src/a"],
        ["src/**", "/private/tmp/w/src/a"],
        ["keys/**", "/vault/[1]/a"],
        ["keys/**", "/private/tmp/w/keys/a"],
        ["keys/*.pem", "/vault/[1]/a.pem"],
        [".env", "/vault/env"],
        ["~/.ssh", "/users/ada/.ssh/id"]
      ] as const) {
        assert.isTrue(striking(pattern, linked)(path), `${pattern} ${path}`)
      }
      assert.isFalse(striking("keys/*.pem", linked)("/vault/[1]/a.txt"))
      assert.isFalse(striking("keys/**", linked)("/vault/1/a"))
    })

    it("an allowance follows the folder that it starts in, and no link from there", () => {
      assert.isTrue(covering("src/**", linked)("/private/tmp/w/src/a"))
      assert.isTrue(covering("~/x", linked)("/users/ada/x"))
      assert.isTrue(covering("keys/**", linked)("/tmp/w/keys/a"))
      assert.isFalse(covering("keys/**", linked)("/vault/[1]/a"))
      assert.isFalse(covering(".env", linked)("/vault/env"))
    })

    it("the anchors of a pattern are the paths whose links count", () => {
      assert.deepStrictEqual(anchorsOf("keys/*.pem", linked), ["/tmp/w", "/tmp/w/keys"])
      assert.deepStrictEqual(anchorsOf("a\\[b]/{c,d/e}/f", linked), ["/tmp/w", "/tmp/w/a[b]"])
      assert.deepStrictEqual(anchorsOf("/etc/passwd", linked), ["/", "/etc/passwd"])
      assert.deepStrictEqual(anchorsOf("**/.env", linked), ["/tmp/w", "/tmp/w"])
    })

    for (const [pattern, folder, expected] of [
      ["keys/**", "/tmp/w", true],
      ["keys/**", "/tmp/w/keys/deep", true],
      ["keys/**", "/tmp/w/src", false],
      ["keys/**", "/vault", true],
      ["**/.env", "/tmp/w/src", true],
      ["**/.env", "/private/tmp/w/src", true],
      ["/etc/**", "/tmp/w", false],
      ["/etc/**", "/", true]
    ] as const) {
      it(`something of ${pattern} ${expected ? "may" : "cannot"} lie in ${folder}`, () =>
        assert.strictEqual(mayLieIn(pattern, folder, linked), expected))
    }
  })
})
