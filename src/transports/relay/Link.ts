/** What an agent and a relay have between them: one WebSocket, called a link. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { FramesShape } from "../Frames.ts"

/** A relay that gives each client a link of its own says so by this header of its answer, with `pairs` as the value. */
export const relayHeader = "super-pi-relay"

/** Names the process that calls, so that a relay can tell a second agent from a second link of the first. */
export const instanceHeader = "super-pi-instance"

/** The payload of the ping by which a relay tells that a client is joined to the link. */
export const pairedSign = "super-pi paired"

/** There is no link, or no longer. The message is for whoever runs the agent, and never has the token. */
export class LinkFailed extends Schema.TaggedError<LinkFailed>()("LinkFailed", {
  problem: Schema.Literals(["unauthorized", "refused", "unreachable", "lost"]),
  message: Schema.String
}) {}

/** A link that stands. Its scope ends it. */
export interface Link {
  readonly frames: FramesShape
  /** Whether each client gets a link of its own; else all that clients say comes over this one. */
  readonly pairs: boolean
  /** Done when a client is joined to it. */
  readonly paired: Effect.Effect<void>
}
