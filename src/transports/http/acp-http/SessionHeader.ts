/**
 * Which session a posted message is about. Its header has to say so, since whoever stands between client and agent reads
 * only headers (HTTP-06); it decides on which stream the answer comes (HTTP-05).
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { ErrorCode, shortName } from "../../../domain/wire/ErrorCode.ts"
import type * as JsonRpc from "../../../domain/wire/JsonRpc.ts"
import type { HttpConnection } from "./HttpConnection.ts"
import { type Refusal, refusal } from "./Refusal.ts"

export const name = "acp-session-id"

/** Methods about a session that the connection has opened before. */
const openOnly = new Set([
  "session/cancel",
  "session/close",
  "session/prompt",
  "session/set_config_option",
  "session/set_mode",
  "session/set_model"
])

/** Methods that are about one session. */
const scoped = new Set([...openOnly, "session/delete", "session/fork", "session/load", "session/resume"])

/** Methods that make the session one of the connection's. */
const opening = new Set(["session/load", "session/resume"])

export interface Posted {
  readonly text: string
  readonly message: JsonRpc.Message
  /** The header, if there is one. */
  readonly sessionId: string | undefined
}

interface Checks {
  /** Whether a session is open on another connection and not on this one. */
  readonly isForeign: (sessionId: string) => boolean
  readonly idLength: number
}

/** The session that a header names; `undefined` when there is none. */
export const read = (header: string | undefined, idLength: number): string | undefined | Refusal => {
  if (header === undefined || header === "") return undefined
  return header.length > idLength ? refusal(400, `An Acp-Session-Id has at most ${idLength} characters`) : header
}

const missing = (what: string): Refusal =>
  refusal(
    400,
    `Missing Acp-Session-Id: ${what} is about a session, which the header has to name`,
    ErrorCode.InvalidParams
  )

const mismatched = (what: string): Refusal =>
  refusal(
    400,
    `Mismatched Acp-Session-Id: ${what} is about another session than the header names`,
    ErrorCode.InvalidParams
  )

const foreign = refusal(
  400,
  "This session is open on another connection: open it on this one with session/load or session/resume",
  ErrorCode.ResourceNotFound
)

const sessionIn = (params: unknown): string | undefined =>
  Predicate.hasProperty(params, "sessionId") && typeof params.sessionId === "string" ? params.sessionId : undefined

const problemOf = (
  { method, params }: JsonRpc.Request | JsonRpc.Notification,
  header: string | undefined,
  { idLength, isForeign }: Checks
): Refusal | undefined => {
  const sessionId = sessionIn(params)
  if (sessionId !== undefined && sessionId.length > idLength) {
    return refusal(400, `A session id has at most ${idLength} characters`, ErrorCode.InvalidParams)
  }
  if (header === undefined) {
    return scoped.has(method) || sessionId !== undefined ? missing(shortName(method)) : undefined
  }
  if (sessionId !== undefined && sessionId !== header) return mismatched(shortName(method))
  return openOnly.has(method) && isForeign(header) ? foreign : undefined
}

/** Hands a message to the agent, or says why not. */
export const deliver = (
  connection: HttpConnection,
  { message, sessionId, text }: Posted,
  checks: Checks
): Effect.Effect<Refusal | undefined> => {
  const header = read(sessionId, checks.idLength)
  if (typeof header === "object") return Effect.succeed(header)
  switch (message._tag) {
    case "Request": {
      const problem = problemOf(message, header, checks)
      if (problem !== undefined) return Effect.succeed(problem)
      if (header !== undefined && opening.has(message.method)) connection.hold(header)
      const isLoad = message.method === "session/load"
      const destination = isLoad ? { sessionId: undefined, after: header } : { sessionId: header, after: undefined }
      return Effect.as(connection.receive(text, { id: message.id, destination }), undefined)
    }
    case "Notification": {
      const problem = problemOf(message, header, checks)
      return problem === undefined ? Effect.as(connection.receive(text), undefined) : Effect.succeed(problem)
    }
    case "Response": {
      const askedIn = connection.askedIn(message.id)
      if (askedIn !== undefined && header === undefined) return Effect.succeed(missing("this answer"))
      if (askedIn !== undefined && askedIn !== header) return Effect.succeed(mismatched("this answer"))
      connection.answered(message.id)
      return Effect.as(connection.receive(text), undefined)
    }
    default:
      return Effect.as(connection.receive(text), undefined)
  }
}
