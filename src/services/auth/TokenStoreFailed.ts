import * as Schema from "effect/Schema"

/** The file of tokens could not be read or written, and is as it was. `message` says what to do. */
export class TokenStoreFailed extends Schema.TaggedError<TokenStoreFailed>()("TokenStoreFailed", {
  reason: Schema.Literals(["damaged", "locked", "unavailable"]),
  message: Schema.String
}) {}
