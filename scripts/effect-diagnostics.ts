/**
 * Runs the Effect diagnostics over the whole project. The tool lives in `.tools`, outside the lock: its lock entry names
 * builds for platforms that not every registry carries, and would make a clean install fail there.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"

const TOOLS = ["@effect/tsgo@0.45.0", "typescript@7.0.2"]
const root = join(import.meta.dirname, "..")
const folder = join(root, ".tools")
const tool = join(folder, "node_modules", ".bin", "effect-tsgo")

const run = (command: string, args: ReadonlyArray<string>): void => {
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(tool)) run("npm", ["install", "--no-save", "--save-exact", "--prefix", folder, ...TOOLS])
run(tool, ["diagnostics", "--project", "tsconfig.json", "--format", "text", "--strict"])
