/** The open questions of a session: put to every view, answered by the first, and put to whoever comes later as well. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { Answer, Question } from "../../domain/permission/Permission.ts"
import type { View } from "./Journal.ts"

export interface Questions {
  /**
   * Waits for the first view that answers; the question is then withdrawn from the others. A view that could not ask counts
   * only when no other one is left, and one that went away does not count: whoever comes back is asked again.
   */
  readonly ask: (question: Question) => Effect.Effect<Answer>
  /** Puts what is open, and what comes, to this view, for as long as the scope. */
  readonly attach: (view: View) => Effect.Effect<void, never, Scope.Scope>
}

interface Open {
  readonly question: Question
  readonly answered: Deferred.Deferred<Answer>
  readonly asking: Map<View, Fiber.Fiber<void>>
  /** Why those could not ask who could not. */
  readonly failed: Map<View, Answer>
}

export const make = (): Questions => {
  const open = new Set<Open>()
  /** Each view with the scope in which it is asked. */
  const views = new Map<View, Scope.Scope>()

  const settle = (question: Open): void => {
    const waiting = [...views.keys()].filter((view) => !question.failed.has(view))
    const [failure] = question.failed.values()
    if (views.size > 0 && waiting.length === 0 && failure !== undefined) {
      Deferred.doneUnsafe(question.answered, Effect.succeed(failure))
    }
  }

  const put = Effect.fnUntraced(function* (question: Open, view: View, scope: Scope.Scope) {
    const asked = Effect.map(view.editor.ask(question.question), (answer) => {
      question.asking.delete(view)
      if (answer._tag === "Gone") return
      if (answer._tag !== "Unanswered") {
        Deferred.doneUnsafe(question.answered, Effect.succeed(answer))
        return
      }
      question.failed.set(view, answer)
      settle(question)
    })
    question.asking.set(view, yield* Effect.forkIn(asked, scope))
  })

  const withdraw = (question: Open) =>
    Effect.suspend(() => {
      open.delete(question)
      return Fiber.interruptAll([...question.asking.values()])
    })

  return {
    ask: Effect.fnUntraced(function* (question) {
      const answered = yield* Deferred.make<Answer>()
      const asked: Open = { question, answered, asking: new Map(), failed: new Map() }
      return yield* Effect.acquireUseRelease(
        Effect.sync(() => open.add(asked)),
        () =>
          Effect.andThen(
            Effect.forEach([...views], ([view, scope]) => put(asked, view, scope), { discard: true }),
            Deferred.await(answered)
          ),
        () => withdraw(asked)
      )
    }),
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
