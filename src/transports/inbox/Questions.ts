/** The questions of one conversation that wait for somebody to answer them over HTTP. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Answer, Question } from "../../domain/permission/Permission.ts"
import type { Body, PermissionEvent } from "./Event.ts"
import type { Told } from "./Feed.ts"

/** How long a question waits. Then the call is denied and the turn goes on, so that nothing hangs for good. */
export const PATIENCE = "10 minutes"

export const unanswered: Answer = {
  _tag: "Unanswered",
  reason: `Nobody answered within ${PATIENCE}`
}

export interface Questions {
  /** Tells it, and waits for `answer`, but not for ever. */
  readonly ask: (question: Question, title: string) => Effect.Effect<Answer>
  /** The events that told of what is still open. */
  readonly open: () => ReadonlyArray<Told>
  readonly find: (id: string) => PermissionEvent | undefined
  /** False if it is no longer open. */
  readonly answer: (id: string, optionId: string) => Effect.Effect<boolean>
}

interface Open {
  readonly told: Told
  readonly answered: Deferred.Deferred<Answer>
}

export const make = (tell: (body: Body) => Effect.Effect<Told>): Questions => {
  const open = new Map<string, Open>()

  const put = (question: Question, title: string) =>
    Effect.gen(function* () {
      const options = question.options.map(({ id, kind, name }) => ({ optionId: id, name, kind }))
      const told = yield* tell({ type: "permission", toolCallId: question.call.id, title, options })
      const asked: Open = { told, answered: yield* Deferred.make<Answer>() }
      open.set(told.id, asked)
      return asked
    })

  const close = ({ answered, told }: Open) =>
    Effect.gen(function* () {
      open.delete(told.id)
      const answer = Deferred.isDoneUnsafe(answered) ? yield* Deferred.await(answered) : undefined
      const chosen = answer?._tag === "Selected" ? { optionId: answer.optionId } : {}
      yield* tell({ type: "permission_closed", permissionId: told.id, ...chosen })
    })

  return {
    ask: (question, title) =>
      Effect.acquireUseRelease(
        put(question, title),
        ({ answered }) =>
          Effect.timeoutOrElse(Deferred.await(answered), {
            duration: PATIENCE,
            orElse: () => Effect.succeed(unanswered)
          }),
        close
      ),
    open: () => [...open.values()].map(({ told }) => told),
    find: (id) => {
      const event = open.get(id)?.told.event
      return event?.type === "permission" ? event : undefined
    },
    answer: (id, optionId) =>
      Effect.suspend(() => {
        const asked = open.get(id)
        return asked === undefined
          ? Effect.succeed(false)
          : Deferred.succeed(asked.answered, { _tag: "Selected", optionId })
      })
  }
}
