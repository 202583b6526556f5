/** The files `hooks/*.json` of the home folder, as far as they can be read. Loaded only when there are such files. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import { type HooksLook, type Look, unreadable } from "./FileLook.ts"
import { type HookFile, parseHookFile } from "./HookSection.ts"

/** What the files say together, and each that was ever good, by its path. */
export interface HookFiles extends HookFile {
  readonly good: ReadonlyMap<string, HookFile>
}

/** A file that breaks while somebody edits it keeps what it said last; one that was never good forbids nothing, which is told. */
export const readHookFiles = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  { files, problem }: HooksLook,
  last: HookFiles | undefined
): Effect.fn.Return<HookFiles> {
  const readOne = Effect.fnUntraced(function* (path: string, look: Look): Effect.fn.Return<HookFile, string> {
    if (look._tag === "Unusable") return yield* Effect.fail(`${path} ${look.problem}`)
    const text = yield* Effect.mapError(fs.readFileString(path), ({ reason }) => `${path} ${unreadable(reason._tag)}`)
    return yield* Effect.fromResult(parseHookFile(text, path))
  })

  const good = new Map<string, HookFile>()
  const found = yield* Effect.forEach(
    files,
    Effect.fnUntraced(function* ([path, look]): Effect.fn.Return<HookFile> {
      const read = yield* Effect.result(readOne(path, look))
      const before = last?.good.get(path)
      const kept = Result.getOrElse(read, () => before)
      if (kept !== undefined) good.set(path, kept)
      if (Result.isSuccess(read)) return read.success
      if (before === undefined) return { hooks: [], warnings: [read.failure], lost: [read.failure] }
      return { ...before, warnings: [...before.warnings, `${read.failure}. Until then its last good content holds`] }
    })
  )
  const problems = problem === undefined ? [] : [problem]
  return {
    hooks: found.flatMap(({ hooks }) => hooks),
    warnings: [...problems, ...found.flatMap(({ warnings }) => warnings)],
    lost: [...problems, ...found.flatMap(({ lost }) => lost)],
    good
  }
})
