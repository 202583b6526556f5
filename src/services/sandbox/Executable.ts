/** Finds programs the way a shell does: the first file of that name in the folders of `PATH`. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { Environment } from "../../domain/ChildEnvironment.ts"

/** The folders of `PATH`. A relative one would mean another folder in each place, and is none. */
export const searchedFolders = (path: Path.Path, environment: Environment): ReadonlyArray<string> =>
  (environment["PATH"] ?? "").split(":").filter((folder) => path.isAbsolute(folder))

export const findExecutableIn = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  path: Path.Path,
  folders: ReadonlyArray<string>,
  name: string
) {
  for (const folder of folders) {
    const candidate = path.join(folder, name)
    const info = yield* Effect.option(fs.stat(candidate))
    if (info._tag === "Some" && info.value.type === "File" && (info.value.mode & 0o111) !== 0) return candidate
  }
  return undefined
})

export const findExecutable = (
  fs: FileSystem.FileSystem,
  path: Path.Path,
  environment: Environment,
  name: string
): Effect.Effect<string | undefined> => findExecutableIn(fs, path, searchedFolders(path, environment), name)
