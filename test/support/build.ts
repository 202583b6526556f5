/** Builds the program once before the tests that start it, unless the last build is newer than every source. */
import { spawnSync } from "node:child_process"
import { globSync, statSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..", "..")
const changed = (file: string): number => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0

export const setup = (): void => {
  const sources = [...globSync("src/**/*.ts", { cwd: root }), "rolldown.config.ts", "package-lock.json"]
  if (sources.every((file) => changed(file) < changed("dist/bin/main.js"))) return
  const { status } = spawnSync("npm", ["run", "--silent", "build:bundle"], { cwd: root, stdio: "inherit" })
  if (status !== 0) throw new Error("The program does not build: run `npm run build:bundle` to see why")
}
