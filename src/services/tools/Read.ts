/** The `read` tool: numbered lines of a text file, a page at a time, in bounded memory (F93). */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import {
  addText,
  countLines,
  emptyPage,
  endPage,
  lineStart,
  numbered,
  type Page,
  type PageLimits
} from "../../domain/text/Lines.ts"
import { toUnix } from "../../domain/text/LineEnding.ts"
import type { ClientFSShape, FileFailed, LineRange } from "../ClientFS.ts"
import { readLargeFile } from "../files/LargeFile.ts"
import type { PreparedCall, ToolContext, ToolDefinition } from "../ToolDefinition.ts"
import type { Workspace } from "../Workspace.ts"
import { makeInput } from "./support/Input.ts"
import { completed, failed } from "./support/Outcome.ts"
import { accessTo, type Place, type Places } from "./support/Places.ts"
import type { Notices } from "./support/Notices.ts"
import type { ReadLedger } from "./support/ReadLedger.ts"
import type { Suggestions } from "./support/Suggestions.ts"

const parameters = Schema.Struct({
  path: Schema.String,
  offset: Schema.optionalKey(Schema.Finite.annotate({ description: "First line, from 1; negative: from the end" })),
  limit: Schema.optionalKey(Schema.Finite.annotate({ description: "Number of lines" }))
})

const tool = AiTool.make("read", {
  description:
    "Read a text file as numbered lines. Without limit at most 2000 lines or 50 KB; the end tells how to go on.",
  parameters
})

const LIMITS: PageLimits = { lines: 2_000, characters: 50_000, width: 2_000 }

/** In bytes: larger files are not taken into memory. */
const PAGED_FROM = 4n * 1024n * 1024n

interface Range {
  readonly first: number
  readonly count: number
  readonly asked: boolean
}

const atLeast = (minimum: number, value: number): number => Math.max(minimum, Math.trunc(value))

const rangeOf = (input: typeof parameters.Type, { endLine, line }: Place): Range => {
  const given = input.offset ?? line
  const first = given === undefined || given === 0 ? 1 : Math.trunc(given)
  const named = endLine === undefined || line === undefined ? undefined : endLine - line + 1
  const count = input.limit ?? (input.offset === undefined ? named : undefined)
  return {
    first,
    count: count === undefined ? LIMITS.lines : Math.min(LIMITS.lines, atLeast(1, count)),
    asked: given !== undefined || count !== undefined
  }
}

const describe = ({ asked, count, first }: Range): string =>
  !asked ? "" : first < 0 ? ` (last ${-first} lines)` : ` (lines ${first}-${first + count - 1})`

const footer = (page: Page, first: number, total: number | undefined): string => {
  const last = first + page.lines.length - 1
  const of = total === undefined ? "" : ` of ${total}`
  return page.full ? `\n(lines ${first}-${last}${of}; go on with offset=${last + 1})` : ""
}

const pageOf = (text: string, first: number, count: number): Page | undefined => {
  const start = lineStart(text, first)
  return start === undefined ? undefined : endPage(addText(emptyPage({ ...LIMITS, lines: count }), text.slice(start)))
}

const fromDisk: { readonly text: string | undefined; readonly notice?: string } = { text: undefined }

export interface ReadServices {
  readonly fs: FileSystem.FileSystem
  readonly files: ClientFSShape
  readonly places: Places
  readonly ledger: ReadLedger
  readonly suggestions: Suggestions
  readonly notices: Notices
}

export const makeRead = ({ files, fs, ledger, notices, places, suggestions }: ReadServices): ToolDefinition => {
  const decode = makeInput("read", parameters)

  /** What is wanted of a file, where that is a part of it that has a place. */
  const wantedOf = ({ asked, count, first }: Range): LineRange | undefined =>
    asked && first > 0 ? { line: first, limit: count } : undefined

  const readWhole = Effect.fnUntraced(function* (place: Place, range: Range, workspace: Workspace) {
    const { sessionId } = workspace
    const file = yield* files.read(workspace, place.path, wantedOf(range))
    ledger.note(sessionId, place.real, file.stamp)
    const notice = notices.once(sessionId, file.notice)
    if (file.text === "") return completed(`(the file is empty)${notice}`)
    const text = toUnix(file.text)
    const total = countLines(text)
    const first = range.first < 0 ? Math.max(1, total + range.first + 1) : range.first
    const page = pageOf(text, first, range.count)
    if (page === undefined) return failed(`${place.shown} has ${total} lines; line ${first} is behind its end`)
    return completed(numbered(page.lines, first) + footer(page, first, total) + notice)
  })

  const readPage = Effect.fnUntraced(function* (place: Place, { count, first }: Range, workspace: Workspace) {
    if (first < 0) return failed(`${place.shown} is too large to count from its end: use tail in a shell`)
    const lines = { line: first, limit: count }
    const shown = files.readLines === undefined ? fromDisk : yield* files.readLines(workspace, place.path, lines)
    const notice = notices.once(workspace.sessionId, shown.notice)
    const page =
      shown.text === undefined
        ? yield* readLargeFile(fs, place.real, first, { ...LIMITS, lines: count })
        : endPage(addText(emptyPage({ ...LIMITS, lines: count }), toUnix(shown.text)))
    if (page === undefined) return failed(`${place.shown} has fewer than ${first} lines`)
    return completed(numbered(page.lines, first) + footer(page, first, undefined) + notice)
  })

  const explain = Effect.fnUntraced(function* (place: Place, error: FileFailed, context: ToolContext) {
    const notice = notices.once(context.workspace.sessionId, error.notice)
    switch (error.reason) {
      case "not_found":
        return failed(`${error.message}${yield* suggestions.forMissing(place, context)}${notice}`)
      case "is_directory":
        return failed(`${error.message}: use the list tool`)
      default:
        return failed(error.message)
    }
  })

  const run = Effect.fn("Tools.read")(
    function* (place: Place, range: Range, { workspace }: ToolContext) {
      // What was allowed is where the path led then.
      if (!(yield* places.isUnmoved(place))) {
        return failed(`${place.shown} led to ${place.real} when this was allowed, and leads elsewhere now: call again`)
      }
      const info = yield* Effect.option(fs.stat(place.real))
      const large = info._tag === "Some" && info.value.type === "File" && info.value.size > PAGED_FROM
      return yield* large ? readPage(place, range, workspace) : readWhole(place, range, workspace)
    },
    (effect, place, _range, context) => Effect.catch(effect, (error) => explain(place, error, context))
  )

  return {
    tool,
    kind: "read",
    title: "Read file",
    concurrency: "shared",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const input = yield* decode(raw)
      const place = yield* places.find(input.path, workspace)
      const range = rangeOf(input, place)
      return {
        title: `Read ${place.shown}${describe(range)}`,
        kind: "read",
        locations: [{ path: place.path, ...(range.asked && range.first > 0 ? { line: range.first } : {}) }],
        preview: [],
        access: accessTo("Read", place),
        run: (context) => run(place, range, context)
      } satisfies PreparedCall
    })
  }
}
