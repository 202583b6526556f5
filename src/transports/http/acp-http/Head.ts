/**
 * What routing has to know of a message of the agent. The envelope is written by this program, so its beginning tells
 * nearly all; only a call whose session does not stand first is read as a whole.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

/** The answer to a request of the client. Ids are the JSON text of the message. */
export interface Answer {
  readonly _tag: "Answer"
  readonly id: string
}

/** A request or notification of the agent. */
export interface Call {
  readonly _tag: "Call"
  /** Only of requests. */
  readonly id: string | undefined
  readonly sessionId: string | undefined
  /** The request that it withdraws (CAN-08). */
  readonly withdrawn: string | undefined
}

export type Head = Answer | Call

const id = String.raw`("(?:[^"\\]|\\.)*"|-?\d+|null)`
const answer = new RegExp(String.raw`^\{"jsonrpc":"2\.0","id":${id},"(?:result|error)":`)
const call = new RegExp(
  String.raw`^\{"jsonrpc":"2\.0",(?:"id":${id},)?"method":"[^"\\]*","params":\{"sessionId":"([^"\\]*)"`
)
const withId = new RegExp(String.raw`^\{"jsonrpc":"2\.0","id":${id},"method":`)

const paramOf = (text: string, key: string): unknown => {
  const message = Result.getOrElse(
    Result.try((): unknown => JSON.parse(text)),
    () => undefined
  )
  const params = Predicate.hasProperty(message, "params") ? message.params : undefined
  return Predicate.hasProperty(params, key) ? params[key] : undefined
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

export const read = (text: string): Head => {
  const answered = answer.exec(text)?.[1]
  if (answered !== undefined) return { _tag: "Answer", id: answered }
  const plain = call.exec(text)
  if (plain !== null) return { _tag: "Call", id: plain[1], sessionId: plain[2], withdrawn: undefined }
  const withdraws = text.startsWith('{"jsonrpc":"2.0","method":"$/cancel_request"')
  return {
    _tag: "Call",
    id: withId.exec(text)?.[1],
    sessionId: textOf(paramOf(text, "sessionId")),
    withdrawn: withdraws ? JSON.stringify(paramOf(text, "requestId")) : undefined
  }
}
