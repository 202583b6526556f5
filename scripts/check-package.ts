/**
 * Checks what would be published: its shape, that it installs into an empty folder, that both commands start from there
 * and that a small program is typed by its declarations.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const folder = mkdtempSync(join(tmpdir(), "super-pi-package-"))

const run = (cwd: string, command: string, ...args: ReadonlyArray<string>): string => {
  const { error, status, stderr, stdout } = spawnSync(command, args, { cwd, encoding: "utf8" })
  if (status === 0) return stdout
  throw new Error(`${command} ${args.join(" ")} failed\n${error?.message ?? ""}${stdout}${stderr}`)
}

const consumer = `
import { Agent } from "super-pi/services/Agent"
import { version } from "super-pi/domain/Version"
import * as Effect from "effect/Effect"

export const connect = Effect.map(Agent, (agent) => agent.connect)
export const text: string = version
// @ts-expect-error: declarations are found and are not any
export const wrong: number = version
`

const settings = {
  compilerOptions: {
    target: "ES2024",
    module: "NodeNext",
    moduleResolution: "NodeNext",
    strict: true,
    noEmit: true,
    types: []
  },
  files: ["consumer.ts"]
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
  run(folder, join(root, "node_modules/.bin/tsc"), "-p", ".")
  console.log("A consumer is typed")
} finally {
  rmSync(folder, { recursive: true, force: true })
}
