/** The agent behind a relay: where it is, who says so, and what whoever starts it is told. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { version } from "../domain/Version.ts"
import { type Flags, Settings } from "../services/Settings.ts"
import { readVariable } from "../services/settings/Environment.ts"
import { isLoopback } from "../transports/http/Guard.ts"
import { LinkFailed } from "../transports/relay/Link.ts"
import { proxyVariables } from "../transports/relay/Proxy.ts"
import * as RelayedAgent from "../transports/relay/RelayedAgent.ts"
import { agent } from "./Agent.ts"
import * as Lifetime from "./Lifetime.ts"
import { platform } from "./Platform.ts"
import * as RemoteAccess from "./RemoteAccess.ts"

/** What the command line says about the relay. It wins over configuration and environment. */
export interface HeadlessOptions {
  readonly url: string | undefined
  /** The path of a file that has the token and nothing else. */
  readonly tokenFile: string | undefined
  readonly origin: string | undefined
  readonly lifetime: Lifetime.Lifetime
  /** Tells whoever started it. */
  readonly tell: (line: string) => Effect.Effect<void>
}

/** Nothing can be called. The message says what to write, and where. */
export class HeadlessFailed extends Schema.TaggedError<HeadlessFailed>()("HeadlessFailed", {
  message: Schema.String
}) {}

/** Bytes of a file that can hold a token. */
const largestToken = 16 * 1024

/** What the value of a header may be made of. */
const visible = /^[\x21-\x7e]+$/

const tokenPlaces = "--relay-token-file, SUPERCHARGE_RELAY_TOKEN or relay.token"

const noToken = (message: string) => new LinkFailed({ problem: "unauthorized", message })

/** The token of this moment: both the file and the configuration may change while the agent runs. */
const readToken = Effect.fnUntraced(function* (tokenFile: string | undefined) {
  if (tokenFile === undefined) {
    const { relay } = yield* (yield* Settings).current
    if (relay.token !== undefined && !visible.test(Redacted.value(relay.token))) {
      return yield* noToken(`The token of the relay has characters that it may not have: look at ${tokenPlaces}`)
    }
    return relay.token
  }
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.flatMap(fs.stat(tokenFile), ({ size, type }) =>
    type === "File" && size <= largestToken ? fs.readFileString(tokenFile) : Effect.succeed("")
  ).pipe(Effect.mapError(({ reason }) => noToken(`The token file ${tokenFile} cannot be read (${reason._tag})`)))
  const token = text.trim()
  if (!visible.test(token)) {
    return yield* noToken(`The token file ${tokenFile} must be a plain file with one token and nothing else`)
  }
  return Redacted.make(token)
})

const readAddress = (url: string | undefined, configured: string | undefined, home: string) => {
  const text = url ?? configured
  if (text === undefined) {
    return Effect.fail(
      new HeadlessFailed({
        message:
          "No relay is configured. Say which one by --relay-url wss://relay.example.org/agent, " +
          `by SUPERCHARGE_WS_URL, or by url below [relay] in ${home}/config.toml`
      })
    )
  }
  const address = URL.parse(text)
  if (address !== null && /^wss?:$/.test(address.protocol) && address.hash === "") return Effect.succeed(address)
  const name = url === undefined ? "SUPERCHARGE_WS_URL or relay.url" : "--relay-url"
  return Effect.fail(
    new HeadlessFailed({ message: `${name} must be an address such as wss://relay.example.org/agent` })
  )
}

const readOrigin = (text: string) => {
  const origin = URL.parse(text)?.origin
  return origin !== undefined && /^https?:/.test(origin)
    ? Effect.succeed(origin)
    : Effect.fail(
        new HeadlessFailed({
          message: "--relay-origin, SUPERCHARGE_WS_ORIGIN or relay.origin must be an origin such as https://example.org"
        })
      )
}

const readProxies = Effect.gen(function* () {
  const provider = yield* ConfigProvider.ConfigProvider
  const values: Record<string, string | undefined> = {}
  for (const name of proxyVariables) values[name] = yield* readVariable(provider, name)
  return values
})

/** Calls the relay, and goes on for as long as the scope is open. */
const start = Effect.fnUntraced(function* ({ alwaysApprove }: Flags, options: HeadlessOptions) {
  const { tell } = options
  const settings = yield* Settings
  const { relay, remoteCeiling } = yield* settings.current
  const address = yield* readAddress(options.url, relay.url, settings.home)
  const wanted = options.origin ?? relay.origin
  const origin = wanted === undefined ? undefined : yield* readOrigin(wanted)
  const variables = yield* readProxies
  const context = yield* Effect.context<Settings | FileSystem.FileSystem>()
  const token = Effect.provide(readToken(options.tokenFile), context)
  // A file that is not there now is a mistake; one that is gone later may come back.
  yield* Effect.mapError(token, ({ message }) => new HeadlessFailed({ message }))

  // Its query may hold a secret.
  yield* tell(`super-pi ${version} calls the relay ${address.protocol}//${address.host}${address.pathname}`)
  yield* tell(RemoteAccess.describe({ alwaysApprove, ceiling: remoteCeiling, key: "token" }))
  if (address.protocol === "ws:" && !isLoopback(address.hostname)) {
    yield* tell("warning: ws:// is not encrypted, and the network can read along: use wss:// where you can")
  }
  yield* RelayedAgent.start({ address, token, variables, tell, ...(origin === undefined ? {} : { origin }) })
})

/** Serves until the lifetime is over. */
export const serveHeadless = (flags: Flags, options: HeadlessOptions): Effect.Effect<void, HeadlessFailed> =>
  Effect.provide(Lifetime.live(start(flags, options), options.lifetime), Layer.merge(agent(flags), platform))
