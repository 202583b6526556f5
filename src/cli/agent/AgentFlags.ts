/** The flags that every transport shares. They stand before the transport's name. */
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type ModeName, modeNames, modeOf } from "../../domain/permission/ModeName.ts"
import { parseRule } from "../../domain/permission/PermissionRule.ts"
import { SandboxProfile } from "../../domain/sandbox/Profile.ts"
import { effortNames } from "../../services/settings/ConfigKeys.ts"
import type { Flags } from "../../services/Settings.ts"
import { withPluginDirs } from "./PluginDirs.ts"
import type { LeaderChoice } from "./Stdio.ts"

export const leaderSocketFlag = Flag.String("leader-socket").pipe(
  Flag.withMetavar("path"),
  Flag.withDescription("Socket of another leader than yours; else SUPERCHARGE_LEADER_SOCKET"),
  Flag.optional
)

/** A rule that cannot be read is a mistake in the command line, and protects nothing if it is let pass. */
const rules = (name: "allow" | "ask" | "deny", what: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("rule"),
    Flag.withDescription(`${what}; may be given several times`),
    Flag.filterMap(
      (text) => Option.as(Result.getSuccess(parseRule(text)), text),
      (text) => {
        const rule = parseRule(text)
        return `--${name} ${text}: ${Result.isFailure(rule) ? rule.failure.message : ""}`
      }
    ),
    Flag.atLeast(0)
  )

export const agentFlags = {
  model: Flag.String("model").pipe(
    Flag.withAlias("m"),
    Flag.withMetavar("provider/model"),
    Flag.withDescription("Model of new sessions, such as anthropic/claude-sonnet-5-5"),
    Flag.optional
  ),
  effort: Flag.Literals("reasoning-effort", effortNames).pipe(
    Flag.withAlias("effort"),
    Flag.withDescription("Reasoning effort of new sessions, where their model has it"),
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
  mode: Flag.Literals("permission-mode", modeNames).pipe(
    Flag.withDescription("Mode of new sessions, instead of ui.permission_mode"),
    Flag.optional
  ),
  sandbox: Flag.Literals("sandbox", SandboxProfile.literals).pipe(
    Flag.withDescription("How closely commands are confined, instead of sandbox.profile"),
    Flag.optional
  ),
  harness: Flag.String("harness").pipe(
    Flag.withMetavar("id"),
    Flag.withDescription("Kind of agent of new sessions, such as super-pi-planner, instead of agent.harness"),
    Flag.optional
  ),
  agentProfile: Flag.String("agent-profile").pipe(
    Flag.withMetavar("path"),
    Flag.withDescription("Agent of new sessions: a Markdown or JSON file that describes it"),
    Flag.optional
  ),
  allow: rules("allow", 'Runs without a question: a rule such as "Bash(npm test)"'),
  ask: rules("ask", 'Asks, whatever is allowed: a rule such as "Bash(git push)"'),
  deny: rules("deny", 'Never runs, in any mode: a rule such as "Read(secrets/**)"'),
  pluginDirs: Flag.String("plugin-dir").pipe(
    Flag.withMetavar("folder"),
    Flag.withDescription(
      "Use this folder as a plugin, with its hooks and MCP servers, unasked; may be given several times"
    ),
    Flag.atLeast(0)
  ),
  trust: Flag.Boolean("trust").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Trust the folders of this run's sessions, without asking and without keeping it"),
    Flag.withDefault(false)
  ),
  cwd: Flag.Directory("cwd", { mustExist: true }).pipe(
    Flag.withMetavar("folder"),
    Flag.withDescription(
      "Work as if started in this folder: relative paths of the flags beside it are meant from there"
    ),
    Flag.optional
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
  readonly effort: Option.Option<string>
  readonly alwaysApprove: boolean
  readonly mode: Option.Option<ModeName>
  readonly sandbox: Option.Option<SandboxProfile>
  readonly harness: Option.Option<string>
  readonly agentProfile: Option.Option<string>
  readonly allow: ReadonlyArray<string>
  readonly ask: ReadonlyArray<string>
  readonly deny: ReadonlyArray<string>
  readonly pluginDirs: ReadonlyArray<string>
  readonly trust: boolean
  /** An absolute path. */
  readonly cwd: Option.Option<string>
  readonly leader: Option.Option<boolean>
  readonly leaderSocket: Option.Option<string>
}

const plainFlagsOf = (flags: AgentFlags): Flags => {
  const { allow, alwaysApprove, ask, deny, effort, harness, mode, model, pluginDirs, sandbox, trust } = flags
  return {
    alwaysApprove,
    allow,
    ask,
    deny,
    trust,
    ...(pluginDirs.length > 0 && { pluginDirs }),
    ...(Option.isSome(effort) && { effort: effort.value }),
    ...(Option.isSome(mode) && { mode: modeOf(mode.value) }),
    ...(Option.isSome(sandbox) && { sandbox: sandbox.value }),
    ...(Option.isSome(harness) && { harness: harness.value }),
    ...(Option.isSome(model) && { model: model.value })
  }
}

/** The folder of this process, before anything is looked up in it. */
const enter = (folder: string) =>
  Effect.try({
    try: () => process.chdir(folder),
    catch: (cause) =>
      new CliError.UserError({
        cause,
        userMessage: `--cwd ${folder}: this user may not enter the folder; name another, or change its permissions`
      })
  })

/** Fails where a folder or a file that a flag names cannot be used. */
export const flagsOf = Effect.fnUntraced(function* (flags: AgentFlags) {
  if (Option.isSome(flags.cwd)) yield* enter(flags.cwd.value)
  const plain = yield* withPluginDirs(plainFlagsOf(flags))
  if (Option.isNone(flags.agentProfile)) return plain
  const { checkProfile } = yield* Effect.promise(() => import("./AgentProfile.ts"))
  return { ...plain, agentProfile: yield* checkProfile(flags.agentProfile.value) }
})

/**
 * The flags that hold for a whole process. An agent that editors share cannot take them from one of those: they would be
 * lost, or hold for the others.
 */
export const ownFlags = ({
  agentProfile,
  allow = [],
  ask = [],
  deny = [],
  effort,
  harness,
  mode,
  pluginDirs,
  sandbox,
  trust
}: Flags) =>
  Object.entries({
    "--reasoning-effort": effort !== undefined,
    "--permission-mode": mode !== undefined,
    "--sandbox": sandbox !== undefined,
    "--harness": harness !== undefined,
    "--agent-profile": agentProfile !== undefined,
    "--allow": allow.length > 0,
    "--ask": ask.length > 0,
    "--deny": deny.length > 0,
    "--plugin-dir": pluginDirs !== undefined,
    "--trust": trust === true
  })
    .filter(([, isGiven]) => isGiven)
    .map(([name]) => name)

/** How the flags of `agent` are spelled, for whoever looks for them in the wrong place. */
export const flagsWithValue =
  /^(?:-m|--(?:model|reasoning-effort|effort|permission-mode|sandbox|harness|agent-profile|allow|ask|deny|plugin-dir|cwd|leader-socket))(?:=|$)/
export const flagsWithoutValue = /^--(?:always-approve|yolo|trust|leader|no-leader)(?:=|$)/

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
export const agentOptions = Effect.flatMap(agentCommand, flagsOf)

/** The same for the leader. */
export const leaderOptions = Effect.map(agentCommand, leaderChoiceOf)
