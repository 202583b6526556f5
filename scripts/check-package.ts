/**
 * Checks what would be published: its shape, that it installs into an empty folder, that both commands start from there,
 * and that the example of embedding, which imports it by its name there, is typed by its declarations and runs.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const folder = mkdtempSync(join(tmpdir(), "super-pi-package-"))

const run = (cwd: string, command: string, ...args: ReadonlyArray<string>): string => {
  const { error, status, stderr, stdout } = spawnSync(command, args, { cwd, encoding: "utf8" })
  if (status === 0) return stdout
  throw new Error(`${command} ${args.join(" ")} failed\n${error?.message ?? ""}${stdout}${stderr}`)
}

/** What the example does not touch: modules by their own path, and declarations that are more than `any`. */
const consumer = `
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as SuperPi from "super-pi"
import { version } from "super-pi/domain/Version"
import { AcpServer } from "super-pi/servers"
import { Agent } from "super-pi/services/Agent"
import * as Memory from "super-pi/transports/Memory"
import { scriptedModel } from "super-pi/testing"

export const connect = Effect.map(Agent, (agent) => agent.connect)
export const same: typeof Agent = SuperPi.Agent
export const models = scriptedModel({ steps: [{ parts: [{ text: "Hello" }] }] })
export const pair: Effect.Effect<{ readonly agent: Memory.MemoryEnd; readonly editor: Memory.MemoryEnd }> = Memory.pair
export const server = AcpServer.layer({ host: "127.0.0.1", port: 0, secret: Redacted.make("secret") })
export const text: string = version
// @ts-expect-error: declarations are found and are not any
export const wrong: number = version
`

/** The example as an application would write it. */
const example = (file: string): string =>
  readFileSync(join(root, "examples", "embed", file), "utf8")
    .replaceAll('"../../src/index.ts"', '"super-pi"')
    .replaceAll('"../../src/testing.ts"', '"super-pi/testing"')

const settings = {
  compilerOptions: {
    target: "ES2024",
    module: "NodeNext",
    moduleResolution: "NodeNext",
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ["node"]
  },
  files: ["consumer.ts", "main.ts", "ToyModel.ts"]
}

try {
  console.log(run(root, join(root, "node_modules/.bin/publint"), "--strict").trim())
  const [{ filename, size, unpackedSize }] = JSON.parse(
    run(root, "npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder)
  )
  console.log(`${filename}: ${Math.round(size / 1024)} kB packed, ${Math.round(unpackedSize / 1024)} kB unpacked`)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))
  run(folder, "npm", "install", "--no-audit", "--no-fund", `./${filename}`)
  for (const command of ["super-pi", "supercharge"]) {
    console.log(`${command} --version: ${run(folder, join("node_modules/.bin", command), "--version").trim()}`)
  }
  writeFileSync(join(folder, "consumer.ts"), consumer)
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings))
  for (const file of ["main.ts", "ToyModel.ts"]) writeFileSync(join(folder, file), example(file))
  run(folder, join(root, "node_modules/.bin/tsc"), "-p", ".")
  console.log("The example of embedding is typed")
  console.log(run(folder, process.execPath, "main.ts").replaceAll(/^/gm, "  ").trimEnd())
} finally {
  rmSync(folder, { recursive: true, force: true })
}
