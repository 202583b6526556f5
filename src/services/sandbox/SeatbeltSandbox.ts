/** Confines commands by Seatbelt of macOS, through a package that is loaded only there and need not be installed. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { type SeatbeltConfiguration, seatbeltOf } from "../../domain/sandbox/Seatbelt.ts"
import { CommandFailed, type SandboxStatus } from "../SandboxRunner.ts"
import { makeConfinedPlaces } from "./ConfinedPlaces.ts"
import { type Invocation, type Mechanism, type SandboxInput, unavailable, WITHOUT } from "./Mechanism.ts"

// The name is no literal: what bundles this must not look for a package that need not be there.
const PACKAGE: string = "@anthropic-ai/sandbox-runtime"

const SHELL = "/bin/bash"

const ready: SandboxStatus = { _tag: "Ready", mechanism: "seatbelt" }

const notInstalled = unavailable(
  `the package ${PACKAGE} is not installed`,
  `Install it beside the agent (npm install --global ${PACKAGE}), ${WITHOUT}`
)

/** Gives a line for the shell that runs another line confined. */
type Wrap = (line: string, shell: string, configuration: SeatbeltConfiguration) => Promise<unknown>

const wrapOf = (module: unknown): Wrap | undefined => {
  if (!Predicate.hasProperty(module, "SandboxManager")) return undefined
  const { SandboxManager: manager } = module
  if (!Predicate.hasProperty(manager, "wrapWithSandbox")) return undefined
  const { wrapWithSandbox: wrap } = manager
  return typeof wrap === "function" ? (...args) => Promise.resolve(Reflect.apply(wrap, manager, args)) : undefined
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

const failed = () => new CommandFailed({ message: "The command was not run: Seatbelt could not be set up for it" })

export const makeSeatbelt = Effect.fnUntraced(function* (
  input: SandboxInput,
  load: () => Promise<unknown> = () => import(PACKAGE)
): Effect.fn.Return<Mechanism> {
  const places = makeConfinedPlaces(input)

  const runtime = yield* Effect.cached(
    Effect.map(Effect.option(Effect.tryPromise(load)), (module) =>
      module._tag === "Some" ? wrapOf(module.value) : undefined
    )
  )

  return {
    status: Effect.map(runtime, (wrap) => (wrap === undefined ? notInstalled : ready)),
    confine: Effect.fnUntraced(function* (invocation, profile, confinement, cwd) {
      const wrap = yield* runtime
      const { policy, watched } = yield* places.find(profile, confinement, cwd)
      const configuration = seatbeltOf(
        policy,
        watched.map(({ path }) => path)
      )
      if (configuration === undefined) {
        return yield* new CommandFailed({
          message: `The command was not run: secrets lie in the workspace, and the profile ${profile} cannot hide them there on macOS`
        })
      }
      if (wrap === undefined) return yield* failed()
      const line = yield* Effect.tryPromise(() => wrap(invocation.map(quoted).join(" "), SHELL, configuration)).pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(Schema.NonEmptyString)),
        Effect.mapError(failed)
      )
      const confined: Invocation = [SHELL, "-c", line]
      return { invocation: confined, watched: [], environment: { TMPDIR: policy.temporary } }
    })
  }
})
