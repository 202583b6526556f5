/** The `list` tool: the names in one folder. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { failure } from "../files/DiskFile.ts"
import { makeIgnoreRules } from "../files/IgnoreRules.ts"
import type { RealPaths } from "../files/RealPath.ts"
import type { WorkspaceBounds } from "../files/WorkspaceBounds.ts"
import type { Readable } from "../PermissionBroker.ts"
import type { SettingsIn } from "../project/ProjectSettings.ts"
import type { PreparedCall, ToolContext, ToolDefinition } from "../ToolDefinition.ts"
import { hiddenNote, noteClosed, shownBelow } from "./support/Hidden.ts"
import type { Workspace } from "../Workspace.ts"
import { makeInput } from "./support/Input.ts"
import { completed, failed } from "./support/Outcome.ts"
import { accessTo, type Place, type Places } from "./support/Places.ts"
import { includesIgnored } from "./support/SearchPlaces.ts"
import type { Suggestions } from "./support/Suggestions.ts"

const parameters = Schema.Struct({
  path: Schema.optionalKey(Schema.String.annotate({ description: "Folder; default: the working folder" })),
  include_ignored: Schema.optionalKey(Schema.Boolean)
})

const tool = AiTool.make("list", { description: "List one folder; names of folders end with /.", parameters })

const LIMIT = 1_000

export interface ListServices {
  readonly fs: FileSystem.FileSystem
  readonly paths: Path.Path
  readonly realPaths: RealPaths
  readonly places: Places
  readonly bounds: WorkspaceBounds
  readonly suggestions: Suggestions
  readonly settingsIn: SettingsIn
}

const ignoredNote = (count: number): ReadonlyArray<string> =>
  count === 0
    ? []
    : [
        `(${count} git-ignored ${count === 1 ? "name is" : "names are"} not shown; include_ignored shows ${count === 1 ? "it" : "them"})`
      ]

export const makeList = (services: ListServices): ToolDefinition => {
  const { bounds, fs, paths, places, realPaths, settingsIn, suggestions } = services
  const decode = makeInput("list", parameters)

  const nameOf = Effect.fnUntraced(function* (folder: string, { name, type }: FileSystem.DirectoryEntry) {
    if (type !== "SymbolicLink") return type === "Directory" ? `${name}/` : name
    const target = yield* Effect.option(fs.stat(paths.join(folder, name)))
    return Option.isSome(target) && target.value.type === "Directory" ? `${name}/` : name
  })

  /** A link is shown only if both it and what it leads to may be. */
  const shownOf = Effect.fnUntraced(function* (
    place: Place,
    entries: ReadonlyArray<FileSystem.DirectoryEntry>,
    readable: Option.Option<Readable>
  ) {
    if (Option.isNone(readable)) return entries
    const isShown = shownBelow(place, readable)
    return yield* Effect.filter(entries, ({ name, type }) => {
      if (!isShown(name)) return Effect.succeed(false)
      if (type !== "SymbolicLink") return Effect.succeed(true)
      return Effect.map(realPaths.resolve(paths.join(place.real, name)), readable.value)
    })
  })

  /** Without what is private, and without links that lead there. */
  const openOf = Effect.fnUntraced(function* ({ real }: Place, entries: ReadonlyArray<FileSystem.DirectoryEntry>) {
    const { isClosed } = yield* bounds.closedBelow(real)
    return yield* Effect.filter(entries, ({ name, type }) => {
      const path = paths.join(real, name)
      if (isClosed(path) || type !== "SymbolicLink") return Effect.succeed(!isClosed(path))
      return Effect.map(realPaths.resolve(path), (target) => !isClosed(target))
    })
  })

  /** By the same rules as a search: a link is no folder. */
  const searchedOf = Effect.fnUntraced(function* (
    folder: string,
    entries: ReadonlyArray<FileSystem.DirectoryEntry>,
    asked: boolean | undefined,
    workspace: Workspace
  ) {
    if (yield* includesIgnored(settingsIn, workspace, asked)) return entries
    const { ignores } = makeIgnoreRules(fs, paths)
    return yield* Effect.filter(entries, ({ name, type }) =>
      Effect.map(ignores(paths.join(folder, name), type === "Directory"), (ignored) => !ignored)
    )
  })

  const run = Effect.fn("Tools.list")(
    function* (place: Place, asked: boolean | undefined, context: ToolContext) {
      const { real, shown } = place
      const info = yield* fs.stat(real)
      if (info.type !== "Directory") return failed(`${shown} is a file, not a folder: use read`)
      const all = yield* fs.readDirectoryEntries(real)
      const open = yield* openOf(place, all)
      const shownEntries = yield* shownOf(place, open, yield* context.readable)
      const entries = yield* searchedOf(real, shownEntries, asked, context.workspace)
      const sorted = entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))
      const lines = [
        ...(yield* Effect.forEach(sorted.slice(0, LIMIT), (entry) => nameOf(real, entry))),
        ...(entries.length > LIMIT ? [`(${entries.length - LIMIT} more are not shown: use glob)`] : []),
        ...ignoredNote(shownEntries.length - entries.length),
        ...hiddenNote(open.length - shownEntries.length),
        ...noteClosed(all.filter((entry) => !open.includes(entry)).map(({ name }) => name))
      ]
      return completed(lines.length === 0 ? "(the folder is empty)" : lines.join("\n"))
    },
    (effect, place, _asked, context) =>
      Effect.catch(effect, (error) => {
        const { message, reason } = failure(place.path, error)
        return reason === "not_found"
          ? Effect.map(suggestions.forMissing(place, context), (meant) => failed(message + meant))
          : Effect.succeed(failed(message))
      })
  )

  return {
    tool,
    kind: "read",
    title: "List folder",
    concurrency: "shared",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const { include_ignored, path = "." } = yield* decode(raw)
      const place = yield* places.find(path, workspace)
      return {
        title: `List ${place.shown}`,
        kind: "read",
        locations: [{ path: place.path }],
        preview: [],
        access: accessTo("Read", place),
        run: (context) => run(place, include_ignored, context)
      } satisfies PreparedCall
    })
  }
}
