/** How a command ended, in words for the model and the person. */
import * as Duration from "effect/Duration"
import type { SandboxProfile } from "../../../domain/sandbox/Profile.ts"
import type { CommandOutput } from "../../../domain/Tool.ts"
import type { CommandResult } from "../../SandboxRunner.ts"
import type { ToolOutcome } from "../../ToolDefinition.ts"

export const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`

/** In one line. */
export const ending = ({ duration, exit, timedOut }: CommandResult): string => {
  const time = seconds(Duration.toMillis(duration))
  const how = exit._tag === "Code" ? `exit code ${exit.code}` : `ended by ${exit.signal}`
  return timedOut ? `[timed out after ${time}, ${how}; a longer timeout can be given]` : `[${how}, ${time}]`
}

export const succeeded = ({ exit, timedOut }: CommandResult): boolean =>
  exit._tag === "Code" && exit.code === 0 && !timedOut

/** What programs say when a sandbox keeps them from writing. */
const unwritable = /read-only file system|operation not permitted|\bEROFS\b|\bEPERM\b/i

/** The same of the network. */
const unreachable =
  /network is unreachable|(could not|couldn't|failed to|unable to) resolve|temporary failure (in name resolution|resolving)|name or service not known|\b(EAI_AGAIN|ENETUNREACH|ENOTFOUND)\b/i

/** What a profile may have kept the command from. */
const stoppedBy = (profile: SandboxProfile, output: string): string | undefined => {
  if (profile === "off") return undefined
  if (unwritable.test(output)) return "keeps commands from writing there"
  return profile !== "workspace" && unreachable.test(output) ? "keeps commands off the network" : undefined
}

/** The way out, when it looks as if the sandbox was in the way. */
const hintOf = (result: CommandResult, profile: SandboxProfile): string => {
  const stopped = succeeded(result) ? undefined : stoppedBy(profile, result.output)
  return stopped === undefined
    ? ""
    : `\n[The sandbox may be why: its profile ${profile} ${stopped}. If the command has to reach further, run it again with unsandboxed: true and a reason; the user is asked.]`
}

/** What a person sees of it. */
const shownOf = (result: CommandResult): CommandOutput => ({
  type: "output",
  text: result.output,
  ending: ending(result),
  ...(result.exit._tag === "Code" ? { exitCode: result.exit.code } : { signal: result.exit.signal })
})

export interface Ran {
  readonly result: CommandResult
  readonly profile: SandboxProfile
  readonly cwd: string
  /** Told in front of the rest. */
  readonly note?: string
}

export const outcomeOf = ({ cwd, note, profile, result }: Ran): ToolOutcome => {
  const { duration, exit, output, spilled, timedOut } = result
  const before = note === undefined ? "" : `[${note}]\n`
  const text = `${before}${output === "" ? "(no output)" : output.replace(/\n$/, "")}\n${ending(result)}`
  return {
    status: succeeded(result) ? "completed" : "failed",
    text: text + hintOf(result, profile),
    content: [shownOf(result)],
    rawOutput: {
      ...(exit._tag === "Code" ? { exitCode: exit.code } : { signal: exit.signal }),
      cwd,
      sandbox: profile,
      timedOut,
      durationMs: Math.round(Duration.toMillis(duration)),
      truncated: spilled !== undefined,
      ...(spilled === undefined ? {} : { spilled })
    }
  }
}
