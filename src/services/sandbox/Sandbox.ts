/** The mechanism of this machine that confines commands, found out once: how a command is started under a profile. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SandboxProfile } from "../../domain/sandbox/Profile.ts"
import { isWithin } from "../../domain/files/Paths.ts"
import { CommandFailed, type Confinement, type SandboxStatus } from "../SandboxRunner.ts"
import { makeBubblewrap } from "./BubblewrapSandbox.ts"
import { type Confined, type Invocation, type Mechanism, type SandboxInput, unavailable, WITHOUT } from "./Mechanism.ts"
import { makeSeatbelt } from "./SeatbeltSandbox.ts"

export interface Sandbox {
  readonly status: (profile: SandboxProfile) => Effect.Effect<SandboxStatus>
  /** A command under its profile. Fails where the profile cannot be enforced. */
  readonly wrap: (
    invocation: Invocation,
    confinement: Confinement,
    cwd: string
  ) => Effect.Effect<Confined, CommandFailed, Scope.Scope>
}

const unconfined: SandboxStatus = { _tag: "Ready", mechanism: "none" }

const nowhere = (platform: string): Mechanism => {
  const reason = `there is no sandbox for commands on ${platform}`
  return {
    status: Effect.succeed(unavailable(reason, `Run the agent on Linux or macOS, ${WITHOUT}`)),
    confine: () => Effect.fail(new CommandFailed({ message: reason }))
  }
}

export const makeSandbox = Effect.fnUntraced(function* (input: SandboxInput): Effect.fn.Return<Sandbox> {
  const { fs, platform } = input
  const realOf = (path: string) => Effect.orElseSucceed(fs.realPath(path), () => path)
  const mechanism =
    platform === "linux"
      ? yield* makeBubblewrap(input)
      : platform === "darwin"
        ? yield* makeSeatbelt(input)
        : nowhere(platform)

  return {
    status: (profile) => (profile === "off" ? Effect.succeed(unconfined) : mechanism.status),
    wrap: Effect.fnUntraced(function* (invocation, confinement, cwd) {
      const { profile } = confinement
      if (profile === "off") return { invocation, watched: [], environment: {} }
      const home = yield* realOf(input.home)
      const roots = yield* Effect.forEach(confinement.roots, realOf)
      const own = roots.find((root) => isWithin(home, root))
      if (own !== undefined) {
        return yield* new CommandFailed({
          message: `The command was not run: ${own} lies in the agent's own home folder, which commands in a sandbox do not see. Open a session in another folder, or run it unsandboxed.`
        })
      }
      const status = yield* mechanism.status
      if (status._tag === "Ready") return yield* mechanism.confine(invocation, profile, confinement, cwd)
      return yield* new CommandFailed({
        message: `The command was not run: it has to be confined (profile ${profile}), and ${status.reason}. ${status.remedy}`
      })
    })
  }
})
