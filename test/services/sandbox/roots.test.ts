/** Folders of a workspace that a sandbox cannot treat like any other, by the real bubblewrap. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { SandboxRunner } from "../../../src/services/SandboxRunner.ts"
import type { SandboxProfile } from "../../../src/domain/sandbox/Profile.ts"
import * as SandboxRunnerLocal from "../../../src/services/sandbox/SandboxRunnerLocal.ts"
import { Settings } from "../../../src/services/Settings.ts"
import { platform, withoutShell } from "../../support/toolbox.ts"

const hasBubblewrap = existsSync("/usr/bin/bwrap")
const isRoot = process.getuid?.() === 0

const makeFolder = (parent: string) =>
  Effect.acquireRelease(
    Effect.sync(() => realpathSync(mkdtempSync(join(parent, "super-pi-roots-")))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/** A project, the home of the agent and that of the person; none below `/tmp`. */
const makePlace = Effect.gen(function* () {
  const base = yield* makeFolder(isRoot ? "/srv" : homedir())
  const [work, home, person] = [join(base, "work"), join(base, "home"), join(base, "person")]
  for (const folder of [work, home, join(person, ".ssh")]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(person, ".ssh/id"), "KEY")
  writeFileSync(join(home, "config.toml"), "KEY")
  return { base, work, home, person }
})

type Place = Effect.Success<typeof makePlace>

/** The first root is the folder in which it runs. */
const run = (
  { home, person }: Place,
  profile: SandboxProfile,
  roots: readonly [string, ...ReadonlyArray<string>],
  command: string
) =>
  SandboxRunner.use((runner) =>
    runner.run({
      command,
      cwd: roots[0],
      confinement: { profile, roots, scratch: join(home, "sessions/s") },
      timeout: Duration.seconds(20),
      spill: join(home, "sessions/s/spill.txt"),
      onOutput: () => Effect.void
    })
  ).pipe(
    Effect.provide(
      SandboxRunnerLocal.layer({ ...withoutShell, HOME: person }).pipe(
        Layer.provide(Settings.layerValues({ home })),
        Layer.provide(platform)
      )
    ),
    Effect.map(({ exit, output }) => ({ exit, lines: output.trim().split("\n") }))
  )

const succeeded = { _tag: "Code", code: 0 } as const

const holds = ({ home, person }: Place) => `echo x > /dev/null && echo devices
test $(ls -d /proc/[0-9]* | wc -l) -lt 12 && echo own processes
grep -q KEY ${person}/.ssh/id ${home}/config.toml /etc/shadow 2>/dev/null || echo no secret
(echo x > /usr/super-pi-x || echo x > /etc/super-pi-x || echo x > /proc/sys/kernel/super-pi-x) 2>/dev/null || echo no system
(mkdir /sys/fs/cgroup/super-pi-x || echo 0 > /sys/kernel/profiling) 2>/dev/null || echo no kernel`

const all = ["devices", "own processes", "no secret", "no system", "no kernel"]

describe.runIf(hasBubblewrap)("folders of a workspace", { concurrent: true }, () => {
  for (const profile of ["workspace", "strict", "read-only"] as const) {
    for (const root of ["/", "/dev", "/proc", "/proc/1", "/sys", "/run"]) {
      it.live(`${profile}: ${root} opens nothing, and the rest works`, () =>
        Effect.gen(function* () {
          const place = yield* makePlace
          const touch = "touch made 2>/dev/null && echo written"
          const { lines } = yield* run(place, profile, [place.work, root], `${holds(place)}\n${touch}; true`)
          assert.deepStrictEqual(lines, [...all, ...(profile === "read-only" ? [] : ["written"])])
          assert.strictEqual(existsSync(join(place.work, "made")), profile !== "read-only")
        }).pipe(Effect.scoped)
      )
    }

    it.live(`${profile}: the root of everything as the working folder is read and not written`, () =>
      Effect.gen(function* () {
        const place = yield* makePlace
        const command = `${holds(place)}; touch /super-pi-x 2>/dev/null || echo not written; ls -d ${place.work}`
        const { exit, lines } = yield* run(place, profile, ["/"], command)
        assert.deepStrictEqual(exit, succeeded)
        assert.deepStrictEqual(lines, [...all, "not written", place.work])
        assert.isFalse(existsSync("/super-pi-x"))
      }).pipe(Effect.scoped)
    )

    it.live(`${profile}: what is in the memory of the machine is a folder like any other`, () =>
      Effect.gen(function* () {
        const place = yield* makePlace
        const work = yield* makeFolder("/dev/shm")
        writeFileSync(join(work, "file"), "one\n")
        const { lines } = yield* run(place, profile, [work], "cat file; touch made 2>/dev/null; echo x > /dev/null")
        assert.deepStrictEqual(lines, ["one"])
        assert.strictEqual(existsSync(join(work, "made")), profile !== "read-only")
      }).pipe(Effect.scoped)
    )
  }

  it.live("a link to the agent's own folder is that folder: no command runs there", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      symlinkSync(place.home, join(place.base, "link"))
      for (const root of [place.home, join(place.base, "link"), join(place.base, "link/sessions")]) {
        mkdirSync(join(place.home, "sessions"), { recursive: true })
        const { message } = yield* Effect.flip(run(place, "workspace", [place.work, root], "true"))
        assert.match(message, /lies in the agent's own home folder/)
      }
    }).pipe(Effect.scoped)
  )
})

/** A workspace whose mount is read-only: only root can make one. */
const makeMounted = Effect.gen(function* () {
  const place = yield* makePlace
  execFileSync("git", ["init", "-q"], { cwd: place.work })
  rmSync(join(place.work, ".git/hooks"), { recursive: true })
  writeFileSync(join(place.work, "file"), "one\n")
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      execFileSync("mount", ["--bind", place.work, place.work])
      execFileSync("mount", ["-o", "remount,ro,bind", place.work])
    }),
    () => Effect.sync(() => execFileSync("umount", [place.work]))
  )
  return place
})

const canMount = (): boolean => {
  if (!isRoot) return false
  const folder = mkdtempSync("/srv/super-pi-mount-")
  try {
    execFileSync("mount", ["--bind", folder, folder], { stdio: "ignore" })
    execFileSync("umount", [folder])
    return true
  } catch {
    return false
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const unmountable = canMount() ? undefined : "only root can mount: no workspace on a read-only mount was tried"

describe.runIf(hasBubblewrap)("a workspace on a read-only mount", () => {
  for (const profile of ["workspace", "strict", "read-only"] as const) {
    it.live(`${profile}: is read, and says itself why it is not written`, (context) =>
      Effect.gen(function* () {
        if (unmountable !== undefined) context.skip(unmountable)
        const place = yield* makeMounted
        const { exit, lines } = yield* run(
          place,
          profile,
          [place.work],
          "cat file; git status --short; echo x > made; echo x > $(mktemp) && echo temporary"
        )
        assert.deepStrictEqual(exit, succeeded)
        assert.strictEqual(lines[0], "one")
        assert.include(lines.join("\n"), "?? file")
        assert.match(lines.join("\n"), /made: Read-only file system/)
        assert.strictEqual(lines.at(-1), "temporary")
      }).pipe(Effect.scoped)
    )
  }
})
