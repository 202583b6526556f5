/** Reads the folders of plugins. Loaded only when there are some. What is wrong in one of them costs no more than that part. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isWithin } from "../../domain/files/Paths.ts"
import { problemOf } from "../../domain/text/json/Complexity.ts"
import type { Plugin } from "../Plugins.ts"
import type { McpServerSettings } from "../Settings.ts"
import { lookAt, unreadable } from "../settings/FileLook.ts"
import { parseHookFile } from "../settings/HookSection.ts"
import { parseServerFile } from "../settings/McpSection.ts"
import { manifests, type PluginLook } from "./PluginLook.ts"

export interface ReadPlugins {
  readonly plugins: ReadonlyArray<Plugin>
  /** What was read, with the stamp of the look at each: some places only a plugin itself names. */
  readonly looked: ReadonlyMap<string, string>
  readonly warnings: ReadonlyArray<string>
  /** Those of the warnings that tell of hooks that do not hold. */
  readonly lost: ReadonlyArray<string>
}

/** A plugin says where it is through these. */
const ROOT_VARIABLES = ["SUPERCHARGE_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"]
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
/** What no file of a plugin needs, and no reader should have to take apart. */
const MOST = { free: 0, values: 50_000, depth: 100 }
/** Files of agents in one plugin. */
const MOST_AGENTS = 100

const Places = Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)]))
const Manifest = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  agents: Places,
  commands: Places,
  skills: Places,
  hooks: Schema.optionalKey(Schema.Union([Schema.String, Schema.JsonObject])),
  mcpServers: Schema.optionalKey(Schema.Union([Schema.String, Schema.JsonObject]))
})
type Manifest = typeof Manifest.Type
const decodeManifest = Schema.decodeUnknownResult(Schema.fromJsonString(Manifest))

const withRoot = (value: unknown, root: string): unknown => {
  if (typeof value === "string") {
    return ROOT_VARIABLES.reduce((text, name) => text.replaceAll(`\${${name}}`, root), value)
  }
  if (Array.isArray(value)) return value.map((item: unknown) => withRoot(item, root))
  return Predicate.isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withRoot(item, root)]))
    : value
}

const untilThen = (problem: string): string => `${problem}. Until then its last good content holds`

/** The servers may stand at the top of the file as well. */
const wrapped = (document: unknown): unknown =>
  Predicate.isObject(document) && !Array.isArray(document) && !("mcpServers" in document)
    ? { mcpServers: document }
    : document

const rootPairs = (root: string) => ROOT_VARIABLES.map((name) => ({ name, value: Redacted.make(root) }))

const withRootVariables = (server: McpServerSettings, root: string): McpServerSettings =>
  server.spec._tag === "Stdio"
    ? { ...server, spec: { ...server.spec, env: [...server.spec.env, ...rootPairs(root)] } }
    : server

