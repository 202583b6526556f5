/** The `glob` tool: names of files that match a pattern. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fileGlob } from "../../domain/files/FileGlob.ts"
import { showPath } from "../../domain/files/Paths.ts"
import { failure } from "../files/DiskFile.ts"
import type { PreparedCall, ToolContext, ToolDefinition } from "../ToolDefinition.ts"
import { makeInput, someGlob } from "./support/Input.ts"
import { completed, failed } from "./support/Outcome.ts"
import { accessToAll, type Place } from "./support/Places.ts"
import {
  findPlaces,
  ignoredNote,
  includesIgnored,
  lookIn,
  type LookServices,
  shownPlaces
} from "./support/SearchPlaces.ts"

const parameters = Schema.Struct({
  pattern: Schema.String.annotate({ description: "Such as *.ts (any folder) or src/**/*.{ts,tsx}" }),
  path: Schema.optionalKey(Schema.String.annotate({ description: "Folder; default: the workspace" })),
  include_ignored: Schema.optionalKey(Schema.Boolean)
})

const tool = AiTool.make("glob", { description: "Find files by name, sorted by path, at most 500.", parameters })

const LIMIT = 500

export const makeGlob = (services: LookServices): ToolDefinition => {
  const { fs, places, search, settingsIn } = services
  const decode = makeInput("glob", parameters)

  const run = Effect.fn("Tools.glob")(
    function* (found: ReadonlyArray<Place>, input: typeof parameters.Type, context: ToolContext) {
      for (const { real, shown } of found) {
        const { type } = yield* Effect.mapError(fs.stat(real), (error) => failure(shown, error))
        if (type !== "Directory") return failed(`${shown} is not a folder`)
      }
      const includeIgnored = yield* includesIgnored(settingsIn, context.workspace, input.include_ignored)
      const isNamed = fileGlob(input.pattern)
      const { hidden, items, more } = yield* lookIn(
        services,
        found,
        includeIgnored,
        context,
        LIMIT,
        (scope, shows, limit) => search.files(scope, (relative) => isNamed(relative) && shows(relative), limit)
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
      yield* someGlob("pattern", input.pattern)
      const found = yield* findPlaces(places, input.path, workspace)
      return {
        title: `Find ${input.pattern} in ${shownPlaces(found)}`,
        kind: "search",
        locations: [],
        preview: [],
        access: accessToAll("Read", found),
        run: (context) => run(found, input, context)
      } satisfies PreparedCall
    })
  }
}
