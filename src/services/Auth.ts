/** Who may use this agent, and how one signs in. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { AuthRequired, InvalidInput } from "../domain/Failure.ts"
import { makeAuth, openAuth } from "./auth/SignIn.ts"
import type { TokenStore } from "./auth/TokenStore.ts"
import type { Models } from "./Models.ts"
import type { Settings } from "./Settings.ts"

/** A whole command line. */
export interface Program {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

/** A way to sign in, as an editor lists it. */
export interface AuthMethod {
  readonly id: string
  readonly name: string
  readonly description: string
  /**
   * Present for a method that runs in a terminal: the arguments that the editor appends to those it starts the agent with,
   * and a whole command line for editors that do not do so.
   */
  readonly terminal?: { readonly args: ReadonlyArray<string>; readonly program?: Program }
}

/** The sign-in of one connection: what one client proved counts for no other. */
export interface AuthConnection {
  /** What `initialize` lists: never empty while something could be refused for want of a sign-in (AUT-08). */
  readonly methods: Effect.Effect<ReadonlyArray<AuthMethod>>
  /** Fails while a gateway token is required and none was accepted, or while no model can be chosen. */
  readonly require: Effect.Effect<void, AuthRequired>
  readonly authenticate: (
    methodId: string,
    token: Redacted.Redacted<string> | undefined
  ) => Effect.Effect<void, AuthRequired | InvalidInput>
  /** Forgets the accepted gateway token; provider keys stay (S2). */
  readonly logout: Effect.Effect<void>
}

/** What `Auth` promises. */
export interface AuthShape {
  /** A connection begins signed in by what the environment holds, if by anything. */
  readonly connect: Effect.Effect<AuthConnection>
}

/** Decides who may open sessions; asked at each session that is opened. */
export class Auth extends Context.Service<Auth, AuthShape>()("super-pi/Auth") {
  /** Gateway tokens when `[auth] required` asks for them, and the keys of the providers. */
  static readonly layer: Layer.Layer<Auth, never, Models | Settings | TokenStore> = Layer.effect(Auth, makeAuth)

  /** Open to everyone, for an application that brings its own model and its own sign-in. */
  static readonly layerOpen: Layer.Layer<Auth> = Layer.succeed(Auth, openAuth)
}
