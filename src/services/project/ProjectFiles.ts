/** What the files of a project say. Read whole, small and plain files only, and never through a link out of the project. */
import * as Toml from "effect/encoding/Toml"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Result from "effect/Result"
import type { HookSettings } from "../../domain/Hook.ts"
import { isWithin } from "../../domain/files/Paths.ts"
import { type SandboxProfile, stricter } from "../../domain/sandbox/Profile.ts"
import type { McpServerSettings, PermissionSettings } from "../Settings.ts"
import { readProfile } from "../settings/AgentSections.ts"
import { type Complain, rootSection } from "../settings/ConfigKey.ts"
import { parseHookFile, readHooks } from "../settings/HookSection.ts"
import { parseServerFile, readServers } from "../settings/McpSection.ts"
import { readPermission } from "../settings/PermissionSection.ts"
import { describeTomlProblem } from "../settings/TomlProblem.ts"

export interface ProjectContent {
  readonly permission: PermissionSettings
  readonly hooks: ReadonlyArray<HookSettings>
  readonly mcpServers: ReadonlyArray<McpServerSettings>
  readonly sandboxProfile: SandboxProfile | undefined
  readonly warnings: ReadonlyArray<string>
}

export interface ProjectFile {
  readonly path: string
  /** Differs when the file may have changed. */
  readonly stamp: string
}

/** In bytes. */
const LARGEST = 1024n * 1024n

/** Files of hooks in one folder, and folders between the root and a session. */
const MOST_FILES = 100
const MOST_FOLDERS = 50

/** What a project may speak of; the rest is the person's. */
const known = ["permission", "hooks", "mcp_servers", "sandbox"]

const OWN_FOLDER = ".supercharge"

const nothing: ProjectContent = {
  permission: { allow: [], ask: [], deny: [] },
  hooks: [],
  mcpServers: [],
  sandboxProfile: undefined,
  warnings: []
}

/** What lies in `home`, the person's own folder, is theirs also where they work around it, and no project's. */
export const makeProjectFiles = (fs: FileSystem.FileSystem, path: Path.Path, home: string) => {
  const look = Effect.fnUntraced(function* (root: string, file: string) {
    const real = yield* Effect.option(fs.realPath(file))
    if (Option.isNone(real) || !isWithin(root, real.value)) return undefined
    const info = yield* Effect.option(fs.stat(real.value))
    if (Option.isNone(info) || info.value.type !== "File") return undefined
    const { ino, mtime, size } = info.value
    const time = Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
    const stamp = [time, size, Option.getOrElse(ino, () => 0)].join(":")
    return { path: file, stamp } satisfies ProjectFile
  })

  const realOf = (folder: string) => Effect.orElseSucceed(fs.realPath(folder), () => path.resolve(folder))

  /** The folders from the root down to where a session works. */
  const foldersOf = (root: string, cwd: string): ReadonlyArray<string> => {
    const folders = [cwd]
    while (folders.length < MOST_FOLDERS && folders[0] !== undefined && folders[0] !== root) {
      const above = path.dirname(folders[0])
      if (above === folders[0]) break
      folders.unshift(above)
    }
    return folders
  }

  /** Every file that counts, in the order in which they count. */
  const find = Effect.fnUntraced(function* (root: string, cwd: string) {
    const candidates = [path.join(root, ".mcp.json")]
    const person = yield* realOf(home)
    for (const folder of foldersOf(root, cwd)) {
      if ((yield* realOf(path.join(folder, OWN_FOLDER))) === person) continue
      candidates.push(path.join(folder, OWN_FOLDER, "config.toml"))
      const hooks = path.join(folder, OWN_FOLDER, "hooks")
      const names = yield* Effect.orElseSucceed(fs.readDirectory(hooks), () => [])
      const own = names.filter((name) => name.endsWith(".json")).toSorted()
      candidates.push(...own.slice(0, MOST_FILES).map((name) => path.join(hooks, name)))
    }
    const found = yield* Effect.forEach(candidates, (file) => look(root, file))
    return found.filter((file) => file !== undefined)
  })

  const parseConfig = (text: string, file: string): ProjectContent => {
    const warnings: Array<string> = []
    const complain: Complain = (at, problem) => void warnings.push(`${file}: ${at} ${problem}`)
    const document = Toml.parse(text)
    if (Result.isFailure(document)) {
      return { ...nothing, warnings: [`${file} ${describeTomlProblem(document.failure.message, text)}`] }
    }
    const root = rootSection(document.success, complain)
    for (const { path: at } of root.unknown(known)) {
      complain(at, `is not read in a project; it may have ${known.join(", ")}`)
    }
    return {
      permission: readPermission(root.section("permission"), complain, complain),
      hooks: readHooks(root.section("hooks"), file, complain),
      mcpServers: readServers(root.section("mcp_servers"), [], complain),
      sandboxProfile: readProfile(root),
      warnings
    }
  }

  const parse = (text: string, file: string): ProjectContent => {
    if (path.basename(file) === "config.toml") return parseConfig(text, file)
    if (path.basename(file) === ".mcp.json") {
      const { problems, servers } = parseServerFile(text, file)
      return { ...nothing, mcpServers: servers, warnings: problems }
    }
    const { hooks, problems } = parseHookFile(text, file)
    return { ...nothing, hooks, warnings: problems }
  }

  const readOne = Effect.fnUntraced(function* ({ path: file }: ProjectFile) {
    const text = yield* fs.stat(file).pipe(
      Effect.filterOrFail(({ size }) => size <= LARGEST),
      Effect.andThen(fs.readFileString(file)),
      Effect.option
    )
    return Option.match(text, {
      onNone: () => ({ ...nothing, warnings: [`${file} cannot be read, or is larger than 1 MiB: it is not used`] }),
      onSome: (content) => parse(content, file)
    })
  })

  /** Rules add up; a server of a nearer folder replaces one of its name; of profiles the strictest counts. */
  const join = (all: ReadonlyArray<ProjectContent>): ProjectContent => {
    const servers = new Map(all.flatMap(({ mcpServers }) => mcpServers.map((server) => [server.spec.name, server])))
    const profiles = all.flatMap(({ sandboxProfile }) => sandboxProfile ?? [])
    return {
      permission: {
        allow: all.flatMap(({ permission }) => permission.allow),
        ask: all.flatMap(({ permission }) => permission.ask),
        deny: all.flatMap(({ permission }) => permission.deny)
      },
      hooks: all.flatMap(({ hooks }) => hooks),
      mcpServers: [...servers.values()],
      sandboxProfile: profiles.length === 0 ? undefined : profiles.reduce(stricter),
      warnings: all.flatMap(({ warnings }) => warnings)
    }
  }

  return {
    find,
    read: (files: ReadonlyArray<ProjectFile>) => Effect.map(Effect.forEach(files, readOne), join)
  }
}
