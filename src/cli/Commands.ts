/** The command tree. An editor's plain start-up does not come here, so this may load what it needs. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliConfig from "effect/cli/CliConfig"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { version } from "../domain/Version.ts"
import * as Presenter from "./Presenter.ts"
import { serveStdio } from "./Serve.ts"
import { token } from "./Token.ts"

/** The command line was wrong, and stderr says how. */
class UsageError extends Schema.TaggedError<UsageError>()("UsageError", {}) {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false
}

const agentFlags = {
  model: Flag.String("model").pipe(
    Flag.withAlias("m"),
    Flag.withMetavar("provider/model"),
    Flag.withDescription("Model of new sessions, such as anthropic/claude-sonnet-5-5"),
    Flag.optional
  ),
  alwaysApprove: Flag.Boolean("always-approve").pipe(
    Flag.withAlias("yolo"),
    Flag.withoutNegation,
    Flag.withDescription(
      "New sessions run everything without asking; deny rules, and ask rules for commands, still hold"
    ),
    Flag.withDefault(false)
  )
}

const serve = ({ alwaysApprove, model }: { readonly alwaysApprove: boolean; readonly model: Option.Option<string> }) =>
  serveStdio({ alwaysApprove, ...(Option.isSome(model) && { model: model.value }) })

const acp = Command.make("acp", agentFlags, serve).pipe(
  Command.withDescription("Speak the Agent Client Protocol over stdin and stdout: what an editor starts")
)

const agentOptions = Command.make("agent").pipe(
  Command.withSharedFlags(agentFlags),
  Command.withDescription("Serve the agent over a transport; flags stand before the transport's name")
)

const stdio = Command.make("stdio", {}, () => Effect.flatMap(agentOptions, serve)).pipe(
  Command.withDescription("Speak the Agent Client Protocol over stdin and stdout; the same as acp")
)

const agent = agentOptions.pipe(Command.withSubcommands([stdio]))

const program = Command.make("super-pi").pipe(
  Command.withDescription("A coding agent for editors that speak the Agent Client Protocol"),
  Command.withSubcommands([acp, agent, token])
)

/** Flags of `agent` that stand after the transport's name, where a transport's own flags will stand. */
const misplaced = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args[0] === "agent" && args.includes("stdio")
    ? args.slice(args.indexOf("stdio") + 1).filter((arg) => /^(-m|--(model|always-approve|yolo))(=|$)/.test(arg))
    : []

const services = Layer.mergeAll(
  NodeServices.layer,
  Presenter.layer,
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions, GlobalFlag.LogLevel] })
)

/** Runs a command line. A wrong one is explained on stderr and ends with exit code 2; stdout stays empty. */
export const run = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const [flag] = misplaced(args)
  if (flag !== undefined) {
    yield* Console.error(`error: ${flag} stands after the transport's name: write super-pi agent ${flag} … stdio`)
    return yield* new UsageError()
  }
  yield* Command.runWith(program, { version })(args).pipe(
    Effect.catchTag("ShowHelp", () => Effect.fail(new UsageError())),
    Effect.provide(services)
  )
})
