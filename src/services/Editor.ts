/** The port to one editor: what a session may tell it and ask of it. A version adapter provides it per connection. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { EditorCapabilities } from "../domain/Capability.ts"
import type { Elicitation, ElicitationAnswer } from "../domain/Elicitation.ts"
import type { Event } from "../domain/Event.ts"
import type { SessionId } from "../domain/Ids.ts"
import type { Position } from "../domain/session/Position.ts"
import type { Answer, Question } from "../domain/permission/Permission.ts"

/** The editor answered with an error, or went away. `notFound`: it says that there is no such file (FS-04). */
export class EditorFailed extends Schema.TaggedError<EditorFailed>()("EditorFailed", {
  notFound: Schema.Boolean,
  message: Schema.String
}) {}

/** One editor, as the sessions that it watches see it. */
export interface Editor {
  readonly capabilities: EditorCapabilities
  /**
   * Tells one event; `position` is where the log has it, of events that are kept. Over stdio it suspends while the reader
   * is slow; over a network it never does, and a reader that is too slow is disconnected. Nothing once the connection is
   * gone.
   */
  readonly emit: (sessionId: SessionId, event: Event, position?: Position) => Effect.Effect<void>
  /** Waits until the reader has caught up, or is gone. What is told of the past is told at the reader's pace. */
  readonly caughtUp: Effect.Effect<void>
  /** Asks a person. Interruption withdraws the question (CAN-08). Without a time limit (PRM-05). */
  readonly ask: (question: Question) => Effect.Effect<Answer>
  /** The same for a form or a page. Only what `capabilities.elicitation` has (ELI-01). */
  readonly elicit: (request: Elicitation) => Effect.Effect<ElicitationAnswer>
  /** Whether the connection is lost. */
  readonly isGone: () => boolean
  /**
   * The text of a file as the editor shows it, unsaved changes included, or `limit` lines of it from `line` on, which
   * counts from 1. Call only if `capabilities.readTextFile`.
   */
  readonly readTextFile: (
    sessionId: SessionId,
    path: string,
    range?: { readonly line: number; readonly limit: number }
  ) => Effect.Effect<string, EditorFailed>
}
