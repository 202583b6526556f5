import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { version } from "../src/domain/Version.ts"
import { ended, folder, node } from "./support/Program.ts"
import { publicNames } from "./support/PublicNames.ts"
import { root, sources } from "./support/Sources.ts"

interface Manifest {
  readonly version: string
  readonly bin: Record<string, string>
  readonly exports: Record<string, string | { readonly types: string; readonly default: string }>
  readonly dependencies: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly devDependencies: Record<string, string>
  readonly peerDependencies: Record<string, string>
  readonly peerDependenciesMeta: Record<string, object>
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
    assert.containsAllKeys(manifest.exports, [".", "./servers", "./testing"])
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

  for (const entry of ["src/index.ts", "src/servers.ts", "src/testing.ts"]) {
    it(`says what everything in ${entry} means`, () => {
      const names = publicNames(entry)
      assert.isNotEmpty(names)
      assert.deepStrictEqual(
        names.filter(({ documented }) => !documented).map(({ name, path }) => `${path}: ${name}`),
        []
      )
    })
  }

  for (const entry of ["src/index.ts", "src/testing.ts"]) {
    it.live(`importing ${entry} does nothing, and loads no provider and nothing that can wait`, () =>
      Effect.gen(function* () {
        const loaded = join(yield* folder, "loaded")
        const hook = pathToFileURL(join(root, "test/support/record-loads.mjs")).href
        const module = pathToFileURL(join(root, entry)).href
        const program = `const before = Object.keys(globalThis).length
          const handles = process.getActiveResourcesInfo().length
          await import(${JSON.stringify(module)})
          console.log(Object.keys(globalThis).length - before, process.getActiveResourcesInfo().length - handles)`
        const { NODE_OPTIONS: _, ...environment } = process.env
        const child = yield* Effect.acquireRelease(
          Effect.sync(() =>
            spawn(node, [`--import=${hook}`, "--input-type=module", "--eval", program], {
              env: { ...environment, LOADED: loaded }
            })
          ),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        assert.deepStrictEqual(yield* ended(child), { end: 0, stdout: "0 0\n", stderr: "" })
        const urls = readFileSync(loaded, "utf8").trim().split("\n")
        assert.include(urls, module)
        const heavy =
          /node_modules\/(@ai-sdk|zod|undici)\/|models\/provider\/(AiSdk|Providers)|^node:(sqlite|http|net|tls)$/
        assert.deepStrictEqual(
          urls.filter((url) => heavy.test(url)),
          []
        )
      })
    )
  }

  it("is developed against one exact version of each peer that it needs", () => {
    const needed = Object.entries(manifest.peerDependencies).filter(
      ([name]) => !(name in manifest.peerDependenciesMeta)
    )
    assert.isNotEmpty(needed)
    for (const [name, range] of needed) {
      assert.strictEqual(`^${manifest.devDependencies[name]}`, range)
    }
  })
})
