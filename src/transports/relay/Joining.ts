/** Joins an agent's link and a client: every message of one goes to the other, unchanged, once, and in order. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CloseCode } from "../http/WebSockets.ts"
import type { End, Pipe } from "./Pipe.ts"

/** How long a side may take to read what is sent to it. */
const stall = "60 seconds"

/** Runs until one of the two ends, and says how. */
const pour = Effect.fnUntraced(function* (from: Pipe, to: Pipe): Effect.fn.Return<End> {
  for (;;) {
    const messages = yield* from.take
    if (messages.length === 0) return yield* from.ended
    if (Option.isNone(yield* Effect.timeoutOption(to.send(messages), stall))) {
      yield* to.close(CloseCode.PolicyViolation, "This side reads too slowly")
      return { code: CloseCode.PolicyViolation, reason: "The other side reads too slowly" }
    }
  }
})

/** Codes that an end may be told with; the others say that there was none. */
const isSayable = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code < 5000)

/** What one side is told of how the other ended: its own words, or what it means. */
const passOn = ({ code, reason }: End, otherwise: End): End =>
  reason !== "" && isSayable(code) ? { code, reason } : otherwise

const clientLeft: End = { code: CloseCode.Done, reason: "The client has left" }
const agentGone: End = { code: CloseCode.GoingAway, reason: "The agent is gone: connect again, and load the session" }

/** Runs until one side ends, and closes the other. */
export const join = Effect.fnUntraced(function* (agent: Pipe, client: Pipe) {
  const { code, reason } = yield* Effect.raceFirst(
    Effect.map(pour(client, agent), (end) => passOn(end, clientLeft)),
    Effect.map(pour(agent, client), (end) => passOn(end, agentGone))
  )
  yield* agent.close(code, reason)
  yield* client.close(code, reason)
})
