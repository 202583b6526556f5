/** Notes that outlive sessions, shared by all sessions and processes that use the same store. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { Note, NoteId, NoteScope } from "../domain/Note.ts"

/**
 * A note could not be read or written, and nothing changed. `missing`: no such note here; `full`: there are as many as may
 * be; `invalid`: a part of it does not fit; `unavailable`: the store cannot be used. `message` says what to do.
 */
export class NotesFailed extends Schema.TaggedError<NotesFailed>()("NotesFailed", {
  reason: Schema.Literals(["missing", "full", "invalid", "unavailable"]),
  message: Schema.String
}) {}

/** A new note. `scope` is `project` unless told. */
export interface NoteDraft {
  readonly scope?: NoteScope
  readonly title: string
  readonly text: string
  readonly tags?: ReadonlyArray<string>
}

/** What is absent stays. */
export type NoteChange = Partial<NoteDraft>

/** What to look for. Without words it is the newest ones. */
export interface NoteQuery {
  /** Any of the words; more of them, and rarer ones, come first. */
  readonly words: string
  /** All of them. */
  readonly tags?: ReadonlyArray<string>
  readonly scope?: NoteScope
  readonly limit: number
}

/** What a search found. */
export interface NotesFound {
  /** Best first. */
  readonly notes: ReadonlyArray<Note>
  /** How many there are, found or not. */
  readonly total: number
}

/** What `Notes` promises. `project` is the root of a project: its notes and the global ones are all that is seen. */
export interface NotesShape {
  readonly add: (project: string, draft: NoteDraft) => Effect.Effect<Note, NotesFailed>
  readonly change: (project: string, id: NoteId, change: NoteChange) => Effect.Effect<Note, NotesFailed>
  readonly remove: (project: string, id: NoteId) => Effect.Effect<Note, NotesFailed>
  readonly get: (project: string, id: NoteId) => Effect.Effect<Note, NotesFailed>
  readonly search: (project: string, query: NoteQuery) => Effect.Effect<NotesFound, NotesFailed>
}

const none = new NotesFailed({ reason: "unavailable", message: "This agent keeps no notes. Go on without them." })

/** The notes. Layers that keep them stand in `notes/NotesSqlite.ts`. */
export class Notes extends Context.Service<Notes, NotesShape>()("super-pi/Notes") {
  /** Nothing is kept. */
  static readonly layerNone: Layer.Layer<Notes> = Layer.succeed(Notes, {
    add: () => Effect.fail(none),
    change: () => Effect.fail(none),
    remove: () => Effect.fail(none),
    get: () => Effect.fail(none),
    search: () => Effect.fail(none)
  })
}
