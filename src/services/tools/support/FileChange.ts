/**
 * What `write` and `edit` share: a change is planned before anybody is asked, so that a person judges the true diff, and
 * planned again on what is there when it runs. A change that cannot work only reads, so nobody is asked to allow it.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { textContent, type ToolContent } from "../../../domain/Tool.ts"
import type { ClientFSShape, FileFailed, TextFile } from "../../ClientFS.ts"
import { stampOf } from "../../files/DiskFile.ts"
import type { PreparedCall, ToolContext, ToolOutcome } from "../../ToolDefinition.ts"
import type { Workspace } from "../../Workspace.ts"
import { failed } from "./Outcome.ts"
import { accessTo, type Place } from "./Places.ts"
import type { ReadLedger } from "./ReadLedger.ts"
import type { Suggestions } from "./Suggestions.ts"

/** Why a change cannot be made, for the model. `missing`: what may have been meant is still to be said. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  message: Schema.String,
  missing: Schema.Boolean
}) {}

/** `file` is null where there is none yet; `line`, from 1, is the first that changes. */
export interface Change {
  readonly file: TextFile | null
  readonly text: string
  readonly line: number
  readonly summary: string
}

export interface ChangeServices {
  readonly files: ClientFSShape
  readonly ledger: ReadLedger
  readonly suggestions: Suggestions
}

/** Characters of both texts together: a diff of more helps nobody and is not sent. */
const DIFF_LIMIT = 2_000_000

const diffOf = (path: string, { file, text }: Change): ToolContent => {
  const oldText = file === null ? null : file.text
  return (oldText?.length ?? 0) + text.length > DIFF_LIMIT
    ? textContent(`${path} is too large for its change to be shown`)
    : { type: "diff", path, oldText, newText: text }
}

const unsavedNote = ({ file }: Change): string =>
  file?.source === "editor" ? " It includes changes that the editor had not saved; the editor may ask to reload." : ""

export const refuse = (message: string, missing = false): Effect.Effect<never, Refusal> =>
  Effect.fail(new Refusal({ message, missing }))

/** The file as it is, null where there is none. */
export const present = (
  { files }: ChangeServices,
  workspace: Workspace,
  { path }: Place
): Effect.Effect<TextFile | null, FileFailed> =>
  files.read(workspace, path).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "not_found",
      () => Effect.succeed(null)
    )
  )

export interface ChangeCall {
  readonly title: string
  readonly place: Place
  readonly plan: (workspace: Workspace) => Effect.Effect<Change, Refusal | FileFailed>
}

export const prepareChange = Effect.fnUntraced(function* (
  services: ChangeServices,
  { place, plan, title }: ChangeCall,
  workspace: Workspace
) {
  const { files, ledger, suggestions } = services

  const apply = Effect.fnUntraced(function* ({ sessionId }: Workspace, change: Change) {
    if (change.text !== change.file?.text || change.file.source === "editor") {
      yield* files.write(workspace, place.path, change.text, change.file)
    }
    // A change of others that the model has not seen stays unseen, so that a whole write still has to read first.
    if (change.file === null || !ledger.isOutdated(sessionId, place.real, change.file.stamp)) {
      ledger.note(sessionId, place.real, stampOf(change.text, change.file?.encoding ?? "utf-8"))
    }
    return {
      status: "completed",
      text: change.summary + unsavedNote(change),
      content: [diffOf(place.path, change)],
      locations: [{ path: place.path, line: change.line }]
    } satisfies ToolOutcome
  })

  const explain = (error: Refusal | FileFailed, context: ToolContext) =>
    error._tag === "Refusal" && error.missing
      ? Effect.map(suggestions.forMissing(place, context), (meant) => failed(error.message + meant))
      : Effect.succeed(failed(error.message))

  const planned = yield* Effect.result(plan(workspace))
  const common = { title, kind: "edit" } as const
  if (Result.isFailure(planned)) {
    return {
      ...common,
      locations: [{ path: place.path }],
      preview: [],
      access: accessTo("Read", place),
      run: (context) => explain(planned.failure, context)
    } satisfies PreparedCall
  }
  return {
    ...common,
    locations: [{ path: place.path, line: planned.success.line }],
    preview: [diffOf(place.path, planned.success)],
    access: accessTo("Edit", place),
    run: (context) =>
      plan(context.workspace).pipe(
        Effect.flatMap((change) => apply(context.workspace, change)),
        Effect.catch((error) => explain(error, context))
      )
  } satisfies PreparedCall
})
