import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { isWithin } from "../../../src/domain/files/Paths.ts"
import type { BubblewrapPolicy, Place } from "../../../src/domain/sandbox/Bubblewrap.ts"
import { seatbeltOf } from "../../../src/domain/sandbox/Seatbelt.ts"

const folder = (path: string, treatment: Place["treatment"]): Place => ({ path, type: "folder", treatment })
const literal = (...paths: ReadonlyArray<string>) => paths.map((path) => ({ path, literal: true as const }))

const policy: BubblewrapPolicy = {
  places: [
    folder("/", "readable"),
    folder("/Users/u/.ssh", "hidden"),
    folder("/Users/u/.supercharge", "hidden"),
    folder("/Users/u/.supercharge/sessions/s", "readable"),
    folder("/Users/u/work", "writable"),
    folder("/Users/u/work/.git/hooks", "readable")
  ],
  temporary: "/Users/u/.supercharge/sessions/s/tmp",
  links: [],
  kernel: [],
  asRoot: false,
  network: true,
  cwd: "/Users/u/work"
}

describe("seatbeltOf", () => {
  it("says the same as the places do", () => {
    assert.deepStrictEqual(seatbeltOf(policy, ["/Users/u/work/.git/commondir"]), {
      filesystem: {
        denyRead: literal("/Users/u/.ssh", "/Users/u/.supercharge"),
        allowRead: literal("/Users/u/.supercharge/sessions/s"),
        allowWrite: literal("/Users/u/work", "/Users/u/work/.git", "/Users/u/.supercharge/sessions/s/tmp"),
        denyWrite: literal("/Users/u/work/.git/hooks", "/Users/u/work/.git/commondir")
      }
    })
  })

  it("has no network unless the policy has", () => {
    const { network } = seatbeltOf({ ...policy, network: false }, []) ?? {}
    assert.deepStrictEqual(network, { allowedDomains: [], deniedDomains: [] })
  })

  it("leaves the temporary folder writable, though it lies in what is hidden", () => {
    const { denyWrite } = seatbeltOf(policy, [])?.filesystem ?? { denyWrite: [] }
    assert.isFalse(denyWrite.some(({ path }) => isWithin(path, policy.temporary)))
  })

  it("is none where a secret would be readable with the folder around it", () => {
    const places = [folder("/usr", "readable"), folder("/Users/u", "writable"), folder("/Users/u/.ssh", "hidden")]
    assert.isUndefined(seatbeltOf({ ...policy, places }, []))
  })

  it.effect.prop(
    "never lets anything be read that is hidden",
    [
      Schema.Array(
        Schema.Struct({
          path: Schema.Literals(["/a", "/a/b", "/a/b/c", "/d"]),
          treatment: Schema.Literals(["writable", "readable", "hidden"])
        })
      )
    ],
    ([places]) =>
      Effect.sync(() => {
        const made = seatbeltOf({ ...policy, places: places.map(({ path, treatment }) => folder(path, treatment)) }, [])
        if (made === undefined) return
        for (const { path, treatment } of places) {
          if (treatment !== "hidden") continue
          assert.isFalse(made.filesystem.allowRead.some((one) => isWithin(one.path, path)))
          assert.isTrue(made.filesystem.denyRead.some((one) => isWithin(one.path, path)))
        }
      }),
    { arbitrary: { runs: 300 } }
  )
})
