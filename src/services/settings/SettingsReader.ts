/** The live settings: nothing is read before somebody asks, and the file only again after it changed. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as SynchronizedRef from "effect/SynchronizedRef"
import { readdirSync, type Stats, statSync } from "node:fs"
import { homedir } from "node:os"
import type { Flags, SettingsShape, SettingsValue } from "../Settings.ts"
import { readEnvironment, readSecret, readVariable } from "./Environment.ts"
import { emptyFile, type FileSettings } from "./FileSettings.ts"
import { mergeSettings } from "./Merge.ts"

/** In bytes. */
const largestFile = 1024 * 1024

/** What a look at the file showed, and the settings that were made of it. */
interface Reading {
  /** Differs when the file may have changed. */
  readonly stamp: string
  /** The last content that could be read. */
  readonly file: FileSettings
  readonly value: SettingsValue
}

type Look =
  | { readonly _tag: "Absent" | "Present"; readonly stamp: string }
  | { readonly _tag: "Unusable"; readonly stamp: string; readonly problem: string }

const unreadable = (reason: string): string => `cannot be read (${reason}); make it a file that you may read`

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
const lookAt = (path: string): Look =>
  Result.match(
    Result.try(() => statSync(path, { throwIfNoEntry: false })),
    {
      onSuccess: look,
      onFailure: (error) => {
        const code = Predicate.hasProperty(error, "code") ? String(error.code) : "no reason was given"
        return { _tag: "Unusable", stamp: code, problem: unreadable(code) }
      }
    }
  )

/** The files of hooks beside the configuration, and a stamp that differs when one of them may have changed. */
const lookAtHooks = (folder: string) => {
  const names = Result.getOrElse(
    Result.try(() => readdirSync(folder).filter((name) => name.endsWith(".json"))),
    () => []
  )
  const seen = names
    .toSorted((one, other) => (one < other ? -1 : 1))
    .map((name) => [name, lookAt(`${folder}/${name}`)] as const)
  return { seen, stamp: seen.map(([name, { stamp }]) => `${name}:${stamp}`).join("|") }
}

/** Does no IO by itself: the first look at the file is the first use of `current`. */
export const makeSettings = Effect.fnUntraced(function* (flags: Flags) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const provider = yield* ConfigProvider.ConfigProvider
  const configured = yield* readVariable(provider, "SUPERCHARGE_HOME")
  const home = paths.resolve((configured ?? "~/.supercharge").replace(/^~(?=\/|$)/, homedir()))
  const path = paths.join(home, "config.toml")
  const hooksFolder = paths.join(home, "hooks")
  const latest = yield* SynchronizedRef.make<Reading | undefined>(undefined)

  /** Fails with a sentence for the person who wrote the file. */
  const readFile = Effect.fnUntraced(function* (seen: Look): Effect.fn.Return<FileSettings, string> {
    if (seen._tag === "Absent") return emptyFile
    if (seen._tag === "Unusable") return yield* Effect.fail(`${path} ${seen.problem}`)
    const [text, { parseConfigFile }] = yield* Effect.all(
      [
        fs.readFileString(path).pipe(Effect.mapError(({ reason }) => `${path} ${unreadable(reason._tag)}`)),
        Effect.promise(() => import("./ConfigFile.ts"))
      ],
      { concurrency: 2 }
    )
    return yield* Effect.fromResult(parseConfigFile(text, path))
  })

  /** What cannot be read forbids nothing, which has to be told. */
  const readHookFiles = Effect.fnUntraced(function* (seen: ReturnType<typeof lookAtHooks>["seen"]) {
    if (seen.length === 0) return { hooks: [], problems: [] }
    const { parseHookFile } = yield* Effect.promise(() => import("./HookSection.ts"))
    const files = yield* Effect.forEach(
      seen,
      Effect.fnUntraced(function* ([name, look]) {
        const file = paths.join(hooksFolder, name)
        if (look._tag === "Unusable") return { hooks: [], problems: [`${file} ${look.problem}`] }
        const text = yield* Effect.result(fs.readFileString(file))
        return Result.isFailure(text)
          ? { hooks: [], problems: [`${file} ${unreadable(text.failure.reason._tag)}`] }
          : parseHookFile(text.success, file)
      })
    )
    return { hooks: files.flatMap(({ hooks }) => hooks), problems: files.flatMap(({ problems }) => problems) }
  })

  const read = Effect.fnUntraced(function* (
    seen: Look,
    hookFiles: ReturnType<typeof lookAtHooks>,
    last: Reading | undefined
  ) {
    const besides = yield* readHookFiles(hookFiles.seen)
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
      hooks: [...merged.hooks, ...besides.hooks],
      warnings: [...problem, ...merged.warnings, ...besides.problems],
      lostRules: [...(isEmpty ? problem : []), ...merged.lostRules, ...besides.problems]
    }
    yield* Effect.forEach(value.warnings, (warning) => Effect.logWarning(warning), { discard: true })
    return { stamp: `${seen.stamp}|${hookFiles.stamp}`, file, value } satisfies Reading
  })

  const current = SynchronizedRef.modifyEffect(
    latest,
    Effect.fnUntraced(function* (last) {
      const seen = lookAt(path)
      const hookFiles = lookAtHooks(hooksFolder)
      const isSame = last?.stamp === `${seen.stamp}|${hookFiles.stamp}`
      const reading = isSame ? last : yield* read(seen, hookFiles, last)
      return [reading.value, reading] as const
    })
  )

  return { home, current } satisfies SettingsShape
})
