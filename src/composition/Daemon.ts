/** The agent behind a port as an inbox: conversations over plain HTTP. Loaded by the command that serves it. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SecureRandom } from "effect/crypto/SecureRandom"
import { Settings } from "../services/Settings.ts"
import * as Guard from "../transports/http/Guard.ts"
import * as Listener from "../transports/http/Listener.ts"
import { parameters } from "../transports/inbox/Credentials.ts"
import * as Inbox from "../transports/inbox/Inbox.ts"
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
    const guard = yield* Guard.make({ secret, bind, origins, query: parameters })
    const random = yield* SecureRandom
    const endpoints = yield* Inbox.make({ guard, secret, cwd, random })
    const address = yield* Listener.listen({ ...bind, ...endpoints, ...(tls === undefined ? {} : { tls }) })
    const { remoteCeiling } = yield* (yield* Settings).current
    yield* started(address, remoteCeiling)
  })
  return Effect.provide(Lifetime.live(start, lifetime), Layer.merge(agent(flags), platform))
}
