/** The `write` tool: a whole file, new or replaced. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { countLines } from "../../domain/text/Lines.ts"
import { keepLineEndings } from "../../domain/text/LineEnding.ts"
import type { ToolDefinition } from "../ToolDefinition.ts"
import type { Workspace } from "../Workspace.ts"
import { type ChangeServices, type Plan, prepareChange, present, refuse } from "./support/FileChange.ts"
import { makeInput } from "./support/Input.ts"
import type { Place } from "./support/Places.ts"

const parameters = Schema.Struct({
  path: Schema.String,
  content: Schema.String.annotate({ description: "The whole new text" })
})

const tool = AiTool.make("write", {
  description: "Create a file or replace it whole. Prefer edit for files that exist.",
  parameters
})

export const makeWrite = (services: ChangeServices): ToolDefinition => {
  const decode = makeInput("write", parameters)

  const plan = Effect.fnUntraced(function* (place: Place, content: string, workspace: Workspace) {
    const file = yield* present(services, workspace, place)
    if (file !== null && services.ledger.isOutdated(workspace.sessionId, place.real, file.stamp)) {
      return yield* refuse(`${place.shown} changed since you read it: read it again, then write`)
    }
    const text = file === null ? content : keepLineEndings(file.text, content)
    const done = file === null ? "Created" : text === file.text ? "Left unchanged" : "Replaced"
    return {
      changes: [{ place, file, text, line: 1 }],
      summary: `${done} ${place.shown} (${countLines(text)} lines).`
    } satisfies Plan
  })

  return {
    tool,
    kind: "edit",
    title: "Write file",
    concurrency: "exclusive",
    prepare: Effect.fnUntraced(function* (raw, workspace) {
      const { content, path } = yield* decode(raw)
      const place = yield* services.places.find(path, workspace)
      return yield* prepareChange(
        services,
        { title: `Write ${place.shown}`, places: [place], plan: (now) => plan(place, content, now) },
        workspace
      )
    })
  }
}
