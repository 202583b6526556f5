/** The agent that editors share, and how a person asks of it. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { version } from "../domain/Version.ts"
import { dial } from "../transports/leader/Dial.ts"
import { type Hello, protocol, type Reply } from "../transports/leader/Handshake.ts"
import * as Leader from "../transports/leader/Leader.ts"
import type { LeaderFailed } from "../transports/leader/LeaderFailed.ts"
import { type Place, secureFolder } from "../transports/leader/Place.ts"
import { agent } from "./Agent.ts"
import { leaderPlace } from "./LeaderPlace.ts"
import { settings } from "./Platform.ts"

const noFlags = { alwaysApprove: false }

/** Where commands find the leader. */
export const place = (socket: string | undefined): Effect.Effect<Place, LeaderFailed> =>
  Effect.provide(leaderPlace(socket), settings(noFlags))

/** Serves until nobody needs it; `false` when another leader serves the place. */
export const lead = (options: Omit<Leader.LeaderOptions, "version">): Effect.Effect<boolean, LeaderFailed> =>
  Effect.provide(Leader.serve({ version, ...options }), agent(noFlags))

/** Asks the leader of the place, and waits for its end after `stop`. None when there is none. */
export const ask = Effect.fn("Leader.ask")(function* (at: Place, command: NonNullable<Hello["command"]>) {
  yield* secureFolder(at)
  const hello = { superPiLeader: protocol, version, pid: process.pid, role: "control" as const, command }
  const line = yield* dial(at, hello)
  if (Option.isSome(line) && command === "stop") yield* line.value.gone
  return Option.map(line, ({ reply }): Reply => reply)
}, Effect.scoped)
