/** How this program is started again by somebody who knows nothing of this shell: by its absolute path. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { version } from "../../domain/Version.ts"
import type { Launch } from "./AgentEntry.ts"

export interface Program {
  readonly launch: Launch
  /** Whether a command of an editor's settings starts this very program. */
  readonly isSameCommand: (command: string) => boolean
}

const searched = Effect.orElseSucceed(Config.String("PATH"), () => "")

/** The files of that name in the folders of `PATH`, in order. */
export const onPath = Effect.fnUntraced(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folders = (yield* searched)
    .split(process.platform === "win32" ? ";" : ":")
    .filter((one) => path.isAbsolute(one))
  const found = yield* Effect.forEach(folders, (folder) => {
    const file = path.join(folder, name)
    return Effect.map(Effect.option(fs.stat(file)), (info) =>
      info._tag === "Some" && info.value.type === "File" && (info.value.mode & 0o111) !== 0 ? [file] : []
    )
  })
  return found.flat()
})

/**
 * What npx runs lies in a cache that it clears, so editors get npx itself. Else it is the name on `PATH` that leads to this
 * program, which outlasts an update; else the file itself.
 */
export const find = Effect.fnUntraced(function* (
  called: string
): Effect.fn.Return<Program, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const realPath = (file: string) => Effect.orElseSucceed(fs.realPath(file), () => file)
  const real = yield* realPath(path.resolve(called))
  const same: Array<string> = []
  for (const name of ["super-pi", "supercharge"]) {
    const [first] = yield* onPath(name)
    if (first === undefined || (yield* realPath(first)) !== real) continue
    same.push(first, name)
  }
  if (/[\\/]_npx[\\/]/.test(real)) {
    const [npx = "npx"] = yield* onPath("npx")
    const launch = { command: npx, args: ["--yes", `super-pi@${version}`, "acp"] }
    return { launch, isSameCommand: (command) => command === npx }
  }
  const command = same[0] ?? real
  const known = new Set([...same, real, path.resolve(called)])
  return { launch: { command, args: ["acp"] }, isSameCommand: (other) => known.has(other) }
})
