/** Why there is no leader to talk to, as a sentence with its remedy. */
import * as Schema from "effect/Schema"

export class LeaderFailed extends Schema.TaggedError<LeaderFailed>()("LeaderFailed", { message: Schema.String }) {}
