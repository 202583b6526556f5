/** One connection: a transport joined to the agent for as long as it lasts. What a program or an embedder calls. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import { Agent } from "../../services/Agent.ts"
import type { FramesShape } from "../Frames.ts"
import type { Limits } from "../Limits.ts"
import * as Peer from "../Peer.ts"
import * as Router from "./Router.ts"
import { v1 } from "./V1.ts"

/** What a connection needs to know beside its transport and the agent. */
export interface ConnectionOptions {
  /** How an editor names the agent. Default: Super-Pi. */
  readonly name?: string
  /** Version of the program that serves, shown to people. */
  readonly version: string
  /** The highest execution mode of this transport. Default: every mode. */
  readonly ceiling?: ExecutionMode
  /** Bounds of the connection. Default: those of `Limits`. */
  readonly limits?: Partial<Limits>
}

/** Serves until the input ends or the output breaks, and ends what the connection started. */
export const serve = Effect.fn("Connection.serve")(function* (
  frames: FramesShape,
  options: ConnectionOptions
): Effect.fn.Return<void, never, Agent | Scope.Scope> {
  const client = yield* Peer.make(frames, options.limits)
  const routes = yield* Router.make([v1], {
    client,
    agent: yield* Agent,
    ...(options.name === undefined ? {} : { agentName: options.name }),
    agentVersion: options.version,
    ceiling: options.ceiling ?? "always-approve"
  })
  yield* client.serve(routes)
}, Effect.scoped)
