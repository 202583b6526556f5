/** The `glob` tool: names of files that match a pattern. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { fileGlob } from "../../domain/files/FileGlob.ts"
import { showPath } from "../../domain/files/Paths.ts"
import type { Search } from "../files/Search.ts"
import type { PreparedCall, ToolContext, ToolDefinition } from "../ToolDefinition.ts"
import { ignoredNote } from "./Grep.ts"
import { noteHidden, shownBelow } from "./support/Hidden.ts"
import { makeInput } from "./support/Input.ts"
import { completed, failed } from "./support/Outcome.ts"
import { accessTo, type Place, type Places } from "./support/Places.ts"

const parameters = Schema.Struct({
  pattern: Schema.String.annotate({ description: "Such as *.ts (any folder) or src/**/*.{ts,tsx}" }),
  path: Schema.optionalKey(Schema.String.annotate({ description: "Folder; default: the working folder" })),
  include_ignored: Schema.optionalKey(Schema.Boolean)
})

const tool = AiTool.make("glob", { description: "Find files by name, sorted by path, at most 500.", parameters })

const LIMIT = 500

export const makeGlob = (fs: FileSystem.FileSystem, search: Search, places: Places): ToolDefinition => {
  const decode = makeInput("glob", parameters)

  const run = Effect.fn("Tools.glob")(
    function* (place: Place, input: typeof parameters.Type, context: ToolContext) {
      const info = yield* Effect.option(fs.stat(place.real))
      if (Option.isNone(info)) return failed(`${place.shown} does not exist`)
      if (info.value.type !== "Directory") return failed(`${place.shown} is not a folder`)
      const includeIgnored = input.include_ignored ?? false
      const scope = { root: place.path, includeIgnored }
      const readable = yield* context.readable
      const isShown = shownBelow(place, readable)
      const isNamed = fileGlob(input.pattern)
      const [{ items, more }, hidden] = yield* Effect.all(
        [
          search.files(scope, (relative) => isNamed(relative) && isShown(relative), LIMIT),
          noteHidden(search, scope, place, readable)
        ],
        { concurrency: 2 }
      )
      const { cwd } = context.workspace
      return completed(
        [
          ...(items.length === 0 ? ["No files match."] : items.map((path) => showPath(cwd, path))),
          ...(more ? [`(there are more than ${LIMIT} files: narrow pattern or path)`] : []),
          ...(includeIgnored ? [] : [ignoredNote]),
          ...hidden
        ].join("\n")
      )
    },
    Effect.catch(({ message }) => Effect.succeed(failed(message)))
  )

  return {
    tool,
    kind: "search",
    title: "Find files",
    concurrency: "shared",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const input = yield* decode(raw)
      const place = yield* places.find(input.path ?? ".", workspace)
      return {
        title: `Find ${input.pattern} in ${place.shown}`,
        kind: "search",
        locations: [],
        preview: [],
        access: accessTo("Read", place),
        run: (context) => run(place, input, context)
      } satisfies PreparedCall
    })
  }
}
