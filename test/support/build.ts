/** Builds the program once before the tests that start it, unless the last build is newer than every source. */
import { spawnSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..", "..")
const changed = (file: string): number => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0

export const setup = (): void => {
  const sources = [...globSync("src/**/*.ts", { cwd: root }), "rolldown.config.ts", "package-lock.json"]
  if (sources.every((file) => changed(file) < changed("dist/bin/main.js"))) return
  // Beside it, and put in its place at once: tests of another run may be using it.
  const place = join(root, "dist", "bin")
  mkdirSync(join(root, "dist"), { recursive: true })
  const made = mkdtempSync(join(root, "dist", "bin-"))
  const { status } = spawnSync("rolldown", ["-c", "rolldown.config.ts", "--dir", made], { cwd: root, stdio: "inherit" })
  if (status !== 0) rmSync(made, { recursive: true })
  if (status !== 0) throw new Error("The program does not build: run `npm run build:bundle` to see why")
  const old = `${made}-old`
  if (existsSync(place)) renameSync(place, old)
  renameSync(made, place)
  rmSync(old, { recursive: true, force: true })
}
