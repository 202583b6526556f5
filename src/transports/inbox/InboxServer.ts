/** The inbox of the agent behind a port of its own. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { SecureRandom } from "effect/crypto/SecureRandom"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type * as Scope from "effect/Scope"
import type { Agent } from "../../services/Agent.ts"
import type { Settings } from "../../services/Settings.ts"
import type { Address } from "../http/Address.ts"
import * as GuardedServer from "../http/GuardedServer.ts"
import type { ListenFailed } from "../http/Listener.ts"
import { parameters } from "./Credentials.ts"
import * as Inbox from "./Inbox.ts"

/** Where it listens, whom it lets in, and where its conversations work. */
export interface InboxServerOptions extends GuardedServer.ServerOptions {
  /** The folder of conversations that name none. Absolute. */
  readonly cwd: string
}

/** What it is made of, beside the scope. */
export type Needs = Agent | Settings | SecureRandom | FileSystem.FileSystem | Path.Path

/** An inbox that runs: where it listens, with the port that it has when any free one was wanted. */
export class InboxServer extends Context.Service<InboxServer, Address>()("super-pi/InboxServer") {}

/** Serves the agent of the environment until the scope closes. Then streams end, and turns go on without them. */
export const serve = (options: InboxServerOptions): Effect.Effect<Address, ListenFailed, Needs | Scope.Scope> =>
  GuardedServer.serve(options, (guard) => Inbox.make({ guard, secret: options.secret, cwd: options.cwd }), parameters)

/** The same for as long as the layer is in use. */
export const layer = (options: InboxServerOptions): Layer.Layer<InboxServer, ListenFailed, Needs> =>
  Layer.effect(InboxServer, serve(options))
