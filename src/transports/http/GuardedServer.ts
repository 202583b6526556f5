/** A port behind a guard: what every server of the agent is. Which endpoints it has is for the others to say. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Address } from "./Address.ts"
import * as Guard from "./Guard.ts"
import * as Listener from "./Listener.ts"

/** Where a server listens, and whom it lets in. */
export interface ServerOptions extends Pick<Listener.ListenerOptions, "host" | "port" | "tls" | "maxConnections"> {
  /** What clients have to know. One that can be guessed is refused where others than this machine can connect. */
  readonly secret: Redacted.Redacted<string>
  /** Origins of pages that may connect, beside those of the server itself, and names by which it is known. Default: none. */
  readonly origins?: ReadonlyArray<string>
}

type Endpoints = Omit<Listener.ListenerOptions, "host" | "port" | "tls" | "maxConnections" | "patience">

/** Serves the endpoints until the scope closes. `query` are the parameters that may hold the secret. */
export const serve = Effect.fnUntraced(function* <R>(
  { origins = [], secret, ...place }: ServerOptions,
  endpoints: (guard: Guard.Guard) => Effect.Effect<Endpoints, never, R>,
  query: ReadonlyArray<string> = Guard.usualQuery
): Effect.fn.Return<Address, Listener.ListenFailed, R | Scope.Scope> {
  const weakness = Guard.weaknessOf(Redacted.value(secret))
  if (weakness !== undefined && !Guard.isLoopback(place.host)) {
    return yield* new Listener.ListenFailed({
      message: `${place.host} can be reached from outside of this machine, which needs a strong secret: ${weakness}`
    })
  }
  const guard = yield* Guard.make({ secret, bind: place, origins, query })
  return yield* Listener.listen({ ...place, ...(yield* endpoints(guard)) })
})
