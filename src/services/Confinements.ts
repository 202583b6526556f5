/** How closely the commands of a session are confined: what the person, the project and the harness want, and what is possible. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Harness } from "../domain/Harness.ts"
import { type SandboxProfile, stricter } from "../domain/sandbox/Profile.ts"
import { Projects } from "./Projects.ts"
import { SandboxRunner } from "./SandboxRunner.ts"
import { Settings } from "./Settings.ts"

/** What holds for a session's commands at this moment. */
export interface SessionConfinement {
  readonly profile: SandboxProfile
  /** Somebody asked for a profile that cannot be enforced here: no command runs unasked, in no mode. */
  readonly isMissed: boolean
  /** Why commands run free, for the person, when nobody wanted them to. */
  readonly problem: { readonly reason: string; readonly remedy: string } | undefined
}

/** What `Confinements` promises. */
export interface ConfinementsShape {
  readonly of: (session: { readonly cwd: string; readonly harness: Harness }) => Effect.Effect<SessionConfinement>
}

const free: SessionConfinement = { profile: "off", isMissed: false, problem: undefined }

/** Judges how commands are confined. The broker and the tools go by it. */
export class Confinements extends Context.Service<Confinements, ConfinementsShape>()("super-pi/Confinements") {
  /** Without any word of somebody it is `workspace`, where that can be enforced. */
  static readonly layer: Layer.Layer<Confinements, never, Projects | SandboxRunner | Settings> = Layer.effect(
    Confinements,
    Effect.gen(function* () {
      const projects = yield* Projects
      const runner = yield* SandboxRunner
      const settings = yield* Settings

      const of = Effect.fn("Confinements.of")(function* ({
        cwd,
        harness
      }: {
        readonly cwd: string
        readonly harness: Harness
      }) {
        const { sandboxProfile } = yield* settings.current
        const project = yield* projects.of(cwd)
        // Only the person opens: a project comes with a clone, and is read before anybody trusts it.
        const demands = [harness.sandbox, project.sandboxProfile].filter((one) => one !== undefined)
        const profile = demands.reduce(stricter, sandboxProfile ?? "workspace")
        if (profile === "off") return free
        const status = yield* runner.status(profile)
        if (status._tag === "Ready") return { profile, isMissed: false, problem: undefined }
        const { reason, remedy } = status
        return {
          profile: "off",
          isMissed: [sandboxProfile, ...demands].some((one) => one !== undefined && one !== "off"),
          problem: { reason, remedy }
        } satisfies SessionConfinement
      })

      return { of }
    })
  )

  /** Confines nothing: for agents without commands, or in a place that is confined itself. */
  static readonly layerOff: Layer.Layer<Confinements> = Layer.succeed(Confinements, { of: () => Effect.succeed(free) })
}
