/** The live settings: nothing is read before somebody asks, and the file only again after it changed. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as SynchronizedRef from "effect/SynchronizedRef"
import { homedir } from "node:os"
import type { Flags, SettingsShape, SettingsValue } from "../Settings.ts"
import { readEnvironment, readSecret, readVariable } from "./Environment.ts"
import { type HooksLook, type Look, lookAt, lookAtHooks, unreadable } from "./FileLook.ts"
import { emptyFile, type FileSettings } from "./FileSettings.ts"
import type { HookFiles } from "./HookFiles.ts"
import { lookAtPlugins, type PluginLook } from "../plugins/PluginLook.ts"
import { mergeSettings, noStoredKeys, withPlugins } from "./Merge.ts"

/** In the home folder; made by `super-pi login`. */
export const CREDENTIALS_FILE = "credentials.json"

/** What a look at the file showed, and the settings that were made of it. */
interface Reading {
  /** Differs when the file may have changed. */
  readonly stamp: string
  /** Files that only others of them name, each with its stamp. */
  readonly looked: ReadonlyMap<string, string>
  /** The last content that could be read. */
  readonly file: FileSettings
  readonly hookFiles: HookFiles | undefined
  readonly value: SettingsValue
}

const nothingLooked: ReadonlyMap<string, string> = new Map()

/** Does no IO by itself: the first look at the file is the first use of `current`. */
export const makeSettings = Effect.fnUntraced(function* (flags: Flags) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const provider = yield* ConfigProvider.ConfigProvider
  const configured = yield* readVariable(provider, "SUPERCHARGE_HOME")
  const home = paths.resolve((configured ?? "~/.supercharge").replace(/^~(?=\/|$)/, homedir()))
  const path = paths.join(home, "config.toml")
  const { pluginDirs = [] } = flags
  const hooksFolder = paths.join(home, "hooks")
  const credentials = paths.join(home, CREDENTIALS_FILE)
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

  const readHooks = Effect.fnUntraced(function* (seen: HooksLook, last: Reading | undefined) {
    if (seen.files.length === 0 && seen.problem === undefined) return undefined
    const { readHookFiles } = yield* Effect.promise(() => import("./HookFiles.ts"))
    return yield* readHookFiles(fs, seen, last?.hookFiles)
  })

  /** The keys that were stored, or why they cannot be read. */
  const readKeys = Effect.fnUntraced(function* (seen: Look) {
    if (seen._tag === "Absent") return Result.succeed(noStoredKeys)
    const { readStoredKeys } = yield* Effect.promise(() => import("./StoredKeys.ts"))
    return yield* Effect.result(readStoredKeys(fs, credentials, seen))
  })

  const readPlugins = Effect.fnUntraced(function* (value: SettingsValue, seen: PluginLook, last: Reading | undefined) {
    if (seen.folders.length === 0) return { value, looked: nothingLooked }
    const { makePluginReader } = yield* Effect.promise(() => import("../plugins/PluginFolders.ts"))
    const read = yield* makePluginReader(fs, paths, last?.value.plugins ?? [])(seen)
    return { value: withPlugins(value, read), looked: read.looked }
  })

  /** All that is looked at before anything is read. */
  const lookAround = () => ({
    config: lookAt(path),
    hooks: lookAtHooks(hooksFolder),
    keys: lookAt(credentials),
    plugins: lookAtPlugins(pluginDirs, home)
  })

  const read = Effect.fnUntraced(function* (
    stamp: string,
    seen: ReturnType<typeof lookAround>,
    last: Reading | undefined
  ) {
    const hookFiles = yield* readHooks(seen.hooks, last)
    const content = yield* Effect.result(readFile(seen.config))
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
    const stored = yield* readKeys(seen.keys)
    const storedKeys = Result.getOrElse(stored, () => noStoredKeys)
    const merged = mergeSettings({ file, path, environment, namedKeys, storedKeys, flags })
    const own: SettingsValue = {
      ...merged,
      hooks: [...merged.hooks, ...(hookFiles?.hooks ?? [])],
      warnings: [
        ...problem,
        ...(Result.isFailure(stored) ? [stored.failure] : []),
        ...merged.warnings,
        ...(hookFiles?.warnings ?? [])
      ],
      lostRules: [...(isEmpty ? problem : []), ...merged.lostRules, ...(hookFiles?.lost ?? [])]
    }
    const { looked, value } = yield* readPlugins(own, seen.plugins, last)
    yield* Effect.forEach(value.warnings, (warning) => Effect.logWarning(warning), { discard: true })
    return { stamp, looked, file, hookFiles, value } satisfies Reading
  })

  const current = SynchronizedRef.modifyEffect(
    latest,
    Effect.fnUntraced(function* (last) {
      const seen = lookAround()
      const stamp = Object.values(seen)
        .map((look) => look.stamp)
        .join("|")
      const isSame = last?.stamp === stamp && [...last.looked].every(([file, its]) => lookAt(file).stamp === its)
      const reading = isSame ? last : yield* read(stamp, seen, last)
      return [reading.value, reading] as const
    })
  )

  return { home, current } satisfies SettingsShape
})
