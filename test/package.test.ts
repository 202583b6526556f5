import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { version } from "../src/domain/Version.ts"
import { root, sources } from "./support/Sources.ts"

interface Manifest {
  readonly version: string
  readonly bin: Record<string, string>
  readonly exports: Record<string, string | { readonly types: string; readonly default: string }>
  readonly dependencies: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly devDependencies: Record<string, string>
  readonly peerDependencies: Record<string, string>
}

const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

describe("package", () => {
  it("says the version that the program says", () => {
    assert.strictEqual(version, manifest.version)
  })

  it("has both commands, and their file can be run", () => {
    assert.deepStrictEqual(Object.keys(manifest.bin), ["super-pi", "supercharge"])
    for (const file of Object.values(manifest.bin)) assert.notStrictEqual(statSync(join(root, file)).mode & 0o111, 0)
  })

  it("exports what has a source", () => {
    for (const [name, target] of Object.entries(manifest.exports)) {
      if (typeof target === "string") assert.isTrue(existsSync(join(root, target)), name)
      else {
        const source = target.default.replace("./dist/lib/", "src/").replace(/\.js$/, ".ts")
        assert.isNotEmpty(sources(source.replace("*", "**/*")), name)
        assert.strictEqual(target.types, target.default.replace(/\.js$/, ".d.ts"))
      }
    }
  })

  it("declares every package that a source imports", () => {
    const imported = sources("src/**/*.ts")
      .flatMap(({ imports }) => imports)
      .filter((specifier) => !/^(\.|node:)/.test(specifier))
      .map((specifier) =>
        specifier
          .split("/")
          .slice(0, specifier.startsWith("@") ? 2 : 1)
          .join("/")
      )
    const { dependencies, optionalDependencies, peerDependencies } = manifest
    assert.includeMembers(Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }), imported)
  })

  it("is developed against one exact version of each peer", () => {
    for (const [name, range] of Object.entries(manifest.peerDependencies)) {
      assert.strictEqual(`^${manifest.devDependencies[name]}`, range)
    }
  })
})
