/** The `glob` tool: names of files that match a pattern. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { fileGlob } from "../../domain/FileGlob.ts"
import { showPath } from "../../domain/Paths.ts"
import type { Search } from "../files/Search.ts"
import type { PreparedCall, ToolDefinition } from "../ToolDefinition.ts"
import type { Workspace } from "../Workspace.ts"
import { ignoredNote } from "./Grep.ts"
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
    function* (place: Place, input: typeof parameters.Type, { cwd }: Workspace) {
      const info = yield* Effect.option(fs.stat(place.real))
      if (Option.isNone(info)) return failed(`${place.shown} does not exist`)
      if (info.value.type !== "Directory") return failed(`${place.shown} is not a folder`)
      const includeIgnored = input.include_ignored ?? false
      const { items, more } = yield* search.files({ root: place.path, includeIgnored }, fileGlob(input.pattern), LIMIT)
      return completed(
        [
          ...(items.length === 0 ? ["No files match."] : items.map((path) => showPath(cwd, path))),
          ...(more ? [`(there are more than ${LIMIT} files: narrow pattern or path)`] : []),
          ...(includeIgnored ? [] : [ignoredNote])
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
        run: (context) => run(place, input, context.workspace)
      } satisfies PreparedCall
    })
  }
}
