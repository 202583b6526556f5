import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { isWithin } from "../../../src/domain/files/Paths.ts"
import { argumentsOf, type BubblewrapPolicy, layersOf, type Place } from "../../../src/domain/sandbox/Bubblewrap.ts"
import { SandboxProfile, stricter } from "../../../src/domain/sandbox/Profile.ts"

const folder = (path: string, treatment: Place["treatment"]): Place => ({ path, type: "folder", treatment })
const file = (path: string, treatment: Place["treatment"]): Place => ({ path, type: "file", treatment })

const policy: BubblewrapPolicy = {
  places: [
    folder("/", "readable"),
    folder("/tmp", "temporary"),
    folder("/run", "hidden"),
    file("/run/resolve/stub", "readable"),
    folder("/work", "writable"),
    folder("/work/.git/modules/one/hooks", "readable"),
    file("/home/u/.netrc", "hidden")
  ],
  temporary: "/home/u/.supercharge/sessions/s/tmp",
  links: [{ name: "/run/shm", target: "/dev/shm" }],
  kernel: ["/proc/sys"],
  asRoot: false,
  network: true,
  cwd: "/work"
}

/** Paths of few names, so that many lie within one another. */
const Generated = Schema.Array(
  Schema.Struct({
    path: Schema.Array(Schema.Literals(["a", "b", ".git"])).pipe(
      Schema.check(Schema.isMinLength(1), Schema.isMaxLength(5))
    ),
    treatment: Schema.Literals(["temporary", "writable", "readable", "hidden"])
  })
).pipe(Schema.check(Schema.isMaxLength(12)))

const placesOf = (generated: typeof Generated.Type) =>
  generated.map(({ path, treatment }) => folder(`/${path.join("/")}`, treatment))

/** What `bwrap` makes of a path: the last mount on it or on the inmost folder around it. */
const effective = (args: ReadonlyArray<string>, path: string): string => {
  let found = { point: "", flag: "nothing" }
  args.forEach((flag, at) => {
    const point = flag === "--tmpfs" ? args[at + 1] : /^--(ro-)?bind$/.test(flag) ? args[at + 2] : undefined
    // A later mount on an outer folder hides all that was mounted in it.
    if (point !== undefined && isWithin(point, path)) {
      found = { point, flag: flag === "--bind" && args[at + 1] !== point ? "temporary" : flag }
    }
  })
  return found.flag
}

const flags = { temporary: "temporary", writable: "--bind", readable: "--ro-bind", hidden: "--tmpfs" } as const
const closeness = ["temporary", "writable", "readable", "hidden"] as const

describe("argumentsOf", () => {
  it("goes from wide to narrow, and pins what encloses something closed", () => {
    const wanted = [
      "--unshare-pid",
      "--unshare-ipc",
      "--die-with-parent",
      "--new-session",
      "--ro-bind / /",
      "--dev /dev",
      "--proc /proc",
      "--ro-bind /proc/sys /proc/sys",
      "--tmpfs /run",
      "--bind /home/u/.supercharge/sessions/s/tmp /tmp",
      "--bind /work /work",
      "--bind /work/.git /work/.git",
      "--ro-bind /dev/null /home/u/.netrc",
      "--ro-bind /run/resolve/stub /run/resolve/stub",
      "--bind /work/.git/modules /work/.git/modules",
      "--bind /work/.git/modules/one /work/.git/modules/one",
      "--ro-bind /work/.git/modules/one/hooks /work/.git/modules/one/hooks",
      "--symlink /dev/shm /run/shm",
      "--remount-ro /run",
      "--chdir /work"
    ]
    assert.deepStrictEqual(argumentsOf(policy).join(" "), wanted.join(" "))
  })

  it("has no network unless the policy has, and root keeps no power over mounts, devices or other networks", () => {
    const args = argumentsOf({ ...policy, network: false, asRoot: true })
    assert.include(args, "--unshare-net")
    assert.strictEqual(args[args.indexOf("--cap-drop") + 1], "ALL")
    for (const power of ["SYS_ADMIN", "MKNOD", "SYS_PTRACE", "NET_ADMIN", "SYS_MODULE", "SETUID"]) {
      assert.notInclude(args, `CAP_${power}`)
    }
  })

  it("closes the root folder where only parts of the system are visible", () => {
    const args = argumentsOf({ ...policy, places: [folder("/usr", "readable"), folder("/work", "writable")] })
    assert.strictEqual(args[args.indexOf("--remount-ro") + 1], "/")
  })

  it.effect.prop(
    "what holds for a path is what the narrowest place around it says, and the more closed of two on one path",
    [Generated],
    ([generated]) =>
      Effect.sync(() => {
        const places = placesOf(generated)
        const args = argumentsOf({ ...policy, places: [folder("/", "readable"), ...places] })
        for (const { path } of places) {
          const around = places.filter((one) => isWithin(one.path, path))
          const inmost = around.reduce((one, other) => (other.path.length > one.path.length ? other : one))
          const word = around
            .filter((one) => one.path === inmost.path)
            .reduce((one, other) =>
              closeness.indexOf(one.treatment) < closeness.indexOf(other.treatment) ? other : one
            ).treatment
          assert.strictEqual(effective(args, path), flags[word], path)
        }
      }),
    { arbitrary: { runs: 500 } }
  )

  it.effect.prop(
    "no folder between something writable and something closed in it can be renamed",
    [Generated],
    ([generated]) =>
      Effect.sync(() => {
        const layers = layersOf(placesOf(generated))
        const points = new Set(layers.map(({ path }) => path))
        for (const { path, treatment } of layers) {
          if (treatment === "writable" || treatment === "temporary") continue
          const outer = layers
            .filter((one) => one.treatment === "writable" && one.path !== path && isWithin(one.path, path))
            .map((one) => one.path)
            .sort((one, other) => one.length - other.length)[0]
          if (outer === undefined) continue
          for (let at = path; at !== outer; at = at.slice(0, at.lastIndexOf("/"))) assert.isTrue(points.has(at), at)
        }
      }),
    { arbitrary: { runs: 500 } }
  )
})

describe("stricter", () => {
  it.effect.prop("never opens anything, whichever comes first", [SandboxProfile, SandboxProfile], ([one, other]) =>
    Effect.sync(() => {
      const order = SandboxProfile.literals
      const both = stricter(one, other)
      assert.strictEqual(both, stricter(other, one))
      assert.strictEqual(order.indexOf(both), Math.max(order.indexOf(one), order.indexOf(other)))
    })
  )
})
