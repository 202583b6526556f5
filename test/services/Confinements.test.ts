import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { defaultHarness } from "../../src/domain/Harness.ts"
import type { SandboxProfile } from "../../src/domain/sandbox/Profile.ts"
import { Confinements } from "../../src/services/Confinements.ts"
import { Projects } from "../../src/services/Projects.ts"
import { SandboxRunner } from "../../src/services/SandboxRunner.ts"
import { Settings } from "../../src/services/Settings.ts"

type Wish = SandboxProfile | undefined

const missing = { _tag: "Unavailable", reason: "there is none", remedy: "install it" } as const

const confinement = (
  wishes: { readonly person?: Wish; readonly harness?: Wish; readonly project?: Wish },
  has = true
) =>
  Confinements.use(({ of }) =>
    of({
      cwd: "/w",
      harness: { ...defaultHarness, ...(wishes.harness === undefined ? {} : { sandbox: wishes.harness }) }
    })
  ).pipe(
    Effect.provide(
      Confinements.layer.pipe(
        Layer.provide([
          Settings.layerValues(wishes.person === undefined ? {} : { sandboxProfile: wishes.person }),
          Projects.layerTest(wishes.project === undefined ? {} : { sandboxProfile: wishes.project }),
          Layer.succeed(SandboxRunner, {
            run: () => Effect.die("no command runs here"),
            start: () => Effect.die("no command runs here"),
            status: () => Effect.succeed(has ? { _tag: "Ready", mechanism: "bubblewrap" } : missing)
          })
        ])
      )
    )
  )

describe("how commands are confined", () => {
  it.effect.each([
    [{}, "workspace"],
    [{ person: "off" }, "off"],
    [{ harness: "strict" }, "strict"],
    [{ harness: "read-only", person: "off" }, "read-only"],
    [{ harness: "off", person: "strict" }, "strict"],
    [{ project: "strict", person: "workspace", harness: "workspace" }, "strict"],
    [{ project: "off", person: "read-only" }, "read-only"],
    [{ project: "off" }, "workspace"],
    [{ harness: "off" }, "workspace"],
    [{ project: "off", harness: "off", person: "off" }, "off"]
  ] as const)("%j is %s: only the person opens, and the strictest counts", ([wishes, profile]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* confinement(wishes), { profile, isMissed: false, problem: undefined })
    })
  )

  it.effect("what cannot be had is missed where somebody asked for it, and told in any case", () =>
    Effect.gen(function* () {
      const problem = { reason: missing.reason, remedy: missing.remedy }
      assert.deepStrictEqual(yield* confinement({}, false), { profile: "off", isMissed: false, problem })
      for (const who of ["person", "harness", "project"]) {
        assert.deepStrictEqual(yield* confinement({ [who]: "workspace" }, false), {
          profile: "off",
          isMissed: true,
          problem
        })
      }
      assert.deepStrictEqual(yield* confinement({ person: "off" }, false), {
        profile: "off",
        isMissed: false,
        problem: undefined
      })
    })
  )
})
