/** What happens in a session, in one order for its log, its state and every view. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type Event, isStored } from "../../domain/Event.ts"
import type { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import type { SessionId } from "../../domain/Ids.ts"
import type { Entry } from "../../domain/session/Session.ts"
import { fold, type SessionState } from "../../domain/session/SessionState.ts"
import type { Editor } from "../Editor.ts"
import type { LogWriter } from "../store/LogWriter.ts"

/** A connection that watches the session. `ceiling` is the highest mode of its transport. */
export interface View {
  readonly editor: Editor
  readonly ceiling: ExecutionMode
}

export interface Journal {
  readonly state: () => SessionState
  /** Logs what nobody is told. */
  readonly record: (entry: Entry) => Effect.Effect<void>
  /** Tells every view and logs what is kept. `except` knows already. */
  readonly emit: (event: Event, except?: Editor) => Effect.Effect<void>
  /** Tells every view what is true for it. */
  readonly tellEach: (eventsFor: (view: View) => ReadonlyArray<Event>) => Effect.Effect<void>
  /** Adds a view, for as long as the scope, after telling it `history`, with nothing told in between. */
  readonly attach: <E>(view: View, history: Effect.Effect<void, E>) => Effect.Effect<void, E, Scope.Scope>
}

export const make = Effect.fnUntraced(function* (
  id: SessionId,
  log: LogWriter,
  beginning: SessionState
): Effect.fn.Return<Journal> {
  const order = yield* Semaphore.make(1)
  const inOrder = order.withPermits(1)
  /** The newest view of each editor: a second load of one session must not tell everything twice. */
  const views = new Map<Editor, View>()
  let state = beginning

  const record = (entry: Entry) =>
    Effect.suspend(() => {
      state = fold(state, entry)
      return log.append(entry)
    })

  const tell = (eventsFor: (view: View) => ReadonlyArray<Event>) =>
    Effect.forEach(
      [...views.values()],
      (view) => Effect.forEach(eventsFor(view), (event) => view.editor.emit(id, event), { discard: true }),
      { discard: true }
    )

  /** The output of a call is in no log while the call runs; one that is stopped ends with what it had shown. */
  const note = (event: Event) => {
    if (event._tag === "ToolCallProgress") state = fold(state, { ...event, _tag: "ToolCallUpdated" })
  }

  const emit = (event: Event, except?: Editor) => {
    const told = Effect.suspend(() => {
      note(event)
      return tell((view) => (view.editor === except ? [] : [event]))
    })
    // What is kept is told as well, whatever interrupts: live and replay must not differ.
    return inOrder(isStored(event) ? Effect.uninterruptible(Effect.andThen(record(event), told)) : told)
  }

  const join = (view: View) =>
    Effect.acquireRelease(
      Effect.sync(() => views.set(view.editor, view)),
      () =>
        Effect.sync(() => {
          if (views.get(view.editor) === view) views.delete(view.editor)
        })
    )

  return {
    state: () => state,
    record,
    emit,
    tellEach: (eventsFor) => inOrder(Effect.suspend(() => tell(eventsFor))),
    attach: (view, history) => inOrder(Effect.asVoid(Effect.andThen(history, join(view))))
  }
})