/** `last` are those of the reading before: what of them guards the agent holds while somebody edits its file. */
export const makePluginReader = (fs: FileSystem.FileSystem, path: Path.Path, last: ReadonlyArray<Plugin>) => {
  const looked = new Map<string, string>()
  const stamped = (file: string) => {
    const look = lookAt(file)
    looked.set(file, look.stamp)
    return look
  }

  const readOne = Effect.fnUntraced(function* (root: string) {
    const before = last.find((plugin) => plugin.root === root)
    const warnings: Array<string> = []
    const lost: Array<string> = []

    const complain = (problem: string) => void warnings.push(problem)
    /** What was to forbid something and does not hold. */
    const alarm = (problem: string) => {
      complain(problem)
      lost.push(problem)
    }

    /** Undefined where there is no such file. */
    const textOf = Effect.fnUntraced(function* (file: string, otherwise: string, tell = complain) {
      const look = stamped(file)
      if (look._tag === "Absent") return undefined
      if (look._tag === "Unusable") {
        tell(`${file} ${look.problem}; ${otherwise}`)
        return undefined
      }
      const read = yield* Effect.result(fs.readFileString(file))
      if (Result.isFailure(read)) {
        tell(`${file} ${unreadable(read.failure.reason._tag)}; ${otherwise}`)
        return undefined
      }
      const problem = problemOf(read.success, MOST)
      if (problem === undefined) return read.success
      tell(`${file} is not read: ${problem}; ${otherwise}`)
      return undefined
    })

    const manifestOf = Effect.fnUntraced(function* (): Effect.fn.Return<Manifest> {
      for (const name of manifests) {
        const file = path.join(root, name)
        const text = yield* textOf(file, "the usual folders of the plugin count")
        if (text === undefined) continue
        const manifest = decodeManifest(text)
        if (Result.isSuccess(manifest)) return manifest.success
        warnings.push(`${file} does not describe a plugin; it is not read, and the usual folders count`)
      }
      return {}
    })

    /** What leads out of the plugin is not part of it. */
    const inside = (place: string, field: string): ReadonlyArray<string> => {
      const found = path.resolve(root, place)
      if (isWithin(root, found)) return [found]
      warnings.push(`${root}: ${field} of its plugin.json leads out of the plugin, so it is not used`)
      return []
    }

    const foldersOf = (named: string | ReadonlyArray<string> | undefined, field: string) =>
      (typeof named === "string" ? [named] : (named ?? [field])).flatMap((place) => inside(place, field))

    /** The JSON of a part that is in a file, or in the manifest itself. */
    const partOf = Effect.fnUntraced(function* (
      named: string | Schema.JsonObject | undefined,
      usual: string,
      field: string,
      otherwise: string,
      tell = complain
    ) {
      if (typeof named === "object") return { file: root, text: JSON.stringify(named) }
      const [file] = inside(named ?? usual, field)
      const text = file === undefined ? undefined : yield* textOf(file, otherwise, tell)
      return file === undefined || text === undefined ? undefined : { file, text }
    })

    const hooksOf = Effect.fnUntraced(function* ({ hooks }: Manifest) {
      const part = yield* partOf(hooks, "hooks/hooks.json", "hooks", "no hook of it runs", alarm)
      if (part === undefined) return []
      const read = parseHookFile(part.text, part.file)
      if (Result.isFailure(read)) {
        if (before !== undefined && before.hooks.length > 0) {
          complain(untilThen(read.failure))
          return before.hooks
        }
        alarm(read.failure)
        return []
      }
      warnings.push(...read.success.warnings)
      lost.push(...read.success.lost)
      const environment = Object.fromEntries(rootPairs(root).map(({ name, value }) => [name, value]))
      return read.success.hooks.map((hook) => ({ ...hook, environment: { ...environment, ...hook.environment } }))
    })

    const serversOf = Effect.fnUntraced(function* ({ mcpServers }: Manifest) {
      const part = yield* partOf(mcpServers, ".mcp.json", "mcpServers", "none of its servers is used")
      if (part === undefined) return []
      const document = Result.try((): unknown => JSON.parse(part.text))
      const text = Result.isSuccess(document) ? JSON.stringify(withRoot(wrapped(document.success), root)) : part.text
      const read = parseServerFile(text, part.file)
      if (Result.isFailure(read)) {
        warnings.push(read.failure)
        return []
      }
      warnings.push(...read.success.warnings)
      return read.success.servers.map((server) => withRootVariables(server, root))
    })

    const agentsIn = (folder: string) =>
      Effect.orElseSucceed(
        Effect.map(fs.readDirectory(folder), (names) =>
          names
            .filter((name) => name.endsWith(".md") && !name.startsWith("."))
            .toSorted()
            .slice(0, MOST_AGENTS)
            .map((name) => path.join(folder, name))
        ),
        (): ReadonlyArray<string> => []
      )

    const manifest = yield* manifestOf()
    const agents = yield* Effect.forEach(foldersOf(manifest.agents, "agents"), (place) => {
      if (place.endsWith(".md")) return Effect.succeed([place])
      stamped(place)
      return agentsIn(place)
    })
    const said = manifest.name ?? ""
    const plugin: Plugin = {
      name: NAME.test(said) ? said : path.basename(root).replace(/[^A-Za-z0-9_.-]+/g, "-"),
      root,
      agents: agents.flat(),
      commands: foldersOf(manifest.commands, "commands"),
      skills: foldersOf(manifest.skills, "skills"),
      hooks: yield* hooksOf(manifest),
      mcpServers: yield* serversOf(manifest)
    }
    return { plugin, warnings, lost }
  })

  /** Of two plugins of one name, the first one counts. */
  return Effect.fnUntraced(function* ({ folders }: PluginLook): Effect.fn.Return<ReadPlugins> {
    const read = yield* Effect.forEach(folders, readOne)
    const plugins = new Map<string, Plugin>()
    const warnings = read.flatMap((one) => one.warnings)
    for (const { plugin } of read) {
      const earlier = plugins.get(plugin.name)
      if (earlier === undefined) plugins.set(plugin.name, plugin)
      else warnings.push(`${plugin.root} is not used: ${earlier.root} is a plugin of the same name`)
    }
    return { plugins: [...plugins.values()], looked, warnings, lost: read.flatMap((one) => one.lost) }
  })
}
