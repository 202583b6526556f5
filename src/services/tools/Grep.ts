/** The `grep` tool: lines of files that match a regular expression. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { showPath } from "../../domain/files/Paths.ts"
import { failure } from "../files/DiskFile.ts"
import type { Found, Match, Search } from "../files/Search.ts"
import type { PreparedCall, ToolContext, ToolDefinition } from "../ToolDefinition.ts"
import { noteHidden, shownBelow } from "./support/Hidden.ts"
import { makeInput } from "./support/Input.ts"
import { completed, failed } from "./support/Outcome.ts"
import { accessTo, type Place, type Places } from "./support/Places.ts"

const parameters = Schema.Struct({
  pattern: Schema.String.annotate({ description: "Regular expression" }),
  path: Schema.optionalKey(Schema.String.annotate({ description: "File or folder; default: the working folder" })),
  glob: Schema.optionalKey(Schema.String.annotate({ description: "Only these files, such as *.ts or src/**" })),
  ignore_case: Schema.optionalKey(Schema.Boolean),
  include_ignored: Schema.optionalKey(Schema.Boolean.annotate({ description: "Also search git-ignored files" }))
})

const tool = AiTool.make("grep", {
  description: "Search the contents of files. Gives path:line: text, at most 200 matches.",
  parameters
})

const LIMIT = 200

/** Said with every answer that left ignored files out, so that none is taken as not existing (F92). */
export const ignoredNote = "(git-ignored files were not searched; include_ignored searches them)"

const report = ({ items, more }: Found<Match>, cwd: string): ReadonlyArray<string> => [
  ...(items.length === 0 ? ["No matches."] : []),
  ...items.map(({ line, path, text }) => `${showPath(cwd, path)}:${line}: ${text}`),
  ...(more ? [`(there are more than ${LIMIT} matches: narrow pattern, path or glob)`] : [])
]

export const makeGrep = (fs: FileSystem.FileSystem, search: Search, places: Places): ToolDefinition => {
  const decode = makeInput("grep", parameters)

  const run = Effect.fn("Tools.grep")(
    function* (place: Place, input: typeof parameters.Type, context: ToolContext) {
      const { type } = yield* Effect.mapError(fs.stat(place.real), (error) => failure(place.shown, error))
      // A pipe would be read until somebody writes to it, a device for ever.
      if (type !== "File" && type !== "Directory") {
        return failed(`${place.shown} is neither a file nor a folder but a ${type}`)
      }
      const includeIgnored = input.include_ignored ?? false
      const scope = { root: place.path, includeIgnored }
      const readable = yield* context.readable
      const query = {
        ...scope,
        pattern: input.pattern,
        glob: input.glob,
        shows: shownBelow(place, readable),
        ignoreCase: input.ignore_case ?? false,
        limit: LIMIT
      }
      const [found, hidden] = yield* Effect.all([search.grep(query), noteHidden(search, scope, place, readable)], {
        concurrency: 2
      })
      return completed(
        [...report(found, context.workspace.cwd), ...(includeIgnored ? [] : [ignoredNote]), ...hidden].join("\n")
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
      const place = yield* places.find(input.path ?? ".", workspace)
      const files = input.glob === undefined ? "" : ` (${input.glob})`
      return {
        title: `Search ${JSON.stringify(input.pattern)} in ${place.shown}${files}`,
        kind: "search",
        locations: input.path === undefined ? [] : [{ path: place.path }],
        preview: [],
        access: accessTo("Read", place),
        run: (context) => run(place, input, context)
      } satisfies PreparedCall
    })
  }
}
