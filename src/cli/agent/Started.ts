/** What a person is told of a server that just started. */
import * as Redacted from "effect/Redacted"
import * as RemoteAccess from "../../composition/RemoteAccess.ts"
import type { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import { version } from "../../domain/Version.ts"
import { type Address, authority } from "../../transports/http/Address.ts"
import { isLoopback } from "../../transports/http/Guard.ts"
import type * as ListenerSecret from "./ListenerSecret.ts"

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

/** Nothing where nobody can read along. */
export const openWarning = (secure: boolean, { host }: Address): ReadonlyArray<string> =>
  secure || isLoopback(host)
    ? []
    : ["warning: without --tls-cert and --tls-key, or a proxy that has them, the network can read along"]

/** How clients write the secret: only one that nobody knows yet is shown. */
export const keyOf = ({ secret }: Started): string => (secret.isNew ? Redacted.value(secret.secret) : "YOUR_SECRET")

/** What a person ought to know about any server. */
export const caveats = ({
  address,
  alwaysApprove,
  ceiling,
  secret,
  secure,
  variable
}: Started): ReadonlyArray<string> => [
  RemoteAccess.describe({ alwaysApprove, ceiling, key: "secret" }),
  ...(secret.isNew ? [`This secret is new and ends with the server: set ${variable} to keep one`] : []),
  ...openWarning(secure, address)
]

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
