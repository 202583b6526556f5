/** The flags that every transport shares. They stand before the transport's name. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Flags } from "../services/Settings.ts"

export const agentFlags = {
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

export interface AgentFlags {
  readonly model: Option.Option<string>
  readonly alwaysApprove: boolean
}

export const flagsOf = ({ alwaysApprove, model }: AgentFlags): Flags => ({
  alwaysApprove,
  ...(Option.isSome(model) && { model: model.value })
})

/** What the transports are subcommands of. */
export const agentCommand = Command.make("agent").pipe(
  Command.withSharedFlags(agentFlags),
  Command.withDescription("Serve the agent over a transport; flags stand before the transport's name")
)

/** The shared flags, for a transport's own command. */
export const agentOptions = Effect.map(agentCommand, flagsOf)
