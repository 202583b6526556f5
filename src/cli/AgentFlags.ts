/** The flags that every transport shares. They stand before the transport's name. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Flags } from "../services/Settings.ts"
import type { LeaderChoice } from "./Stdio.ts"

export const leaderSocketFlag = Flag.String("leader-socket").pipe(
  Flag.withMetavar("path"),
  Flag.withDescription("Socket of another leader than yours; else SUPERCHARGE_LEADER_SOCKET"),
  Flag.optional
)

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
  ),
  leader: Flag.Boolean("leader").pipe(
    Flag.withDescription(
      "Over stdio, share one agent with your other editors; --no-leader forces one of its own. Else cli.use_leader of the configuration"
    ),
    Flag.optional
  ),
  leaderSocket: leaderSocketFlag
}

export interface AgentFlags {
  readonly model: Option.Option<string>
  readonly alwaysApprove: boolean
  readonly leader: Option.Option<boolean>
  readonly leaderSocket: Option.Option<string>
}

export const flagsOf = ({ alwaysApprove, model }: AgentFlags): Flags => ({
  alwaysApprove,
  ...(Option.isSome(model) && { model: model.value })
})

/** Which agent stdio serves. */
export const leaderChoiceOf = ({ leader, leaderSocket }: AgentFlags): LeaderChoice => ({
  ...(Option.isSome(leader) && { leader: leader.value }),
  ...(Option.isSome(leaderSocket) && { socket: leaderSocket.value })
})

/** What the transports are subcommands of. */
export const agentCommand = Command.make("agent").pipe(
  Command.withSharedFlags(agentFlags),
  Command.withDescription("Serve the agent over a transport; flags stand before the transport's name")
)

/** The shared flags, for a transport's own command. */
export const agentOptions = Effect.map(agentCommand, flagsOf)

/** The same for the leader. */
export const leaderOptions = Effect.map(agentCommand, leaderChoiceOf)
