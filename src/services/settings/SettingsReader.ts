/** The live settings: nothing is read before somebody asks, and the file only again after it changed. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as SynchronizedRef from "effect/SynchronizedRef"
import { statSync } from "node:fs"
import { homedir } from "node:os"
import type { Flags, SettingsShape, SettingsValue } from "../Settings.ts"
import { readEnvironment, readSecret, readVariable } from "./Environment.ts"
import { emptyFile, type FileSettings } from "./FileSettings.ts"
import { mergeSettings } from "./Merge.ts"

/** In bytes. */
const largestFile = 1024n * 1024n

/** What a look at the file showed, and the settings that were made of it. */
interface Reading {
  /** The same while nothing can have changed. */
  readonly glance: string | undefined
  /** Differs when the file may have changed. */
  readonly stamp: string
  /** The last content that could be read. */
  readonly file: FileSettings
  readonly value: SettingsValue
}

type Look =
  | { readonly _tag: "Absent" | "Present"; readonly stamp: string }
  | { readonly _tag: "Unusable"; readonly stamp: string; readonly problem: string }

/**
 * A first look, for which nobody waits: every request asks for the settings several times. Undefined when there is
 * something in the way, which then takes the longer look to name it.
 */
const glanceAt = (path: string): string | undefined =>
  Result.getOrUndefined(
    Result.try(() => {
      const file = statSync(path, { throwIfNoEntry: false })
      return file === undefined ? "" : [file.mtimeMs, file.size, file.ino, file.mode].join(":")
    })
  )

const unreadable = ({ reason }: PlatformError): string =>
  `cannot be read (${reason._tag}); make it a file that you may read`

const look = (file: FileSystem.File.Info): Look => {
  const { ino, mode, mtime, size, type } = file
  const stamp = [Option.getOrUndefined(mtime)?.getTime(), size, Option.getOrUndefined(ino), mode, type].join(":")
  if (type !== "File") return { _tag: "Unusable", stamp, problem: `is a ${type}; make it a plain file` }
  return size > largestFile
    ? { _tag: "Unusable", stamp, problem: `has ${size} bytes, more than ${largestFile}; shorten it` }
    : { _tag: "Present", stamp }
}

const lookFailed = (error: PlatformError): Look =>
  error.reason._tag === "NotFound"
    ? { _tag: "Absent", stamp: "" }
    : { _tag: "Unusable", stamp: error.reason._tag, problem: unreadable(error) }

/** Does no IO by itself: the first look at the file is the first use of `current`. */
export const makeSettings = Effect.fnUntraced(function* (flags: Flags) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const provider = yield* ConfigProvider.ConfigProvider
  const configured = yield* readVariable(provider, "SUPERCHARGE_HOME")
  const home = paths.resolve((configured ?? "~/.supercharge").replace(/^~(?=\/|$)/, homedir()))
  const path = paths.join(home, "config.toml")
  const latest = yield* SynchronizedRef.make<Reading | undefined>(undefined)

  /** Fails with a sentence for the person who wrote the file. */
  const readFile = Effect.fnUntraced(function* (seen: Look): Effect.fn.Return<FileSettings, string> {
    if (seen._tag === "Absent") return emptyFile
    if (seen._tag === "Unusable") return yield* Effect.fail(`${path} ${seen.problem}`)
    const text = yield* fs.readFileString(path).pipe(Effect.mapError((error) => `${path} ${unreadable(error)}`))
    const { parseConfigFile } = yield* Effect.promise(() => import("./ConfigFile.ts"))
    return yield* Effect.fromResult(parseConfigFile(text, path))
  })

  const read = Effect.fnUntraced(function* (seen: Look, last: Reading | undefined) {
    const content = yield* Effect.result(readFile(seen))
    const file = Result.getOrElse(content, () => last?.file ?? emptyFile)
    const isEmpty = file === emptyFile
    const problem = Result.match(content, {
      onSuccess: () => [],
      // A half-saved file must not take rules or keys away from sessions that are running.
      onFailure: (text) => [
        `${text}. Until then ${isEmpty ? "the file counts as empty" : "its last good content holds"}`
      ]
    })
    const environment = yield* readEnvironment(provider)
    const names = new Set(file.providers.flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []))
    const namedKeys = new Map<string, Redacted.Redacted<string> | undefined>()
    for (const name of names) namedKeys.set(name, yield* readSecret(provider, name))
    const merged = mergeSettings({ file, path, environment, namedKeys, flags })
    const value: SettingsValue = {
      ...merged,
      warnings: [...problem, ...merged.warnings],
      lostRules: [...(isEmpty ? problem : []), ...merged.lostRules]
    }
    yield* Effect.forEach(value.warnings, (warning) => Effect.logWarning(warning), { discard: true })
    return { stamp: seen.stamp, file, value }
  })

  const current = SynchronizedRef.modifyEffect(
    latest,
    Effect.fnUntraced(function* (last) {
      const glance = glanceAt(path)
      if (last !== undefined && glance !== undefined && last.glance === glance) return [last.value, last] as const
      const seen = yield* fs.stat(path).pipe(Effect.match({ onSuccess: look, onFailure: lookFailed }))
      const reading = { ...(last?.stamp === seen.stamp ? last : yield* read(seen, last)), glance }
      return [reading.value, reading] as const
    })
  )

  return { home, current } satisfies SettingsShape
})
