/** The way from an editor's stdio to the leader. Loaded in the place of the agent. */
import * as Effect from "effect/Effect"
import { version } from "../domain/Version.ts"
import type { Flags, Settings } from "../services/Settings.ts"
import { Frames } from "../transports/Frames.ts"
import * as Bridge from "../transports/leader/Bridge.ts"
import { protocol } from "../transports/leader/Handshake.ts"
import { launch } from "../transports/leader/Launch.ts"
import type { LeaderFailed } from "../transports/leader/LeaderFailed.ts"
import { reach } from "../transports/leader/Reach.ts"
import { leaderPlace } from "./LeaderPlace.ts"

/** Serves the frames of the environment by the leader at `socket`, which is started when it is not there. */
export const bridge = Effect.fn("Bridge.bridge")(function* (
  { alwaysApprove, model }: Flags,
  socket: string | undefined,
  ending: Effect.Effect<void>
): Effect.fn.Return<void, LeaderFailed, Frames | Settings> {
  const place = yield* leaderPlace(socket)
  const hello = {
    superPiLeader: protocol,
    version,
    pid: process.pid,
    role: "acp" as const,
    ...(model === undefined ? {} : { model }),
    ...(alwaysApprove ? { alwaysApprove } : {})
  }
  yield* Bridge.run({
    editor: yield* Frames,
    version,
    ending,
    reach: reach({ place, hello, launch: launch(place, ["agent", "--leader-socket", place.socket, "leader"]) })
  })
})
