/** A look at the files of the configuration before they are read. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { readdirSync, type Stats, statSync } from "node:fs"

/** In bytes. */
export const largestFile = 1024 * 1024

/** More files of hooks are not read, which is told. */
const mostHookFiles = 100

/** `stamp` differs when the file may have changed. */
export type Look =
  | { readonly _tag: "Absent" | "Present"; readonly stamp: string }
  | { readonly _tag: "Unusable"; readonly stamp: string; readonly problem: string }

/** What follows the path of the file. */
export const unreadable = (reason: string, what = "a file"): string =>
  `cannot be read (${reason}); make it ${what} that you may read`

const codeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "code") ? String(error.code) : "no reason was given"

const sortOf = (file: Stats): string => (file.isDirectory() ? "Directory" : file.isFIFO() ? "FIFO" : "device")

const look = (file: Stats | undefined): Look => {
  if (file === undefined) return { _tag: "Absent", stamp: "" }
  const { ino, mode, mtimeMs, size } = file
  const stamp = [mtimeMs, size, ino, mode].join(":")
  if (!file.isFile()) return { _tag: "Unusable", stamp, problem: `is a ${sortOf(file)}; make it a plain file` }
  return size > largestFile
    ? { _tag: "Unusable", stamp, problem: `has ${size} bytes, more than ${largestFile}; shorten it` }
    : { _tag: "Present", stamp }
}

/** Every request asks for the settings several times, and a look that others have to wait for takes thirty times as long. */
export const lookAt = (path: string): Look =>
  Result.match(
    Result.try(() => statSync(path, { throwIfNoEntry: false })),
    {
      onSuccess: look,
      onFailure: (error) => ({ _tag: "Unusable", stamp: codeOf(error), problem: unreadable(codeOf(error)) })
    }
  )

/** What a look at the folder of hooks showed. */
export interface HooksLook {
  readonly files: ReadonlyArray<readonly [path: string, look: Look]>
  /** Why files may be missing from the list. */
  readonly problem: string | undefined
  /** Differs when something of it may have changed. */
  readonly stamp: string
}

/** A folder that is not there has no hooks; one that cannot be looked into may have some. */
export const lookAtHooks = (folder: string): HooksLook => {
  const listing = Result.try(() => readdirSync(folder).filter((name) => name.endsWith(".json")))
  if (Result.isFailure(listing)) {
    const code = codeOf(listing.failure)
    const problem = code === "ENOENT" ? undefined : `${folder} ${unreadable(code, "a folder")}; no hook of it runs`
    return { files: [], problem, stamp: code }
  }
  const names = listing.success.toSorted((one, other) => (one < other ? -1 : 1))
  const files = names.slice(0, mostHookFiles).map((name): readonly [string, Look] => {
    const path = `${folder}/${name}`
    return [path, lookAt(path)]
  })
  return {
    files,
    problem:
      names.length > mostHookFiles
        ? `${folder} has more than ${mostHookFiles} files; the hooks of the rest do not run`
        : undefined,
    stamp: [names.length, ...files.map(([path, { stamp }]) => `${path}:${stamp}`)].join("|")
  }
}
