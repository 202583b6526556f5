/** Names to addresses, by the system: its hosts file counts as much as its name servers. */
import { lookup } from "node:dns"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** The name has no address, or nobody could say. */
export class Unresolved extends Schema.TaggedError<Unresolved>()("Unresolved", { message: Schema.String }) {}

export type Resolver = (host: string) => Effect.Effect<ReadonlyArray<ResolvedAddress>, Unresolved>

export const system: Resolver = (host) =>
  Effect.callback((resume) => {
    lookup(host, { all: true, order: "verbatim" }, (error, addresses) =>
      resume(
        error === null
          ? Effect.succeed(addresses)
          : Effect.fail(new Unresolved({ message: error.code ?? error.message }))
      )
    )
  })
