/** Where the leader of this user is reached. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { Settings } from "../services/Settings.ts"
import { readVariable } from "../services/settings/Environment.ts"
import type { LeaderFailed } from "../transports/leader/LeaderFailed.ts"
import { defaultSocket, type Place, placeOf } from "../transports/leader/Place.ts"

/** The socket of the command line, else `SUPERCHARGE_LEADER_SOCKET`, else that of the home folder. */
export const leaderPlace = Effect.fnUntraced(function* (
  socket: string | undefined
): Effect.fn.Return<Place, LeaderFailed, Settings> {
  const { home } = yield* Settings
  const variable = yield* readVariable(yield* ConfigProvider.ConfigProvider, "SUPERCHARGE_LEADER_SOCKET")
  return yield* placeOf(socket ?? variable ?? defaultSocket(home))
})
