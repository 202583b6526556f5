/**
 * What the tools that change files share: a change is planned before anybody is asked, so that a person judges the true
 * diff, and planned again on what is there when it runs. A change that cannot work only reads, so nobody is asked to
 * allow it.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { textContent, type ToolContent, type ToolKind } from "../../../domain/Tool.ts"
import type { ClientFSShape, FileEdit, FileFailed, TextFile } from "../../ClientFS.ts"
import { stampOf } from "../../files/DiskFile.ts"
import type { PreparedCall, ToolContext, ToolOutcome } from "../../ToolDefinition.ts"
import type { Workspace } from "../../Workspace.ts"
import type { Notices } from "./Notices.ts"
import { failed } from "./Outcome.ts"
import { accessToAll, accessToEdit, type Place, type Places } from "./Places.ts"
import type { ReadLedger } from "./ReadLedger.ts"
import type { Suggestions } from "./Suggestions.ts"

/** Why a change cannot be made, for the model. `missing` is not there: what may have been meant is still to be said. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  message: Schema.String,
  missing: Schema.optionalKey(Schema.declare((place): place is Place => typeof place === "object" && place !== null))
}) {}

/**
 * `file` is null where there is none yet, `text` where there will be none; `line`, from 1, is the first that changes. A
 * new file takes encoding and permissions of `like`.
 */
export interface Change {
  readonly place: Place
  readonly file: TextFile | null
  readonly text: string | null
  readonly line: number
  readonly like?: TextFile
  readonly executable?: boolean
}

/** Changes that are made together or not at all, and what the model is told of them. */
export interface Plan {
  readonly changes: ReadonlyArray<Change>
  readonly summary: string
}

export interface ChangeServices {
  readonly files: ClientFSShape
  readonly places: Places
  readonly ledger: ReadLedger
  readonly suggestions: Suggestions
  readonly notices: Notices
}

/** Characters of all texts together: a diff of more helps nobody and is not sent. */
const DIFF_LIMIT = 2_000_000

const lengthOf = ({ file, text }: Change): number => (file?.text.length ?? 0) + (text?.length ?? 0)

const diffsOf = (changes: ReadonlyArray<Change>): ReadonlyArray<ToolContent> => {
  let left = DIFF_LIMIT
  return changes.map((change) => {
    const { file, place, text } = change
    left -= lengthOf(change)
    return left < 0
      ? textContent(`${place.path} is too large for its change to be shown`)
      : { type: "diff", path: place.path, oldText: file === null ? null : file.text, newText: text ?? "" }
  })
}

const locationsOf = (changes: ReadonlyArray<Change>) => changes.map(({ line, place }) => ({ path: place.path, line }))

const unsavedNote = (changes: ReadonlyArray<Change>): string =>
  changes.some(({ file }) => file?.source === "editor")
    ? " It includes changes that the editor had not saved; the editor may ask to reload."
    : ""

export const refuse = (message: string, missing?: Place): Effect.Effect<never, Refusal> =>
  Effect.fail(new Refusal({ message, ...(missing === undefined ? {} : { missing }) }))

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

const isNoChange = ({ executable, file, text }: Change): boolean =>
  executable === undefined && file?.source !== "editor" && text === (file?.text ?? null)

const editOf = ({ executable, file, like, place, text }: Change) => ({
  path: place.path,
  text,
  expected: file,
  ...(like === undefined ? {} : { like }),
  ...(executable === undefined ? {} : { executable })
})

export interface ChangeCall {
  readonly title: string
  readonly kind?: ToolKind
  /** Every path that it is about. */
  readonly places: ReadonlyArray<Place>
  /** Those whose content goes elsewhere. */
  readonly sources?: ReadonlyArray<Place>
  readonly plan: (workspace: Workspace) => Effect.Effect<Plan, Refusal | FileFailed>
}

export const prepareChange = Effect.fnUntraced(function* (
  services: ChangeServices,
  { kind = "edit", places, plan, sources = [], title }: ChangeCall,
  workspace: Workspace
) {
  const { files, ledger, notices, suggestions } = services

  const note = ({ sessionId }: Workspace, { file, like, place, text }: Change) => {
    // A change of others that the model has not seen stays unseen, so that a whole write still has to read first.
    if (text === null || (file !== null && ledger.isOutdated(sessionId, place.real, file.stamp))) return
    ledger.note(sessionId, place.real, stampOf(text, file?.encoding ?? like?.encoding ?? "utf-8"))
  }

  const commit = (on: Workspace, edits: ReadonlyArray<FileEdit>): Effect.Effect<void, FileFailed | Refusal> => {
    const [only] = edits
    if (files.change !== undefined) return files.change(on, edits)
    return only !== undefined && edits.length === 1 && only.text !== null
      ? files.write(on, only.path, only.text, only.expected)
      : refuse("These files can only be changed one by one, and none can be removed: use edit and write")
  }

  const apply = Effect.fnUntraced(function* (context: ToolContext, { changes, summary }: Plan) {
    const { sessionId } = context.workspace
    const real = changes.filter((change) => !isNoChange(change))
    if (real.length > 0) {
      yield* context.recording(
        real.map(({ place }) => place.real),
        commit(context.workspace, real.map(editOf))
      )
    }
    for (const change of changes) note(context.workspace, change)
    const told = changes.map(({ file }) => notices.once(sessionId, file?.notice)).join("")
    return {
      status: "completed",
      text: summary + unsavedNote(changes) + told,
      content: diffsOf(changes),
      locations: locationsOf(changes)
    } satisfies ToolOutcome
  })

  /** What was allowed is where the paths led then: elsewhere nothing is even read. */
  const unmoved = Effect.gen(function* () {
    for (const place of places) {
      if (!(yield* services.places.isUnmoved(place))) {
        return yield* refuse(
          `${place.shown} led to ${place.real} when this was allowed, and leads elsewhere now: call again`
        )
      }
    }
  })

  const explain = (error: Refusal | FileFailed, context: ToolContext) =>
    error._tag === "Refusal" && error.missing !== undefined
      ? Effect.map(suggestions.forMissing(error.missing, context), (meant) => failed(error.message + meant))
      : Effect.succeed(failed(error.message))

  const planned = yield* Effect.result(plan(workspace))
  if (Result.isFailure(planned)) {
    return {
      title,
      kind,
      locations: places.map(({ path }) => ({ path })),
      preview: [],
      access: accessToAll("Read", places),
      run: (context) => explain(planned.failure, context)
    } satisfies PreparedCall
  }
  return {
    title,
    kind,
    locations: locationsOf(planned.success.changes),
    preview: diffsOf(planned.success.changes),
    access: accessToEdit(places, sources),
    run: (context) =>
      Effect.andThen(unmoved, plan(context.workspace)).pipe(
        Effect.flatMap((change) => apply(context, change)),
        Effect.catch((error) => explain(error, context))
      )
  } satisfies PreparedCall
})
