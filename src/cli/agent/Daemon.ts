/** `agent daemon`: the agent as an inbox for scripts, pages and whatever else speaks HTTP. */
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { version } from "../../domain/Version.ts"
import { authority } from "../../transports/http/Address.ts"
import { agentOptions } from "./AgentFlags.ts"
import * as Companion from "./Companion.ts"
import { explained } from "../Explained.ts"
import { bindFlag, listenerFlags, secretFlag, tlsOf } from "./ListenerFlags.ts"
import * as ListenerSecret from "./ListenerSecret.ts"
import { lifetime } from "../Process.ts"
import * as Started from "./Started.ts"

const variable = "SUPERCHARGE_PASSWORD"
const bindVariable = "SUPERAGENT_BIND"

const acp = Flag.Boolean("acp").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Serve ACP instead, as agent serve does, at the daemon's address"),
  Flag.withDefault(false)
)

const companion = Flag.Boolean("companion").pipe(
  Flag.withoutNegation,
  Flag.withDescription(
    `Run ${Companion.program} instead, from beside this program or from PATH; where it is missing, serve ACP`
  ),
  Flag.withDefault(false)
)

/** What a person needs in order to use it. The line for curl works as it is once the secret is in it. */
const announcement = (started: Started.Started, folder: string): ReadonlyArray<string> => {
  const { address, secure } = started
  const base = `${secure ? "https" : "http"}://${authority(Started.reachable(address))}`
  return [
    `super-pi ${version} serves its HTTP inbox, not ACP, on ${authority(address)}`,
    `  curl -N ${base}/v1/chat -H "authorization: Bearer ${Started.keyOf(started)}" -H "content-type: application/json" -d '{"message":"Hello"}'`,
    `  ${base}/openapi.json says what else there is`,
    `Conversations work in ${folder} unless they name another folder`,
    ...Started.caveats(started)
  ]
}

export const daemon = Command.make(
  "daemon",
  {
    bind: bindFlag({ host: "0.0.0.0", port: 8790 }, bindVariable),
    secret: secretFlag(variable),
    acp,
    companion,
    ...listenerFlags
  },
  Effect.fnUntraced(function* ({ acp, bind, companion, grace, origins, secret: given, tlsCert, tlsKey }) {
    const flags = yield* agentOptions
    const tls = yield* tlsOf(tlsCert, tlsKey)
    if (acp && companion) {
      return yield* new CliError.UserError({
        cause: "companion",
        userMessage: "--acp and --companion exclude each other: give one"
      })
    }
    const secret = yield* ListenerSecret.choose(given, bind.host, variable)
    const found = companion ? yield* Companion.find : Option.none()
    if (Option.isSome(found)) {
      yield* Console.error(`Running ${found.value}, which serves its own HTTP inbox on ${authority(bind)}`)
      return yield* Companion.become(found.value, { [bindVariable]: authority(bind) }, { [variable]: secret.secret })
    }
    if (companion) yield* Console.error(`${Companion.program} is missing: serving ACP over WebSocket instead`)
    const { alwaysApprove } = flags
    const folder = process.cwd()
    const options = {
      flags,
      bind,
      secret: secret.secret,
      ...(tls === undefined ? {} : { tls }),
      origins,
      lifetime: lifetime(grace)
    }
    const state = { alwaysApprove, secure: tls !== undefined, secret, variable }
    if (acp || companion) {
      const program = yield* Effect.promise(() => import("../../composition/Serve.ts"))
      return yield* program
        .serve({
          ...options,
          started: (address, ceiling) => Console.error(Started.announcement({ address, ceiling, ...state }).join("\n"))
        })
        .pipe(explained)
    }
    const program = yield* Effect.promise(() => import("../../composition/Daemon.ts"))
    yield* program
      .daemon({
        ...options,
        cwd: folder,
        started: (address, ceiling) => Console.error(announcement({ address, ceiling, ...state }, folder).join("\n"))
      })
      .pipe(explained)
  })
).pipe(
  Command.withDescription("Serve an HTTP inbox: conversations over plain HTTP and server-sent events, at /v1/chat")
)
