/** One way of a system to confine commands. */
import type * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import type { Environment } from "../../domain/ChildEnvironment.ts"
import type { SandboxProfile } from "../../domain/sandbox/Profile.ts"
import type { CommandFailed, Confinement, SandboxStatus } from "../SandboxRunner.ts"
import type { Watched } from "./Protection.ts"

/** A program and its arguments. */
export type Invocation = readonly [program: string, ...args: ReadonlyArray<string>]

/** A command as it is started, and names that it must not touch though nothing keeps it from them. */
export interface Confined {
  readonly invocation: Invocation
  readonly watched: ReadonlyArray<Watched>
  /** What its environment has beside the usual. */
  readonly environment: Readonly<Record<string, string>>
}

/** One way to confine. */
export interface Mechanism {
  readonly status: Effect.Effect<SandboxStatus>
  /** For as long as the scope. Only where it is ready. */
  readonly confine: (
    invocation: Invocation,
    profile: Exclude<SandboxProfile, "off">,
    confinement: Confinement,
    cwd: string
  ) => Effect.Effect<Confined, CommandFailed, Scope.Scope>
}

export interface SandboxInput {
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
  readonly spawner: ChildProcessSpawner["Service"]
  readonly environment: Environment
  readonly platform: string
  /** The home folder of the agent. */
  readonly home: string
  readonly isRoot: boolean
}

/** How to do without, behind every remedy. */
export const WITHOUT = 'or set profile = "off" below [sandbox] in config.toml to run commands unconfined on purpose.'

export const unavailable = (reason: string, remedy: string): SandboxStatus => ({ _tag: "Unavailable", reason, remedy })
