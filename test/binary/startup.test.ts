import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { type OutputChunk, rolldown } from "rolldown"
import config from "../../rolldown.config.ts"
import { ask, folder, initialize, start } from "../support/Program.ts"
import { root } from "../support/Sources.ts"

/** What an editor must not wait for, and a module that stands for it. */
const heavy = {
  "the command line": /effect\/dist\/cli\//,
  "the model providers": /node_modules\/(@ai-sdk|zod|undici)\//,
  MCP: /src\/services\/mcp\//,
  HTTP: /effect\/dist\/http\/Http(Client|Server)\.js/,
  SQLite: /effect\/dist\/sql\/|services\/store\/SqliteSessions/,
  "turns and tools": /services\/(turn\/TurnLoop|tools)|effect\/dist\/ai\/LanguageModel\.js/,
  processes: /NodeChildProcessSpawner/
}

const bundle = Effect.promise(async () => {
  const build = await rolldown({ ...config, logLevel: "silent" })
  const { output } = await build.generate({ format: "esm", minify: true, chunkFileNames: "[name].js" })
  await build.close()
  return output.filter((file) => file.type === "chunk")
})

/** What is loaded along with the entry: its chunk and those that it imports statically. */
const atOnce = (chunks: ReadonlyArray<OutputChunk>): ReadonlyArray<OutputChunk> => {
  const seen = new Set(chunks.filter(({ isEntry }) => isEntry))
  for (const chunk of seen) {
    for (const name of chunk.imports) {
      for (const found of chunks) if (found.fileName === name) seen.add(found)
    }
  }
  return [...seen]
}

describe("start-up", () => {
  it.live("loads with the entry nothing that can wait", () =>
    Effect.gen(function* () {
      const chunks = yield* bundle
      const early = atOnce(chunks)
      const modules = early.flatMap(({ moduleIds }) => moduleIds)
      const later = chunks.filter((chunk) => !early.includes(chunk)).flatMap(({ moduleIds }) => moduleIds)
      for (const [name, pattern] of Object.entries(heavy)) {
        assert.deepStrictEqual(
          modules.filter((module) => pattern.test(module)),
          [],
          name
        )
        assert.isTrue(
          later.some((module) => pattern.test(module)),
          `${name} is part of the program`
        )
      }
      const size = early.reduce((sum, { code }) => sum + code.length, 0)
      // What the transports use of a module of Effect that the entry uses as well lies beside it.
      assert.isBelow(size, 380_000)
    })
  )

  it.live("answers initialize with nothing loaded but the entry", () =>
    Effect.gen(function* () {
      const loaded = join(yield* folder, "loaded")
      const hook = pathToFileURL(join(root, "test/support/record-loads.mjs")).href
      const child = yield* start(["acp"], { env: { NODE_OPTIONS: `--import=${hook}`, LOADED: loaded } })
      assert.propertyVal(yield* ask(child, initialize), "id", 0)
      const urls = readFileSync(loaded, "utf8").trim().split("\n")
      const files = urls.filter((url) => url.startsWith("file:"))
      const own = ["bin/super-pi", "dist/bin/main.js"]
      assert.includeMembers(
        own.map((path) => pathToFileURL(join(root, path)).href),
        files
      )
      const builtins = urls.filter((url) => url.startsWith("node:"))
      for (const name of ["child_process", "http", "http2", "https", "net", "sqlite", "tls", "worker_threads"]) {
        assert.notInclude(builtins, `node:${name}`)
      }
    })
  )
})
