/** The only way to run a command. */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { SandboxProfile } from "../domain/sandbox/Profile.ts"

/** What a command may touch. `roots` are the folders of the workspace, absolute; `scratch` is the session's own folder. */
export interface Confinement {
  readonly profile: SandboxProfile
  readonly roots: ReadonlyArray<string>
  readonly scratch: string
}

/** Whether a profile can be enforced here. `reason` and `remedy` are for a person. */
export type SandboxStatus =
  | { readonly _tag: "Ready"; readonly mechanism: "none" | "bubblewrap" | "seatbelt" }
  | { readonly _tag: "Unavailable"; readonly reason: string; readonly remedy: string }

/** A line for `bash -c`. `cwd` is absolute; `spill` is the absolute path of a file for output that is too long to keep. */
export interface ShellCommand {
  readonly command: string
  readonly cwd: string
  readonly confinement: Confinement
  readonly timeout: Duration.Duration
  readonly spill: string
  /** Sees decoded output as it comes, stdout and stderr interleaved; back-pressure reaches the command. */
  readonly onOutput: (text: string) => Effect.Effect<void>
}

/** How a command ended. A non-zero code is a result and no failure. */
export interface CommandResult {
  /** `signal` is a name such as `SIGKILL`. */
  readonly exit: { readonly _tag: "Code"; readonly code: number } | { readonly _tag: "Signal"; readonly signal: string }
  readonly timedOut: boolean
  /** Head and tail, with control sequences removed and a note where the middle was left out. */
  readonly output: string
  /** The spill file, if the output did not fit. */
  readonly spilled: string | undefined
  readonly bytes: number
  readonly duration: Duration.Duration
}

/** The command could not be started. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", { message: Schema.String }) {}

/** A command that was started and not waited for. */
export interface RunningCommand {
  readonly result: Effect.Effect<CommandResult>
  /** TERM, then KILL; returns when it has ended. */
  readonly kill: Effect.Effect<void>
}

/** What `SandboxRunner` promises. A command whose profile cannot be enforced fails; it never runs without. */
export interface SandboxRunnerShape {
  /** Interruption ends the whole process group: TERM, then KILL. */
  readonly run: (command: ShellCommand) => Effect.Effect<CommandResult, CommandFailed>
  /** Without a time limit; the end of the scope ends it. */
  readonly start: (command: Omit<ShellCommand, "timeout">) => Effect.Effect<RunningCommand, CommandFailed, Scope.Scope>
  /** Found out once. */
  readonly status: (profile: SandboxProfile) => Effect.Effect<SandboxStatus>
}

/** Runs shell commands. No tool starts a process in another way. */
export class SandboxRunner extends Context.Service<SandboxRunner, SandboxRunnerShape>()("super-pi/SandboxRunner") {}
