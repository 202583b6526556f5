/** Connections that honour HTTP_PROXY, HTTPS_PROXY and NO_PROXY, for every client of HTTP in here. Loads its package when used. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { EnvHttpProxyAgent } from "undici"

/** They are closed with the scope. The proxies are those of the environment, unless `options` names them. */
export const makeProxyAgent = (
  options: EnvHttpProxyAgent.Options
): Effect.Effect<EnvHttpProxyAgent, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(
      Effect.promise(() => import("undici")),
      (undici) => new undici.EnvHttpProxyAgent(options)
    ),
    (agent) => Effect.promise(() => agent.destroy())
  )
