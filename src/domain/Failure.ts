/** The closed union of failures that may reach a surface. One switch per surface gives each its code. */
import * as Schema from "effect/Schema"

/** Nobody is signed in or no model provider is configured; `message` says what to do. */
export class AuthRequired extends Schema.TaggedError<AuthRequired>()("AuthRequired", { message: Schema.String }) {}

/** There is no such session, here or in the store. */
export class SessionNotFound extends Schema.TaggedError<SessionNotFound>()("SessionNotFound", {
  sessionId: Schema.String
}) {
  override get message(): string {
    return `Session ${this.sessionId} does not exist`
  }
}

/** Bad input. `field` is the argument and the path in it, such as `additionalDirectories[1]`; `message` names the remedy. Changes nothing. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", {
  field: Schema.String,
  message: Schema.String
}) {}

/** The session cannot take the request now, such as a full queue of prompts. */
export class Busy extends Schema.TaggedError<Busy>()("Busy", { message: Schema.String }) {}

/** The session log could not be read or written. `conflict`: another process wrote the same session. */
export class StoreFailed extends Schema.TaggedError<StoreFailed>()("StoreFailed", {
  reason: Schema.Literals(["conflict", "damaged", "unavailable"]),
  message: Schema.String
}) {}

/** Every failure of `Agent`. */
export type Failure = AuthRequired | SessionNotFound | InvalidInput | Busy | StoreFailed
