/** One connection: a transport joined to the agent for as long as it lasts. What a program or an embedder calls. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import { Agent, type SessionWishes } from "../../services/Agent.ts"
import { Settings } from "../../services/Settings.ts"
import type { FramesShape } from "../Frames.ts"
import { type Limits, remoteLimits } from "../Limits.ts"
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
  /** Whether turns go on when the connection is lost. Default: they end with it. */
  readonly lingers?: boolean
  /** What new sessions start with where the client wishes nothing else. */
  readonly wishes?: SessionWishes
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
    options: {
      ceiling: options.ceiling ?? "always-approve",
      ...(options.lingers === undefined ? {} : { lingers: options.lingers }),
      ...(options.wishes === undefined ? {} : { wishes: options.wishes })
    }
  })
  yield* client.serve(routes)
}, Effect.scoped)

/**
 * Serves a connection over a network: under the ceiling for remote transports, with turns that go on when it is lost, and
 * without waiting for a reader that is too slow.
 */
export const serveRemote = Effect.fn("Connection.serveRemote")(function* (
  frames: FramesShape,
  options: ConnectionOptions
): Effect.fn.Return<void, never, Agent | Settings> {
  const { remoteCeiling } = yield* (yield* Settings).current
  yield* serve(frames, {
    ceiling: remoteCeiling,
    lingers: true,
    ...options,
    limits: { ...remoteLimits, ...options.limits }
  })
})
