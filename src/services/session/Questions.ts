/**
 * The open questions of a session, permissions and forms alike: put to every view that can, answered by the first, and put
 * to whoever comes later as well.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { Elicitation, ElicitationAnswer } from "../../domain/Elicitation.ts"
import type { Answer, Question } from "../../domain/permission/Permission.ts"
import type { Editor } from "../Editor.ts"
import type { View } from "./Journal.ts"

export interface Questions {
  /**
   * Waits for the first view that answers; the question is then withdrawn from the others. A view that could not ask counts
   * only when no other one is left, and one that went away does not count: whoever comes back is asked again.
   */
  readonly ask: (question: Question) => Effect.Effect<Answer>
  /** The same for a form or a page. `Unanswered` when no view can show it. */
  readonly elicit: (request: Elicitation) => Effect.Effect<ElicitationAnswer>
  /** Whether some view can show a form. */
  readonly canElicit: () => boolean
  /** Puts what is open, and what comes, to this view, for as long as the scope. */
  readonly attach: (view: View) => Effect.Effect<void, never, Scope.Scope>
}

/** What every answer has in common: those of a person differ by what was asked. */
type Reply = Answer | ElicitationAnswer

interface Open {
  /** Puts it to one view, and says whether that settled it or why the view could not. */
  readonly put: (view: View) => Effect.Effect<"settled" | "gone" | "failed">
  /** Gives up: no view is left that could ask. */
  readonly giveUp: () => void
  readonly asking: Map<View, Fiber.Fiber<void>>
  readonly failed: Set<View>
}

const canShow = ({ capabilities: { elicitation } }: Editor, { _tag }: Elicitation): boolean =>
  _tag === "Form" ? elicitation.form : elicitation.url

const CANNOT_SHOW = { _tag: "Unanswered", reason: "no editor of this session can show the question" } as const

export const make = (): Questions => {
  const open = new Set<Open>()
  /** Each view with the scope in which it is asked. */
  const views = new Map<View, Scope.Scope>()

  const settle = (question: Open): void => {
    const waiting = [...views.keys()].filter((view) => !question.failed.has(view))
    if (views.size > 0 && waiting.length === 0 && question.failed.size > 0) question.giveUp()
  }

  const put = Effect.fnUntraced(function* (question: Open, view: View, scope: Scope.Scope) {
    const asked = Effect.map(question.put(view), (what) => {
      question.asking.delete(view)
      if (what !== "failed") return
      question.failed.add(view)
      settle(question)
    })
    question.asking.set(view, yield* Effect.forkIn(asked, scope))
  })

  const withdraw = (question: Open) =>
    Effect.suspend(() => {
      open.delete(question)
      return Fiber.interruptAll([...question.asking.values()])
    })

  const everybody = Effect.fnUntraced(function* <A extends Reply>(ask: (editor: Editor) => Effect.Effect<A>) {
    const answered = yield* Deferred.make<A>()
    let failure: A | undefined
    const question: Open = {
      asking: new Map(),
      failed: new Set(),
      giveUp: () => {
        if (failure !== undefined) Deferred.doneUnsafe(answered, Effect.succeed(failure))
      },
      put: ({ editor }) =>
        Effect.map(ask(editor), (answer) => {
          if (answer._tag === "Gone") return "gone"
          if (answer._tag === "Unanswered") {
            failure ??= answer
            return "failed"
          }
          Deferred.doneUnsafe(answered, Effect.succeed(answer))
          return "settled"
        })
    }
    return yield* Effect.acquireUseRelease(
      Effect.sync(() => open.add(question)),
      () =>
        Effect.andThen(
          Effect.forEach([...views], ([view, scope]) => put(question, view, scope), { discard: true }),
          Deferred.await(answered)
        ),
      () => withdraw(question)
    )
  })

  return {
    ask: (question) => everybody((editor) => editor.ask(question)),
    elicit: (request) =>
      everybody<ElicitationAnswer>((editor) =>
        canShow(editor, request) ? editor.elicit(request) : Effect.succeed(CANNOT_SHOW)
      ),
    canElicit: () => [...views.keys()].some(({ editor }) => editor.capabilities.elicitation.form),
    attach: Effect.fnUntraced(function* (view) {
      const scope = yield* Scope.make()
      yield* Effect.acquireRelease(
        Effect.sync(() => views.set(view, scope)),
        () =>
          Effect.suspend(() => {
            views.delete(view)
            for (const question of open) {
              question.failed.delete(view)
              settle(question)
            }
            return Scope.close(scope, Exit.void)
          })
      )
      yield* Effect.forEach([...open], (question) => put(question, view, scope), { discard: true })
    })
  }
}
