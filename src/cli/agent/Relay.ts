/** `relay`: the place where agents that call outward and their clients meet. */
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Address, authority } from "../../transports/http/Address.ts"
import { explained } from "../Explained.ts"
import { bindFlag, listenerFlags, tlsOf } from "./ListenerFlags.ts"
import { lifetime } from "../Process.ts"
import { openWarning, reachable } from "./Started.ts"

/** What a person needs in order to connect both sides. */
const announcement = (address: Address, secure: boolean): ReadonlyArray<string> => {
  const base = `${secure ? "wss" : "ws"}://${authority(reachable(address))}`
  return [
    `super-pi relays on ${authority(address)}`,
    `  Agents   ${base}/agent`,
    `  Clients  ${base}/ws?token=TOKEN`,
    "TOKEN is a secret of your own, of 16 characters or more, the same for an agent and its clients",
    ...openWarning(secure, address)
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
    const { serve } = yield* Effect.promise(() => import("../../transports/relay/Relay.ts"))
    const { ending, until } = lifetime(Duration.zero)
    const listen = Effect.gen(function* () {
      const address = yield* serve({ ...bind, ...(tls === undefined ? {} : { tls }) })
      yield* Console.error(announcement(address, tls !== undefined).join("\n"))
      yield* until
    })
    yield* Effect.andThen(Effect.scoped(listen), ending).pipe(explained)
  })
).pipe(Command.withDescription("Join agents that call outward (agent headless) and their clients, by a token"))
