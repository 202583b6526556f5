/** `agent headless`: the agent calls a relay, and clients reach it there. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { agentOptions } from "./AgentFlags.ts"
import { explained } from "../Explained.ts"
import { listenerFlags } from "./ListenerFlags.ts"
import { lifetime } from "../Process.ts"

const flags = {
  url: Flag.String("relay-url").pipe(
    Flag.withMetavar("wss://…"),
    Flag.withDescription("Address of the relay; else SUPERCHARGE_WS_URL, else relay.url of the configuration"),
    Flag.optional
  ),
  tokenFile: Flag.String("relay-token-file").pipe(
    Flag.withMetavar("file"),
    Flag.withDescription("File with the token of the relay; else SUPERCHARGE_RELAY_TOKEN, else relay.token"),
    Flag.optional
  ),
  origin: Flag.String("relay-origin").pipe(
    Flag.withMetavar("https://…"),
    Flag.withDescription("Origin header, for a relay that wants one; else SUPERCHARGE_WS_ORIGIN, else relay.origin"),
    Flag.optional
  ),
  grace: listenerFlags.grace,
  // As older set-ups spell them.
  oldUrl: Flag.String("grok-ws-url").pipe(Flag.withHidden, Flag.optional),
  oldOrigin: Flag.String("grok-ws-origin").pipe(Flag.withHidden, Flag.optional)
}

export const headless = Command.make(
  "headless",
  flags,
  Effect.fnUntraced(function* ({ grace, oldOrigin, oldUrl, origin, tokenFile, url }) {
    const options = yield* agentOptions
    const { serveHeadless } = yield* Effect.promise(() => import("../../composition/Headless.ts"))
    yield* serveHeadless(options, {
      url: Option.getOrUndefined(Option.orElse(url, () => oldUrl)),
      tokenFile: Option.getOrUndefined(tokenFile),
      origin: Option.getOrUndefined(Option.orElse(origin, () => oldOrigin)),
      lifetime: lifetime(grace),
      tell: (line) => Console.error(line)
    }).pipe(explained)
  })
).pipe(Command.withDescription("Connect outward to a WebSocket relay, through which clients reach the agent"))
