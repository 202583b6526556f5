/** The `grep` tool: lines of files that match a regular expression. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { showPath } from "../../domain/files/Paths.ts"
import { failure } from "../files/DiskFile.ts"
import type { Found, Match } from "../files/search/Search.ts"
import type { PreparedCall, ToolContext, ToolDefinition } from "../ToolDefinition.ts"
import { makeInput, someGlob, withoutNul } from "./support/Input.ts"
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
  pattern: Schema.String.annotate({ description: "Regular expression" }),
  path: Schema.optionalKey(Schema.String.annotate({ description: "File or folder; default: the workspace" })),
  glob: Schema.optionalKey(Schema.String.annotate({ description: "Only these files, such as *.ts or src/**" })),
  ignore_case: Schema.optionalKey(Schema.Boolean),
  include_ignored: Schema.optionalKey(Schema.Boolean.annotate({ description: "Also search git-ignored files" }))
})

const tool = AiTool.make("grep", {
  description: "Search the contents of files. Gives path:line: text, at most 200 matches.",
  parameters
})

const LIMIT = 200

const report = ({ items, more }: Found<Match>, cwd: string): ReadonlyArray<string> => [
  ...(items.length === 0 ? ["No matches."] : []),
  ...items.map(({ line, path, text }) => `${showPath(cwd, path)}:${line}: ${text}`),
  ...(more ? [`(there are more than ${LIMIT} matches: narrow pattern, path or glob)`] : [])
]

export const makeGrep = (services: LookServices): ToolDefinition => {
  const { fs, places, search, settingsIn } = services
  const decode = makeInput("grep", parameters)

  const run = Effect.fn("Tools.grep")(
    function* (found: ReadonlyArray<Place>, input: typeof parameters.Type, context: ToolContext) {
      for (const place of found) {
        const { type } = yield* Effect.mapError(fs.stat(place.real), (error) => failure(place.shown, error))
        // A pipe would be read until somebody writes to it, a device for ever.
        if (type !== "File" && type !== "Directory") {
          return failed(`${place.shown} is neither a file nor a folder but a ${type}`)
        }
      }
      const includeIgnored = yield* includesIgnored(settingsIn, context.workspace, input.include_ignored)
      const { hidden, ...result } = yield* lookIn(
        services,
        found,
        includeIgnored,
        context,
        LIMIT,
        (scope, shows, limit) =>
          search.grep({
            ...scope,
            pattern: input.pattern,
            glob: input.glob,
            shows,
            ignoreCase: input.ignore_case ?? false,
            limit
          })
      )
      return completed(
        [...report(result, context.workspace.cwd), ...(includeIgnored ? [] : [ignoredNote]), ...hidden].join("\n")
      )
    },
    Effect.catch(({ message }) => Effect.succeed(failed(message)))
  )

  return {
    tool,
    kind: "search",
    title: "Search",
    concurrency: "shared",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const input = yield* decode(raw)
      yield* withoutNul("pattern", input.pattern, "write \\x00 to look for one")
      yield* someGlob("glob", input.glob)
      const found = yield* findPlaces(places, input.path, workspace)
      const files = input.glob === undefined ? "" : ` (${input.glob})`
      return {
        title: `Search ${JSON.stringify(input.pattern)} in ${shownPlaces(found)}${files}`,
        kind: "search",
        locations: input.path === undefined ? [] : found.map(({ path }) => ({ path })),
        preview: [],
        access: accessToAll("Read", found),
        run: (context) => run(found, input, context)
      } satisfies PreparedCall
    })
  }
}
