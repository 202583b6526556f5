import { defineConfig, type Plugin } from "rolldown"
import { notices } from "./scripts/notices.ts"

const LATE_CRYPTO = "\0late-crypto"

/** The file system needs randomness for names of temporary files only, and node:crypto takes 5 ms to load. */
const lateCrypto: Plugin = {
  name: "late-crypto",
  resolveId: (source, importer) =>
    source === "node:crypto" && importer?.endsWith("NodeFileSystem.js") === true ? LATE_CRYPTO : null,
  load: (id) =>
    id === LATE_CRYPTO
      ? `export const randomBytes = (size) => process.getBuiltinModule("node:crypto").randomBytes(size)`
      : null
}

/** An import takes every export at once, and some of node:fs load streams, promises and line editors: 4 ms of a start. */
const sparingFs: Plugin = {
  name: "sparing-fs",
  transform: (code) =>
    code.replaceAll(/^import (?:\* as (\w+)|\{([^}]*)\}) from "node:fs";?$/gm, (_, all?: string, some: string = "") => {
      const names = some.split(",").filter((name) => !name.trim().startsWith("type "))
      return `const ${all ?? `{${names.join().replaceAll(" as ", ": ")}}`} = process.getBuiltinModule("node:fs")`
    })
}

/** A chunk that is a package bears the package's name. */
const chunkName = (module: string | null): string => {
  const [, name] = module?.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/) ?? []
  return name === undefined ? "[name].js" : `${name.replace("@", "").replace("/", "-")}.js`
}

/**
 * The program in one minified file, and what is loaded on demand in files of stable names beside it: their compiled
 * forms then replace those of the last version. All of it is ASCII, which Node reads at half the memory and time.
 */
export default defineConfig({
  input: { main: "src/main.ts" },
  platform: "node",
  plugins: [lateCrypto, sparingFs, notices()],
  output: {
    dir: "dist/bin",
    format: "esm",
    minify: true,
    charset: "ascii",
    cleanDir: true,
    entryFileNames: "[name].js",
    chunkFileNames: ({ facadeModuleId }) => chunkName(facadeModuleId ?? null)
  }
})
