/** The errors of the inbox: a status, and a body `{"error"}` with a sentence for the person who reads it. */
import * as Schema from "effect/Schema"
import type { Failure } from "../../domain/Failure.ts"
import type { Refusal } from "../http/Upgrades.ts"

const body = { error: Schema.String }

/** The request is wrong; the sentence names the field. */
export class BadRequest extends Schema.Error<BadRequest>("BadRequest")(body, { httpApiStatus: 400 }) {}
export class Unauthorized extends Schema.Error<Unauthorized>("Unauthorized")(body, { httpApiStatus: 401 }) {}
/** A page or a name that the server does not know. */
export class Forbidden extends Schema.Error<Forbidden>("Forbidden")(body, { httpApiStatus: 403 }) {}
export class NotFound extends Schema.Error<NotFound>("NotFound")(body, { httpApiStatus: 404 }) {}
/** Not now: too much waits, or another process works on the same conversation. */
export class Conflict extends Schema.Error<Conflict>("Conflict")(body, { httpApiStatus: 409 }) {}
export class PayloadTooLarge extends Schema.Error<PayloadTooLarge>("PayloadTooLarge")(body, { httpApiStatus: 413 }) {}
export class UnsupportedMediaType extends Schema.Error<UnsupportedMediaType>("UnsupportedMediaType")(body, {
  httpApiStatus: 415
}) {}
export class TooManyRequests extends Schema.Error<TooManyRequests>("TooManyRequests")(body, { httpApiStatus: 429 }) {}
/** The agent cannot work as it is: no provider, or no store. */
export class Unavailable extends Schema.Error<Unavailable>("Unavailable")(body, { httpApiStatus: 503 }) {}

/** A failure of the agent, as a client of the inbox sees it. */
export const ofAgent = (failure: Failure): BadRequest | NotFound | Conflict | Unavailable => {
  const error = failure.message
  switch (failure._tag) {
    case "InvalidInput":
      return new BadRequest({ error: `${failure.field}: ${error}` })
    case "SessionNotFound":
      return new NotFound({ error })
    case "Busy":
      return new Conflict({ error })
    case "AuthRequired":
      return new Unavailable({ error })
    case "StoreFailed":
      return failure.reason === "conflict" ? new Conflict({ error }) : new Unavailable({ error })
  }
}

/** What the guard said, in the inbox's shape. */
export const ofGuard = ({ body: error, status }: Refusal): Unauthorized | Forbidden | TooManyRequests => {
  switch (status) {
    case 403:
      return new Forbidden({ error })
    case 429:
      return new TooManyRequests({ error })
    default:
      return new Unauthorized({ error })
  }
}
