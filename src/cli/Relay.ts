/** `relay`: the place where agents that call outward and their clients meet. */
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Address, authority } from "../transports/http/Address.ts"
import { isLoopback } from "../transports/http/Guard.ts"
import { bindFlag, listenerFlags } from "./ListenerFlags.ts"
import { lifetime } from "./Process.ts"
import { reachable, tlsOf } from "./Serve.ts"

/** What a person needs in order to connect both sides. */
const announcement = (address: Address, secure: boolean): ReadonlyArray<string> => {
  const base = `${secure ? "wss" : "ws"}://${authority(reachable(address))}`
  return [
    `super-pi relays on ${authority(address)}`,
    `  Agents   ${base}/agent`,
    `  Clients  ${base}/ws?token=TOKEN`,
    "TOKEN is a secret of your own, of 16 characters or more, the same for an agent and its clients",
    ...(secure || isLoopback(address.host)
      ? []
      : ["warning: without --tls-cert and --tls-key, or a proxy that has them, the network can read along"])
  ]
}

export const relay = Command.make(
  "relay",
  {
    bind: bindFlag({ host: "127.0.0.1", port: 2420 }),
    tlsCert: listenerFlags.tlsCert,
    tlsKey: listenerFlags.tlsKey
  },
  Effect.fnUntraced(function* ({ bind, tlsCert, tlsKey }) {
    const tls = yield* tlsOf(tlsCert, tlsKey)
    const { serve } = yield* Effect.promise(() => import("../transports/relay/Relay.ts"))
    const { ending, until } = lifetime(Duration.zero)
    const listen = Effect.gen(function* () {
      const address = yield* serve({ ...bind, ...(tls === undefined ? {} : { tls }) })
      yield* Console.error(announcement(address, tls !== undefined).join("\n"))
      yield* until
    })
    yield* Effect.mapError(
      Effect.andThen(Effect.scoped(listen), ending),
      (cause) => new CliError.UserError({ cause, userMessage: cause.message })
    )
  })
).pipe(Command.withDescription("Join agents that call outward (agent headless) and their clients, by a token"))
