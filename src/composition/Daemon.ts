/** The agent behind a port as an inbox: conversations over plain HTTP. Loaded by the command that serves it. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../services/Settings.ts"
import type * as Listener from "../transports/http/Listener.ts"
import * as InboxServer from "../transports/inbox/InboxServer.ts"
import { agent } from "./Agent.ts"
import * as Lifetime from "./Lifetime.ts"
import { platform } from "./Platform.ts"
import type { ServeOptions } from "./Serve.ts"

export interface DaemonOptions extends ServeOptions {
  /** Where conversations work that name no folder. Absolute. */
  readonly cwd: string
}

/** Serves until the lifetime is over. */
export const daemon = ({
  bind,
  cwd,
  flags,
  lifetime,
  origins,
  secret,
  started,
  tls
}: DaemonOptions): Effect.Effect<void, Listener.ListenFailed> => {
  const start = Effect.gen(function* () {
    const address = yield* InboxServer.serve({ ...bind, secret, origins, cwd, ...(tls === undefined ? {} : { tls }) })
    const { remoteCeiling } = yield* (yield* Settings).current
    yield* started(address, remoteCeiling)
  })
  return Effect.provide(Lifetime.live(start, lifetime), Layer.merge(agent(flags), platform))
}
