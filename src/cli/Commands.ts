/** The command tree. An editor's plain start-up does not come here, so this may load what it needs. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliConfig from "effect/cli/CliConfig"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { version } from "../domain/Version.ts"
import type { Flags } from "../services/Settings.ts"
import {
  agentCommand,
  agentFlags,
  agentOptions,
  flagsOf,
  flagsWithoutValue,
  flagsWithValue,
  leaderChoiceOf,
  leaderOptions,
  ownFlags
} from "./agent/AgentFlags.ts"
import type { NoLeader } from "./agent/Bridge.ts"
import { config } from "./Config.ts"
import { daemon } from "./agent/Daemon.ts"
import { auth } from "./Auth.ts"
import { headless } from "./agent/Headless.ts"
import { agentLeader, leader } from "./agent/Leader.ts"
import { login } from "./Login.ts"
import { logout } from "./Logout.ts"
import { models } from "./Models.ts"
import { permissions } from "./Permissions.ts"
import * as Presenter from "./terminal/Presenter.ts"
import { relay } from "./agent/Relay.ts"
import { serve } from "./agent/Serve.ts"
import { type LeaderChoice, serveStdio } from "./agent/Stdio.ts"
import { trust } from "./Trust.ts"
import { token } from "./Token.ts"
import { misused, UsageError } from "./UsageError.ts"
import { doctor } from "./Doctor.ts"
import { oneShot, oneShotFlags, withTask } from "./OneShot.ts"
import { sessions } from "./Sessions.ts"
import { setup } from "./Setup.ts"

/** Where the configuration only says that editors share an agent, whoever has flags of their own gets an agent of their own. */
const serveEditor = (flags: Flags, choice: LeaderChoice): Effect.Effect<void, NoLeader | UsageError> => {
  const [own] = ownFlags(flags)
  if (own === undefined) return serveStdio(flags, choice)
  return choice.leader === true
    ? misused(
        `${own} cannot hold for an agent that editors share: write it into config.toml where that has it, or leave out --leader`
      )
    : serveStdio(flags, { ...choice, leader: false })
}

const acp = Command.make("acp", agentFlags, (flags) =>
  Effect.flatMap(flagsOf(flags), (own) => serveEditor(own, leaderChoiceOf(flags)))
).pipe(
  Command.withDescription("Speak the Agent Client Protocol over stdin and stdout: what an editor starts"),
  Command.withSubcommands([login, setup])
)

const stdio = Command.make(
  "stdio",
  {},
  Effect.fnUntraced(function* () {
    yield* serveEditor(yield* agentOptions, yield* leaderOptions)
  })
).pipe(
  Command.withDescription("Speak the Agent Client Protocol over stdin and stdout; the same as acp"),
  // An editor appends it to the arguments that it starts the agent with (AUT-04).
  Command.withSubcommands([login])
)

const agent = agentCommand.pipe(Command.withSubcommands([stdio, serve, daemon, headless, agentLeader]))

const program = Command.make("super-pi", oneShotFlags, oneShot).pipe(
  Command.withDescription(
    "A coding agent for editors that speak the Agent Client Protocol; with -p it does one task here"
  ),
  Command.withSubcommands([
    acp,
    agent,
    auth,
    config,
    doctor,
    leader,
    login,
    logout,
    models,
    permissions,
    relay,
    sessions,
    token,
    trust
  ])
)

const transports = new Set(["stdio", "serve", "daemon", "headless", "leader"])

/** Flags that a transport has for itself. */
const ofTransport =
  /^--(?:bind|secret|allow-origin|tls-cert|tls-key|grace|relay-url|relay-token-file|relay-origin)(?:=|$)/
const ofTransportAlone = /^--(?:acp|companion)$/

/** The flag alone: its value may be a secret. */
const named = (flag: string | undefined): string | undefined => flag?.replace(/=.*$/s, "")

const isFlag = (arg: string): boolean => flagsWithValue.test(arg) || flagsWithoutValue.test(arg)
const isTransportFlag = (arg: string): boolean => ofTransport.test(arg) || ofTransportAlone.test(arg)

/** What stands in the wrong place of the flags of the agent and of its transports, and where it belongs. */
const misplaced = (args: ReadonlyArray<string>): string | undefined => {
  const takesValue = (arg = "") => (flagsWithValue.test(arg) || ofTransport.test(arg)) && !arg.includes("=")
  const positionOf = (fits: (arg: string) => boolean) =>
    args.findIndex((arg, at) => fits(arg) && !takesValue(args[at - 1]))
  if (args[0] === "agent") {
    const at = positionOf((arg) => transports.has(arg))
    if (at === -1) return undefined
    const early = named(args.slice(0, at).find(isTransportFlag))
    if (early !== undefined) {
      return `${early} stands before the transport's name: write super-pi agent ${args[at]} ${early} …`
    }
    // The inbox is the one that has a folder of its own, so there it is looked for behind the name.
    const late = args.slice(at + 1).find((arg) => isFlag(arg) && !(args[at] === "daemon" && /^--cwd(?:=|$)/.test(arg)))
    return late && `${late} stands after the transport's name: write super-pi agent ${late} … ${args[at]}`
  }
  // Behind another command, these words may be what that command takes.
  const at = positionOf((arg) => !arg.startsWith("-"))
  const word = args[at] ?? ""
  if (args.some((arg) => /^(?:-p|--prompt)(?:=|$)/.test(arg))) return undefined
  if (word !== "leader" && transports.has(word)) return `${word} is a transport: write super-pi agent ${word} …`
  const flag = word === "acp" || word === "agent" ? args.slice(0, at).find(isFlag) : undefined
  return flag === undefined ? undefined : `${flag} stands before ${word}: write super-pi ${word} ${flag} …`
}

const services = Layer.mergeAll(
  NodeServices.layer,
  Presenter.layer,
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions, GlobalFlag.LogLevel] })
)

/** Runs a command line. A wrong one is explained on stderr and ends with exit code 2; stdout stays empty. */
export const run = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const wrong = misplaced(args)
  if (wrong !== undefined) return yield* misused(wrong)
  yield* Command.runWith(program, { version })(withTask(args)).pipe(
    Effect.catchTag("ShowHelp", () => Effect.fail(new UsageError())),
    Effect.provide(services)
  )
})
