/** `agent serve`: the agent for clients that connect over WebSocket or HTTP. */
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { ExecutionMode } from "../domain/permission/ExecutionMode.ts"
import { version } from "../domain/Version.ts"
import { type Address, authority } from "../transports/http/Address.ts"
import { isLoopback } from "../transports/http/Guard.ts"
import { agentOptions } from "./AgentFlags.ts"
import { bindFlag, listenerFlags, secretFlag } from "./ListenerFlags.ts"
import * as ListenerSecret from "./ListenerSecret.ts"
import { lifetime } from "./Process.ts"

const variable = "SUPERCHARGE_AGENT_SECRET"

/** Every address of the machine is one that no client can connect to: this one it has in any case. */
export const reachable = ({ host, port }: Address): Address => ({
  host: host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host,
  port
})

/** A server that just started. `variable` is the environment variable that may hold its secret. */
export interface Started {
  readonly address: Address
  readonly ceiling: ExecutionMode
  readonly alwaysApprove: boolean
  readonly secure: boolean
  readonly secret: ListenerSecret.ListenerSecret
  readonly variable: string
}

const permissions = ({ alwaysApprove, ceiling }: Started): string => {
  if (ceiling === "always-approve") {
    return alwaysApprove
      ? "Because of --always-approve, whoever knows the secret can run anything as this user, without being asked"
      : "By remote.execution_mode_ceiling, whoever knows the secret can choose to run anything without being asked"
  }
  const held = alwaysApprove ? "; --always-approve does not go beyond remote.execution_mode_ceiling" : ""
  return `Sessions go up to the mode ${ceiling}${held}`
}

/** How clients write the secret: only one that nobody knows yet is shown. */
export const keyOf = ({ secret }: Started): string => (secret.isNew ? Redacted.value(secret.secret) : "YOUR_SECRET")

/** What a person ought to know about any server. */
export const caveats = (started: Started): ReadonlyArray<string> => {
  const { address, secret, secure, variable } = started
  const lines = [permissions(started)]
  if (secret.isNew) lines.push(`This secret is new and ends with the server: set ${variable} to keep one`)
  if (!secure && !isLoopback(address.host)) {
    lines.push("warning: without --tls-cert and --tls-key, or a proxy that has them, the network can read along")
  }
  return lines
}

/** What a person needs in order to connect, and ought to know. */
export const announcement = (started: Started): ReadonlyArray<string> => {
  const { address, secure } = started
  const place = authority(reachable(address))
  const key = keyOf(started)
  return [
    `super-pi ${version} serves ACP on ${authority(address)}`,
    `  WebSocket        ${secure ? "wss" : "ws"}://${place}/ws?server-key=${key}`,
    `  Streamable HTTP  ${secure ? "https" : "http"}://${place}/acp with Authorization: Bearer ${key}`,
    ...caveats(started)
  ]
}

export const failed = (cause: unknown, userMessage: string) => new CliError.UserError({ cause, userMessage })

/** A certificate is of use only with its key. */
export const tlsOf = (cert: Option.Option<string>, key: Option.Option<string>) => {
  if (Option.isSome(cert) && Option.isSome(key)) return Effect.succeed({ cert: cert.value, key: key.value })
  return Option.isSome(cert) || Option.isSome(key)
    ? Effect.fail(failed("tls", "--tls-cert and --tls-key belong together: give both"))
    : Effect.undefined
}

export const serve = Command.make(
  "serve",
  { bind: bindFlag({ host: "127.0.0.1", port: 2419 }), secret: secretFlag(variable), ...listenerFlags },
  Effect.fnUntraced(function* ({ bind, grace, origins, secret: given, tlsCert, tlsKey }) {
    const flags = yield* agentOptions
    const tls = yield* tlsOf(tlsCert, tlsKey)
    const secret = yield* ListenerSecret.choose(given, bind.host, variable)
    const { alwaysApprove } = flags
    const program = yield* Effect.promise(() => import("../composition/Serve.ts"))
    yield* program
      .serve({
        flags,
        bind,
        secret: secret.secret,
        ...(tls === undefined ? {} : { tls }),
        origins,
        lifetime: lifetime(grace),
        started: (address, ceiling) =>
          Console.error(
            announcement({ address, ceiling, alwaysApprove, secure: tls !== undefined, secret, variable }).join("\n")
          )
      })
      .pipe(Effect.mapError((error) => failed(error, error.message)))
  })
).pipe(Command.withDescription("Serve clients that connect: ACP over WebSocket at /ws and /acp, over HTTP at /acp"))
