/** The agent behind a relay: it calls outward, and clients reach it there. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { version } from "../../domain/Version.ts"
import type { Agent } from "../../services/Agent.ts"
import type { Settings } from "../../services/Settings.ts"
import * as Connection from "../acp/Connection.ts"
import { dial } from "./Dial.ts"
import type { LinkFailed } from "./Link.ts"
import * as Links from "./Links.ts"
import type { Variables } from "./Proxy.ts"

/** Which relay, and how each client that comes through it is served. */
export interface RelayedAgentOptions {
  /** `ws:` or `wss:`. */
  readonly address: URL
  /** The token of the moment: it is read again for each call, and when the relay refuses it. */
  readonly token: Effect.Effect<Redacted.Redacted<string> | undefined, LinkFailed>
  /** The `Origin` header, for a relay that wants one. Default: none. */
  readonly origin?: string
  /** Where `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` are. Default: no proxy. */
  readonly variables?: Variables
  /** Told of the link that came, of one that was lost and when the next try is. Default: the log. */
  readonly tell?: (line: string) => Effect.Effect<void>
  /** Default of `version`: that of this package; of `ceiling`: what the settings allow a remote client. */
  readonly connection?: Partial<Connection.ConnectionOptions>
}

/** Keeps the agent of the environment reachable until the scope closes. Does not wait for the relay, and never gives up. */
export const start = Effect.fn("RelayedAgent.start")(function* ({
  address,
  connection,
  origin,
  tell = Effect.logInfo,
  token,
  variables = {}
}: RelayedAgentOptions): Effect.fn.Return<void, never, Agent | Settings | Scope.Scope> {
  const context = yield* Effect.context<Agent | Settings>()
  const options = { version, ...connection }
  const caller = { address, origin, variables, instance: randomBytes(16).toString("hex"), version: options.version }
  yield* Effect.forkScoped(
    Links.keep({
      token,
      tell,
      dial: (token) => dial({ ...caller, token }),
      serve: (frames) => Effect.provideContext(Connection.serveRemote(frames, options), context)
    })
  )
})

/** The same for as long as the layer is in use. */
export const layer = (options: RelayedAgentOptions): Layer.Layer<never, never, Agent | Settings> =>
  Layer.effectDiscard(start(options))
