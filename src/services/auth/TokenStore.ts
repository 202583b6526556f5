/**
 * Gateway tokens: who may use an agent that asks for one. The file keeps hashes only, so a token is shown once, when it
 * is made, and never again.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as Redacted from "effect/Redacted"
import type { InvalidInput } from "../../domain/Failure.ts"
import { Settings } from "../Settings.ts"
import type { TokenStoreFailed } from "./TokenStoreFailed.ts"

/** Times are RFC 3339; `lastUsedAt` is right to the minute and absent for a token that was never used. */
export interface TokenInfo {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  readonly lastUsedAt?: string
}

export interface NewToken extends TokenInfo {
  readonly token: Redacted.Redacted<string>
}

export interface TokenStoreShape {
  /** `name` tells tokens apart for people; two may be alike. */
  readonly create: (name: string) => Effect.Effect<NewToken, InvalidInput | TokenStoreFailed>
  /** Oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<TokenInfo>, TokenStoreFailed>
  /** The token is refused from now on, in running processes too. */
  readonly revoke: (id: string) => Effect.Effect<void, InvalidInput | TokenStoreFailed>
  /** Whether the token is one of the store. Takes as long for a wrong token as for a right one. */
  readonly verify: (token: Redacted.Redacted<string>) => Effect.Effect<boolean, TokenStoreFailed>
}

export class TokenStore extends Context.Service<TokenStore, TokenStoreShape>()("super-pi/TokenStore") {
  /** `tokens.json` of the home folder. Loads its code and touches the file at the first use. */
  static readonly layer: Layer.Layer<TokenStore, never, Settings | FileSystem.FileSystem | Path.Path> = Layer.effect(
    TokenStore,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      const { home } = yield* Settings
      const store = yield* Effect.cached(
        Effect.map(
          Effect.promise(() => import("./TokenFile.ts")),
          ({ makeTokenFile }) => makeTokenFile(fs, paths, paths.join(home, "tokens.json"))
        )
      )
      return TokenStore.of({
        create: (name) => Effect.flatMap(store, ({ create }) => create(name)),
        list: Effect.flatMap(store, ({ list }) => list),
        revoke: (id) => Effect.flatMap(store, ({ revoke }) => revoke(id)),
        verify: (token) => Effect.flatMap(store, ({ verify }) => verify(token))
      })
    })
  )
}
