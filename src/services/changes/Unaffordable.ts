/** Why it is not known what a command changed. */
import * as Schema from "effect/Schema"

/** `message` is for a person, and fits behind a path and a colon. */
export class Unaffordable extends Schema.TaggedError<Unaffordable>()("Unaffordable", { message: Schema.String }) {}
