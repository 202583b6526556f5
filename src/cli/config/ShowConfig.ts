/** Prints the configuration as it holds in this folder, value by value, with where each comes from. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Toml from "effect/encoding/Toml"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { homedir } from "node:os"
import * as ProjectFiles from "../../composition/Projects.ts"
import { settings } from "../../composition/Platform.ts"
import type { HookSettings } from "../../domain/Hook.ts"
import { makeProjectFiles } from "../../services/project/ProjectFiles.ts"
import { Projects } from "../../services/Projects.ts"
import { type Flags, Settings, type SettingsValue } from "../../services/Settings.ts"
import { valueText } from "../../services/settings/ConfigEdit.ts"
import { linesOf } from "../../services/settings/ConfigLines.ts"
import { keyPaths } from "../../services/settings/ConfigSchema.ts"
import { lookAt } from "../../services/settings/FileLook.ts"
import {
  environmentSaid,
  type Explained,
  explain,
  isProjectKey,
  type Origin,
  type Said,
  saidInFile,
  saidInFlags
} from "../../services/settings/Provenance.ts"
import { terminalWidth } from "../login/Terminal.ts"
import { failed } from "../Explained.ts"
import { table } from "../terminal/Table.ts"
import { isConfigValue, quietly, unknownKey } from "./EditConfig.ts"

const saidInText = (text: string, layer: "file" | "project", path: string): ReadonlyArray<Said> =>
  Result.match(Toml.parse(text), {
    onSuccess: (document) => saidInFile(document, layer, path, linesOf(text)),
    onFailure: () => []
  })

/** Keys that are somewhere else than in the file. */
const keysOf = ({ providers }: SettingsValue): ReadonlyArray<Said> =>
  providers.flatMap(({ keySource, name }): ReadonlyArray<Said> => {
    if (keySource === undefined || keySource.kind === "file") return []
    const from: Origin =
      keySource.kind === "login"
        ? { layer: "login", name: "super-pi login" }
        : { layer: "environment", name: keySource.name }
    return [{ path: ["providers", name, "api_key"], value: undefined, isSecret: true, from }]
  })

const hookRows = (hooks: ReadonlyArray<HookSettings>, layer: "file" | "project"): ReadonlyArray<Explained> =>
  hooks.map(({ action, event, source }) => ({
    key: `hooks.${event}`,
    value: action._tag === "Command" ? action.command : action.url,
    isSecret: false,
    from: { layer, name: source },
    over: []
  }))

const gather = Effect.fnUntraced(function* (flags: Flags) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const { current, home } = yield* Settings
  const value = yield* current
  const cwd = paths.resolve(".")
  const project = yield* (yield* Projects).of(cwd)
  const read = (path: string) =>
    lookAt(path)._tag === "Present" ? Effect.orElseSucceed(fs.readFileString(path), () => "") : Effect.succeed("")
  const own = paths.join(home, "config.toml")
  const { files } = yield* makeProjectFiles(fs, paths, home).find(project.root, yield* fs.realPath(cwd))
  const theirs = yield* Effect.forEach(
    files.filter(({ kind, place }) => kind === "config" && Result.isSuccess(place)),
    ({ path }) => Effect.map(read(path), (text) => saidInText(text, "project", path))
  )
  const isTrusted = project.trust === "trusted"
  const said = [
    ...saidInText(yield* read(own), "file", own),
    ...theirs.flat().filter(({ path }) => isProjectKey(path, isTrusted)),
    ...keysOf(value),
    ...(yield* environmentSaid(yield* ConfigProvider.ConfigProvider)),
    ...saidInFlags(flags)
  ]
  const rows = [...explain(said), ...hookRows(value.hooks, "file"), ...hookRows(project.hooks, "project")]
  return { rows, warnings: [...value.warnings, ...project.warnings], withheld: isTrusted ? [] : project.withheld }
})

const shortened = (path: string): string => path.replace(new RegExp(`^${RegExp.escape(homedir())}(?=/)`), "~")

const originText = ({ line, name }: Origin): string => shortened(name) + (line === undefined ? "" : `:${line}`)

const textOf = ({ isSecret, value }: Explained): string =>
  isSecret ? "(hidden)" : isConfigValue(value) ? valueText(value) : ""

const isWithin = (key: string, asked: string): boolean => key === asked || key.startsWith(`${asked}.`)

const isKnown = (asked: string): boolean =>
  asked === "hooks" || keyPaths().some(([path]) => isWithin(path, asked) || path.split(".")[0] === asked.split(".")[0])

export interface ShowInput {
  readonly flags: Flags
  readonly key: Option.Option<string>
  readonly json: boolean
}

export const run = Effect.fnUntraced(function* ({ flags, json, key }: ShowInput) {
  const provided = ProjectFiles.layer.pipe(Layer.provideMerge(settings(flags)))
  const { rows, warnings, withheld } = yield* quietly(Effect.provide(gather(flags), provided))
  const asked = Option.getOrUndefined(key)
  const wanted = asked === undefined ? rows : rows.filter((row) => isWithin(row.key, asked))
  if (asked !== undefined && wanted.length === 0) {
    if (!isKnown(asked)) return yield* failed(unknownKey(asked))
    return yield* Console.error(`${asked} is not set, and has no value of its own`)
  }
  if (json) {
    for (const { from, isSecret, key, over, value } of wanted) {
      yield* Console.log(JSON.stringify({ key, ...(isSecret ? { secret: true } : { value }), from, over }))
    }
    return
  }
  const lines = table(
    [
      { title: "KEY", cells: wanted.map((row) => row.key) },
      { title: "VALUE", cells: wanted.map(textOf), shrink: "end" },
      {
        title: "FROM",
        cells: wanted.map(({ from, over }) =>
          [
            originText(from),
            ...over.filter(({ layer }) => layer !== "default").map((one) => `over ${originText(one)}`)
          ].join(", ")
        ),
        shrink: "start"
      }
    ],
    terminalWidth()
  )
  for (const line of lines) yield* Console.log(line)
  if (asked !== undefined) return
  for (const warning of warnings) yield* Console.error(`warning: ${warning}`)
  if (withheld.length > 0) {
    yield* Console.error(
      `This folder is not trusted, so this of its configuration is not used:\n- ${withheld.join("\n- ")}`
    )
  }
})
