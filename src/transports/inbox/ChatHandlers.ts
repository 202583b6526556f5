/** `/v1/chat`: what scripts and pages use. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { type Answer, Api } from "./Api.ts"
import type { Conversations } from "./Conversations.ts"
import * as EventStream from "./EventStream.ts"
import * as Failures from "./Failures.ts"
import type { Following } from "./Following.ts"
import { explained, type Requests } from "./Requests.ts"

export interface Parts {
  readonly conversations: Conversations
  readonly following: Following
  readonly requests: Requests
  /** Done when streams have to end. */
  readonly closing: Effect.Effect<void>
}

/** `stream` decides; without it, whoever takes JSON and not events gets JSON. */
const wantsJson = (stream: boolean | undefined, accept = "*/*"): boolean =>
  stream === undefined ? accept.includes("application/json") && !accept.includes("text/event-stream") : !stream

/** The handler of both paths of events. */
export const follow =
  ({ closing, conversations, following }: Parts) =>
  ({
    headers,
    query
  }: {
    readonly headers: { readonly "last-event-id"?: string }
    readonly query: { readonly since?: string; readonly sessionId?: Parameters<Conversations["join"]>[0] }
  }) =>
    Effect.gen(function* () {
      // What a browser has read by now counts more than what the page's address said.
      const since = headers["last-event-id"] ?? query.since
      const { sessionId } = query
      if (sessionId !== undefined) yield* explained(Effect.scoped(conversations.join(sessionId)))
      return EventStream.respond(following.follow(sessionId, since === "" ? undefined : since), closing)
    })

export const chatHandlers = (parts: Parts) => {
  const { closing, conversations, following, requests } = parts
  return HttpApiBuilder.group(Api, "chat", (handlers) =>
    handlers.handleAll({
      send: Effect.fnUntraced(function* ({ headers, payload }) {
        const { cwd, message, sessionId, stream } = payload
        const text = message ?? payload.text ?? ""
        if (text.trim() === "") {
          return yield* new Failures.BadRequest({ error: 'message: it is missing or empty; send {"message":"…"}' })
        }
        const id = yield* sessionId === undefined ? requests.create(cwd) : requests.existing(sessionId, cwd)
        const { turn } = yield* explained(conversations.post(id, text))
        if (!wantsJson(stream, headers.accept)) return EventStream.respond(following.followTurn(id, turn), closing)
        const { stopReason, usage } = yield* explained(Deferred.await(turn.outcome))
        const answer: Answer = { sessionId: id, text: turn.text(), stopReason, ...(usage && { usage }) }
        return answer
      }),
      events: follow(parts),
      stop: Effect.fnUntraced(function* ({ payload }) {
        return { ok: true, stopped: yield* explained(conversations.stop(payload?.sessionId)) }
      }),
      sessions: ({ query }) => requests.list(query),
      permissions: ({ query: { sessionId } }) =>
        Effect.sync(() => ({
          permissions: conversations
            .joined()
            .filter((conversation) => sessionId === undefined || conversation.sessionId === sessionId)
            .flatMap(({ questions }) => questions.open())
            .flatMap(({ event }) => (event.type === "permission" ? [event] : []))
        })),
      answer: Effect.fnUntraced(function* ({ params: { id }, payload: { optionId } }) {
        const questions = conversations.joined().map((conversation) => conversation.questions)
        const asked = questions.find(({ find }) => find(id) !== undefined)
        const options = asked?.find(id)?.options.map((option) => option.optionId) ?? []
        if (asked !== undefined && !options.includes(optionId)) {
          const error = `optionId: "${optionId}" is not offered; choose one of: ${options.join(", ")}`
          return yield* new Failures.BadRequest({ error })
        }
        if (asked !== undefined && (yield* asked.answer(id, optionId))) return { ok: true }
        return yield* new Failures.NotFound({
          error: "This question is not open: it was answered or withdrawn, or there never was one with this id"
        })
      })
    })
  )
}
