/** The agent behind a port: ACP over WebSocket and Streamable HTTP. Loaded by the commands that serve it. */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { ExecutionMode } from "../domain/permission/ExecutionMode.ts"
import { type Flags, Settings } from "../services/Settings.ts"
import * as AcpServer from "../transports/http/AcpServer.ts"
import type * as Listener from "../transports/http/Listener.ts"
import { agent } from "./Agent.ts"
import * as Lifetime from "./Lifetime.ts"

export interface ServeOptions {
  readonly flags: Flags
  readonly bind: Listener.Address
  readonly secret: Redacted.Redacted<string>
  readonly tls?: Listener.Tls
  /** Origins of pages that may connect, beside those of the server itself. */
  readonly origins: ReadonlyArray<string>
  readonly lifetime: Lifetime.Lifetime
  /** Runs as soon as clients can connect; the highest execution mode is what they may do. */
  readonly started: (address: Listener.Address, ceiling: ExecutionMode) => Effect.Effect<void>
}

/** Serves until the lifetime is over. */
export const serve = ({
  bind,
  flags,
  lifetime,
  origins,
  secret,
  started,
  tls
}: ServeOptions): Effect.Effect<void, Listener.ListenFailed> => {
  const start = Effect.gen(function* () {
    const address = yield* AcpServer.serve({ ...bind, secret, origins, ...(tls === undefined ? {} : { tls }) })
    const { remoteCeiling } = yield* (yield* Settings).current
    yield* started(address, remoteCeiling)
  })
  return Effect.provide(Lifetime.live(start, lifetime), agent(flags))
}
