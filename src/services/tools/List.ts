/** The `list` tool: the names in one folder. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { failure } from "../files/DiskFile.ts"
import type { PreparedCall, ToolDefinition } from "../ToolDefinition.ts"
import { makeInput } from "./support/Input.ts"
import { completed, failed } from "./support/Outcome.ts"
import { accessTo, type Place, type Places } from "./support/Places.ts"
import type { Suggestions } from "./support/Suggestions.ts"

const parameters = Schema.Struct({
  path: Schema.optionalKey(Schema.String.annotate({ description: "Folder; default: the working folder" }))
})

const tool = AiTool.make("list", { description: "List one folder; names of folders end with /.", parameters })

const LIMIT = 1_000

export const makeList = (
  fs: FileSystem.FileSystem,
  paths: Path.Path,
  places: Places,
  suggestions: Suggestions
): ToolDefinition => {
  const decode = makeInput("list", parameters)

  const nameOf = Effect.fnUntraced(function* (folder: string, { name, type }: FileSystem.DirectoryEntry) {
    if (type !== "SymbolicLink") return type === "Directory" ? `${name}/` : name
    const target = yield* Effect.option(fs.stat(paths.join(folder, name)))
    return Option.isSome(target) && target.value.type === "Directory" ? `${name}/` : name
  })

  const run = Effect.fn("Tools.list")(
    function* ({ real, shown }: Place) {
      const info = yield* fs.stat(real)
      if (info.type !== "Directory") return failed(`${shown} is a file, not a folder: use read`)
      const entries = yield* fs.readDirectoryEntries(real)
      const sorted = entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))
      const names = yield* Effect.forEach(sorted.slice(0, LIMIT), (entry) => nameOf(real, entry))
      const more = entries.length > LIMIT ? [`(${entries.length - LIMIT} more are not shown: use glob)`] : []
      return completed(names.length === 0 ? "(the folder is empty)" : [...names, ...more].join("\n"))
    },
    (effect, place) =>
      Effect.catch(effect, (error) => {
        const { message, reason } = failure(place.path, error)
        return reason === "not_found"
          ? Effect.map(suggestions.forMissing(place), (meant) => failed(message + meant))
          : Effect.succeed(failed(message))
      })
  )

  return {
    tool,
    kind: "read",
    title: "List folder",
    concurrency: "shared",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const { path = "." } = yield* decode(raw)
      const place = yield* places.find(path, workspace)
      return {
        title: `List ${place.shown}`,
        kind: "read",
        locations: [{ path: place.path }],
        preview: [],
        access: accessTo("Read", place),
        run: () => run(place)
      } satisfies PreparedCall
    })
  }
}
