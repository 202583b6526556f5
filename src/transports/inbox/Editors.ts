/** The ends that conversations of the inbox hear and speak through. None of them is a program with files of its own. */
import * as Effect from "effect/Effect"
import { noCapabilities } from "../../domain/Capability.ts"
import type { ElicitationAnswer } from "../../domain/Elicitation.ts"
import type { Event } from "../../domain/Event.ts"
import type { Answer } from "../../domain/permission/Permission.ts"
import type { Position } from "../../domain/session/Position.ts"
import { type Editor, EditorFailed } from "../../services/Editor.ts"
import { unanswered } from "./Questions.ts"

export interface Editors {
  /** Opens sessions and lists them. */
  readonly deaf: Editor
  /** Sends the prompts; hears only of turns that others began. */
  readonly sender: (hear: (event: Event) => void) => Editor
  /** Hears everything, and has people answer. */
  readonly watcher: (emit: Editor["emit"], ask: Editor["ask"]) => Editor
  /** Takes what the log has, at the pace of `ready`, and leaves. */
  readonly reader: (take: (event: Event, position: Position) => void, ready: Effect.Effect<void>) => Editor
}

/** Once the inbox `isGone`, its turns go on without it. */
export const make = (isGone: () => boolean): Editors => {
  const deaf: Editor = {
    capabilities: noCapabilities,
    emit: () => Effect.void,
    caughtUp: Effect.void,
    ask: () => Effect.succeed<Answer>({ _tag: "Gone" }),
    elicit: () => Effect.succeed<ElicitationAnswer>({ _tag: "Gone" }),
    isGone,
    readTextFile: () => Effect.fail(new EditorFailed({ notFound: false, message: "The inbox has no files to offer" }))
  }
  return {
    deaf,
    sender: (hear) => ({
      ...deaf,
      emit: (_, event) => Effect.sync(() => hear(event)),
      // Who sends does not ask, and must not keep a question open that the watcher gave up.
      ask: () => Effect.succeed(unanswered)
    }),
    watcher: (emit, ask) => ({ ...deaf, emit, ask }),
    reader: (take, ready) => ({
      ...deaf,
      emit: (_, event, position) => Effect.sync(() => (position === undefined ? undefined : take(event, position))),
      caughtUp: ready
    })
  }
}
