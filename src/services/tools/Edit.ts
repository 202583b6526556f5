/** The `edit` tool: replaces text in a file, exactly. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { edit } from "../../domain/text/Edit.ts"
import { countLines } from "../../domain/text/Lines.ts"
import type { ToolDefinition } from "../ToolDefinition.ts"
import type { Workspace } from "../Workspace.ts"
import { type Change, type ChangeServices, prepareChange, present, refuse } from "./support/FileChange.ts"
import { makeInput } from "./support/Input.ts"
import type { Place, Places } from "./support/Places.ts"

const parameters = Schema.Struct({
  path: Schema.String,
  old_string: Schema.String.annotate({
    description: "Exact text to replace, without line numbers; empty creates a file"
  }),
  new_string: Schema.String,
  replace_all: Schema.optionalKey(Schema.Boolean)
})

const tool = AiTool.make("edit", {
  description: "Replace old_string, which must occur exactly once unless replace_all is set.",
  parameters
})

/** Line numbers that an error lists. */
const LISTED = 20

const listLines = (lines: ReadonlyArray<number>): string =>
  lines.slice(0, LISTED).join(", ") + (lines.length > LISTED ? ", …" : "")

export const makeEdit = (services: ChangeServices, places: Places): ToolDefinition => {
  const decode = makeInput("edit", parameters)

  const create = (place: Place, text: string): Change => ({
    file: null,
    text,
    line: 1,
    summary: `Created ${place.shown} (${countLines(text)} lines).`
  })

  const plan = Effect.fnUntraced(function* (place: Place, input: typeof parameters.Type, workspace: Workspace) {
    const { new_string: newText, old_string: oldText, replace_all: all = false } = input
    const file = yield* present(services, workspace, place)
    if (file === null) {
      return oldText === "" ? create(place, newText) : yield* refuse(`${place.shown} does not exist`, true)
    }
    if (oldText === "" && file.text !== "") {
      return yield* refuse(`"old_string" is empty but ${place.shown} is not: name the text to replace, or use write`)
    }
    if (oldText === newText) return yield* refuse(`"old_string" and "new_string" are the same: nothing would change`)
    if (oldText === "") return { ...create(place, newText), file } satisfies Change
    // An edit names what it replaces, so it may go on beside changes of others; one that fails because of them says so.
    const outdated = services.ledger.isOutdated(workspace.sessionId, place.real, file.stamp)
    const again = outdated ? ` ${place.shown} changed since you read it: read it again.` : ""
    const result = edit(file.text, { oldText, newText, all })
    switch (result._tag) {
      case "Missing":
        return yield* refuse(`"old_string" does not occur in ${place.shown}. ${outdated ? again.trim() : result.hint}`)
      case "Ambiguous":
        return yield* refuse(
          `"old_string" occurs ${result.lines.length} times in ${place.shown}, at lines ${listLines(result.lines)}: ` +
            `add lines around the one you mean, or set replace_all.${again}`
        )
      case "Edited":
        return {
          file,
          text: result.text,
          line: result.firstLine,
          summary:
            `Edited ${place.shown}: ${result.count} replacement${result.count === 1 ? "" : "s"}, the first at line ` +
            `${result.firstLine}.${outdated ? " The file had changed since you read it; those changes were kept." : ""}`
        } satisfies Change
    }
  })

  return {
    tool,
    kind: "edit",
    title: "Edit file",
    concurrency: "exclusive",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const input = yield* decode(raw)
      const place = yield* places.find(input.path, workspace)
      return yield* prepareChange(
        services,
        { title: `Edit ${place.shown}`, place, plan: (now) => plan(place, input, now) },
        workspace
      )
    })
  }
}
