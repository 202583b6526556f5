/** `agent serve`: the agent for clients that connect over WebSocket or HTTP. */
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { agentOptions } from "./AgentFlags.ts"
import { explained } from "../Explained.ts"
import { bindFlag, listenerFlags, secretFlag, tlsOf } from "./ListenerFlags.ts"
import * as ListenerSecret from "./ListenerSecret.ts"
import { lifetime } from "../Process.ts"
import { announcement } from "./Started.ts"

const variable = "SUPERCHARGE_AGENT_SECRET"

export const serve = Command.make(
  "serve",
  { bind: bindFlag({ host: "127.0.0.1", port: 2419 }), secret: secretFlag(variable), ...listenerFlags },
  Effect.fnUntraced(function* ({ bind, grace, origins, secret: given, tlsCert, tlsKey }) {
    const flags = yield* agentOptions
    const tls = yield* tlsOf(tlsCert, tlsKey)
    const secret = yield* ListenerSecret.choose(given, bind.host, variable)
    const { alwaysApprove } = flags
    const program = yield* Effect.promise(() => import("../../composition/Serve.ts"))
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
      .pipe(explained)
  })
).pipe(Command.withDescription("Serve clients that connect: ACP over WebSocket at /ws and /acp, over HTTP at /acp"))
