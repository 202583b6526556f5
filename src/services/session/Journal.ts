/** What happens in a session, in one order for its log, its state and every view. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type Event, isStored, type ToolCallProgress } from "../../domain/Event.ts"
import type { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import type { SessionId, ToolCallId } from "../../domain/Ids.ts"
import { isBeyond, isSame, type Position } from "../../domain/session/Position.ts"
import type { Entry } from "../../domain/session/Session.ts"
import { fold, type SessionState } from "../../domain/session/SessionState.ts"
import type { Editor } from "../Editor.ts"
import type { LogWriter } from "../store/LogWriter.ts"

/** A connection that watches the session. `ceiling` is the highest mode of its transport. */
export interface View {
  readonly editor: Editor
  readonly ceiling: ExecutionMode
}

/** Tells a view what the log has after one position and not after another; of the whole log, if there is none. */
export type History<E> = (after: Position | undefined, upTo: Position) => Effect.Effect<void, E>

export interface Journal {
  readonly state: () => SessionState
  /** How many views there are. */
  readonly watchers: () => number
  readonly isWatchedBy: (editor: Editor) => boolean
  /** Logs what nobody is told. */
  readonly record: (entry: Entry) => Effect.Effect<void>
  /** Tells every view and logs what is kept. `except` knows already. */
  readonly emit: (event: Event, except?: Editor) => Effect.Effect<void>
  /** Tells every view what is true for it. */
  readonly tellEach: (eventsFor: (view: View) => ReadonlyArray<Event>) => Effect.Effect<void>
  /**
   * Adds a view, for as long as the scope, with nothing told between what is told now and what happens next. One that is
   * new is told of the calls that are open, since what comes of them would mean nothing to it.
   */
  readonly attach: (view: View) => Effect.Effect<void, never, Scope.Scope>
  /**
   * The same after telling it the log from `after` on. A long history is told at the reader's pace while the session goes
   * on; only what happened meanwhile is told with everything else waiting. `present` is told last.
   */
  readonly attachAfter: <E>(
    view: View,
    after: Position | undefined,
    history: History<E>,
    present: Effect.Effect<void>
  ) => Effect.Effect<void, E, Scope.Scope>
}

/** How often what happened meanwhile is told without holding up the session. */
const PASSES = 8

export const make = Effect.fnUntraced(function* (
  id: SessionId,
  log: LogWriter,
  beginning: SessionState
): Effect.fn.Return<Journal> {
  const order = yield* Semaphore.make(1)
  const inOrder = order.withPermits(1)
  /** The newest view of each editor: a second load of one session must not tell everything twice. */
  const views = new Map<Editor, View>()
  /** What running calls have shown. */
  const progress = new Map<ToolCallId, ToolCallProgress>()
  let state = beginning

  const record = (entry: Entry): Effect.Effect<Position> =>
    Effect.suspend(() => {
      state = fold(state, entry)
      if (entry._tag === "ToolCallUpdated" && !state.openCalls.has(entry.id)) progress.delete(entry.id)
      return log.append(entry)
    })

  const tell = (eventsFor: (view: View) => ReadonlyArray<Event>, position?: Position) =>
    Effect.forEach(
      [...views.values()],
      (view) => Effect.forEach(eventsFor(view), (event) => view.editor.emit(id, event, position), { discard: true }),
      { discard: true }
    )

  /** The output of a call is in no log while the call runs; one that is stopped ends with what it had shown. */
  const note = (event: Event) => {
    if (event._tag !== "ToolCallProgress") return
    state = fold(state, { ...event, _tag: "ToolCallUpdated" })
    progress.set(event.id, {
      _tag: event._tag,
      id: event.id,
      patch: { ...progress.get(event.id)?.patch, ...event.patch }
    })
  }

  const emit = (event: Event, except?: Editor) => {
    const eventsFor = (view: View) => (view.editor === except ? [] : [event])
    // What is kept is told as well, whatever interrupts: live and replay must not differ.
    if (isStored(event)) {
      const kept = Effect.flatMap(record(event), (position) => tell(eventsFor, position))
      return inOrder(Effect.uninterruptible(kept))
    }
    return inOrder(
      Effect.suspend(() => {
        note(event)
        return tell(eventsFor)
      })
    )
  }

  const tellOne = ({ editor }: View, events: Iterable<Event>) =>
    Effect.forEach(events, (event) => editor.emit(id, event), { discard: true })

  const tellOpenCalls = (view: View) =>
    Effect.suspend(() => {
      if (views.has(view.editor)) return Effect.void
      const calls = [...state.openCalls.values()]
      return tellOne(
        view,
        calls.map((call): Event => ({ _tag: "ToolCallStarted", call }))
      )
    })

  const join = (view: View) =>
    Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => views.set(view.editor, view)),
        () =>
          Effect.sync(() => {
            if (views.get(view.editor) === view) views.delete(view.editor)
          })
      )
    )

  const attachAfter = Effect.fnUntraced(function* <E>(
    view: View,
    after: Position | undefined,
    history: History<E>,
    present: Effect.Effect<void>
  ) {
    // A position that this log does not have yet says nothing of what was told of it.
    let told = after === undefined || isBeyond(after, log.position()) ? undefined : after
    const catchUp = Effect.suspend(() => {
      const position = log.position()
      if (position === undefined || isSame(position, told)) return Effect.succeed(true)
      const earlier = told
      told = position
      return Effect.as(history(earlier, position), false)
    })
    for (let pass = 0; pass < PASSES; pass++) if (yield* catchUp) break
    const tellProgress = Effect.suspend(() => tellOne(view, progress.values()))
    yield* inOrder(Effect.all([catchUp, tellProgress, present, join(view)], { discard: true }))
  })

  return {
    state: () => state,
    watchers: () => views.size,
    isWatchedBy: (editor) => views.has(editor),
    record: (entry) => Effect.asVoid(record(entry)),
    emit,
    tellEach: (eventsFor) => inOrder(Effect.suspend(() => tell(eventsFor))),
    attach: (view) => inOrder(Effect.andThen(tellOpenCalls(view), join(view))),
    attachAfter
  }
})
