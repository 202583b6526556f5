/** The `edit` tool: replaces pieces of a file, all that one call names or none. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { edit, type EditResult, type Replacement } from "../../domain/text/edit/Edit.ts"
import { countLines } from "../../domain/text/Lines.ts"
import { type ToolDefinition, ToolInputInvalid } from "../ToolDefinition.ts"
import type { Workspace } from "../Workspace.ts"
import { type ChangeServices, type Plan, prepareChange, present, refuse } from "./support/FileChange.ts"
import { makeInput } from "./support/Input.ts"
import type { Place } from "./support/Places.ts"

const piece = {
  old_string: Schema.String.annotate({
    description: "Exact text to replace, without line numbers; empty creates a file"
  }),
  new_string: Schema.String,
  replace_all: Schema.optionalKey(Schema.Boolean)
}

const Piece = Schema.Struct({ ...piece, old_string: Schema.String })

const parameters = Schema.Struct({
  path: Schema.String,
  old_string: Schema.optionalKey(piece.old_string),
  new_string: Schema.optionalKey(piece.new_string),
  replace_all: piece.replace_all,
  edits: Schema.optionalKey(
    Schema.Array(Piece).annotate({ description: "Instead: several, one after another, all or none" })
  )
})

type Input = typeof parameters.Type

const tool = AiTool.make("edit", {
  description: "Replace old_string, which must occur exactly once unless replace_all is set, by new_string.",
  parameters
})

/** Edits of one call. */
const EDITS_LIMIT = 200

/** Line numbers that an error lists. */
const LISTED = 20

const listLines = (lines: ReadonlyArray<number>): string =>
  lines.slice(0, LISTED).join(", ") + (lines.length > LISTED ? ", …" : "")

/** An edit, and the field that it came from. */
interface Wanted extends Replacement {
  readonly field: string
}

const invalid = (text: string) => new ToolInputInvalid({ message: `The input of edit does not fit: ${text}` })

const wantedOf = Effect.fnUntraced(function* ({ edits, new_string, old_string, replace_all = false }: Input) {
  if (edits === undefined || edits.length === 0) {
    if (old_string === undefined) return yield* invalid(`"old_string" is missing. Correct it and call again.`)
    if (new_string === undefined) return yield* invalid(`"new_string" is missing. Correct it and call again.`)
    return [{ oldText: old_string, newText: new_string, all: replace_all, field: `"old_string"` }]
  }
  if (old_string !== undefined && old_string !== "") {
    return yield* invalid(`both "old_string" and "edits" are given. Put all of them in "edits".`)
  }
  if (edits.length > EDITS_LIMIT)
    return yield* invalid(`"edits" has more than ${EDITS_LIMIT} items. Use write instead.`)
  return edits.map((item, index) => ({
    oldText: item.old_string,
    newText: item.new_string,
    all: item.replace_all ?? false,
    field: edits.length === 1 ? `"old_string"` : `"old_string" of edits.${index}`
  }))
})

/** What an edit that does not fit gets to hear. */
const complaint = (
  { field }: Wanted,
  result: Exclude<EditResult, { readonly _tag: "Edited" }>,
  shown: string,
  again: string
): string => {
  if (result._tag === "Missing") {
    return `${field} does not occur in ${shown}. ${again === "" ? result.hint : again.trim()}`
  }
  const { length } = result.lines
  return result.loose
    ? `${field} does not occur in ${shown} as it is given, and but for white space ${length} times, at lines ${listLines(result.lines)}: copy the one you mean exactly.${again}`
    : `${field} occurs ${length} times in ${shown}, at lines ${listLines(result.lines)}: add lines around the one you mean, or set replace_all.${again}`
}

export const makeEdit = (services: ChangeServices): ToolDefinition => {
  const decode = makeInput("edit", parameters, { edits: Object.keys(piece) })

  const create = (place: Place, text: string): Plan => ({
    changes: [{ place, file: null, text, line: 1 }],
    summary: `Created ${place.shown} (${countLines(text)} lines).`
  })

  const plan = Effect.fnUntraced(function* (place: Place, wanted: ReadonlyArray<Wanted>, workspace: Workspace) {
    const { shown } = place
    const file = yield* present(services, workspace, place)
    const [only] = wanted
    if (only !== undefined && wanted.length === 1 && only.oldText === "" && (file === null || file.text === "")) {
      if (only.newText === "" && file !== null) return yield* refuse(`${shown} is empty already: nothing would change`)
      const made = create(place, only.newText)
      return { ...made, changes: made.changes.map((change) => ({ ...change, file })) }
    }
    if (file === null) return yield* refuse(`${shown} does not exist`, place)
    // An edit names what it replaces, so it may go on beside changes of others; one that fails because of them says so.
    const outdated = services.ledger.isOutdated(workspace.sessionId, place.real, file.stamp)
    const again = outdated ? ` ${shown} changed since you read it: read it again.` : ""
    let [text, count, line, loose] = [file.text, 0, Number.POSITIVE_INFINITY, 0]
    for (const [index, each] of wanted.entries()) {
      const { field, newText, oldText } = each
      if (oldText === "") {
        return yield* refuse(`${field} is empty but ${shown} is not: name the text to replace, or use write`)
      }
      if (oldText === newText) return yield* refuse(`${field} and its "new_string" are the same: nothing would change`)
      const result = edit(text, each)
      if (result._tag !== "Edited") {
        const after = index === 0 ? "" : ` Nothing was changed; the ${index} edits before it would fit.`
        return yield* refuse(complaint(each, result, shown, again) + after)
      }
      text = result.text
      count += result.count
      loose += result.loose ? 1 : 0
      line = Math.min(line, result.firstLine)
    }
    const replacements = `${count} replacement${count === 1 ? "" : "s"}`
    const notes = [
      loose === 0
        ? ""
        : ` ${count === 1 ? "It matches" : `${loose} of them match`} but for white space; what was put in has the indentation of the file.`,
      outdated ? " The file had changed since you read it; those changes were kept." : ""
    ]
    return {
      changes: [{ place, file, text, line }],
      summary: `Edited ${shown}: ${replacements}, the first at line ${line}.${notes.join("")}`
    } satisfies Plan
  })

  return {
    tool,
    kind: "edit",
    title: "Edit file",
    concurrency: "exclusive",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const input = yield* decode(raw)
      const wanted = yield* wantedOf(input)
      const place = yield* services.places.find(input.path, workspace)
      return yield* prepareChange(
        services,
        { title: `Edit ${place.shown}`, places: [place], plan: (now) => plan(place, wanted, now) },
        workspace
      )
    })
  }
}
