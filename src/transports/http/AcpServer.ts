/** The agent behind a port of its own: ACP over WebSocket at `/ws` and `/acp`, over Streamable HTTP at `/acp`. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { version } from "../../domain/Version.ts"
import type { Agent } from "../../services/Agent.ts"
import type { Settings } from "../../services/Settings.ts"
import type { ConnectionOptions } from "../acp/Connection.ts"
import * as AcpEndpoints from "./AcpEndpoints.ts"
import type { Address } from "./Address.ts"
import * as GuardedServer from "./GuardedServer.ts"
import type { ListenFailed } from "./Listener.ts"

/** Where it listens, whom it lets in, and how each connection is served. */
export interface AcpServerOptions extends GuardedServer.ServerOptions {
  /** Default of `version`: that of this package; of `ceiling`: what the settings allow a remote client. */
  readonly connection?: Partial<ConnectionOptions>
}

/** A server that runs: where it listens, with the port that it has when any free one was wanted. */
export class AcpServer extends Context.Service<AcpServer, Address>()("super-pi/AcpServer") {}

/** Serves the agent of the environment until the scope closes. Then its clients are told, and turns go on without them. */
export const serve = (
  options: AcpServerOptions
): Effect.Effect<Address, ListenFailed, Agent | Settings | Scope.Scope> =>
  GuardedServer.serve(options, (guard) => AcpEndpoints.make({ version, ...options.connection, guard }))

/** The same for as long as the layer is in use. */
export const layer = (options: AcpServerOptions): Layer.Layer<AcpServer, ListenFailed, Agent | Settings> =>
  Layer.effect(AcpServer, serve(options))
