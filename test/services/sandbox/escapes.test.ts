/** Ways out of the sandbox that were found open at some time, each tried for real. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { execFileSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:net"
import { homedir } from "node:os"
import { join } from "node:path"
import { SandboxRunner, type ShellCommand } from "../../../src/services/SandboxRunner.ts"
import type { SandboxProfile } from "../../../src/domain/sandbox/Profile.ts"
import * as SandboxRunnerLocal from "../../../src/services/sandbox/SandboxRunnerLocal.ts"
import { Settings } from "../../../src/services/Settings.ts"
import { platform, withoutShell } from "../../support/toolbox.ts"

const missing = existsSync("/usr/bin/bwrap") ? undefined : "bubblewrap is not installed here: no way out was tried"
const isRoot = process.getuid?.() === 0

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", ...args], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"]
  })

const repository = (folder: string) => {
  mkdirSync(folder)
  git(folder, "init", "-q")
  writeFileSync(join(folder, "file"), "one\n")
  git(folder, "add", "file")
  git(folder, "commit", "-q", "-m", "first")
}

/** A repository as the workspace, the home of the agent, and another repository beside both; none below `/tmp`. */
const makePlace = Effect.acquireRelease(
  Effect.sync(() => {
    const base = realpathSync(mkdtempSync(join(isRoot ? "/srv" : homedir(), "super-pi-escapes-")))
    const [work, home, beside] = [join(base, "work"), join(base, "home"), join(base, "beside")]
    mkdirSync(home)
    repository(work)
    repository(beside)
    return { base, work, home, beside, person: join(base, "person") }
  }),
  ({ base }) => Effect.sync(() => rmSync(base, { recursive: true, force: true }))
)

type Place = Effect.Success<typeof makePlace>

const layer = ({ home, person }: Place, environment: Record<string, string> = {}) =>
  SandboxRunnerLocal.layer({ ...withoutShell, HOME: person, ...environment }).pipe(
    Layer.provide(Settings.layerValues({ home })),
    Layer.provide(platform)
  )

const commandOf = ({ home, work }: Place, command: string, profile: SandboxProfile): ShellCommand => ({
  command,
  cwd: work,
  confinement: { profile, roots: [work], scratch: join(home, "sessions/s") },
  timeout: Duration.seconds(20),
  spill: join(home, "sessions/s/spill.txt"),
  onOutput: () => Effect.void
})

const run = (place: Place, command: string, profile: SandboxProfile = "workspace", env?: Record<string, string>) =>
  SandboxRunner.use((runner) => runner.run(commandOf(place, command, profile))).pipe(Effect.provide(layer(place, env)))

/** Connects to a socket of a path, by what every machine with git has. */
const connect = (path: string) => `perl -MIO::Socket::UNIX -e 'exit !IO::Socket::UNIX->new(Peer => "${path}")'`

const listening = (path: string) =>
  Effect.acquireRelease(
    Effect.callback<() => void>((resume) => {
      const server = createServer((socket) => socket.end())
      server.listen(path, () => resume(Effect.succeed(() => void server.close())))
    }),
    (close) => Effect.sync(close)
  )

/** What git would run when somebody looks at the repository, outside of the sandbox. */
const evil = (place: Place) =>
  `[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch ${place.base}/PWNED; false\\n`
const isHarmed = (place: Place) => {
  git(place.work, "status")
  return existsSync(join(place.base, "PWNED"))
}

describe.skipIf(missing !== undefined)(missing ?? "ways out through git", () => {
  it.live("commondir does not lead git to another configuration", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      const { output } = yield* run(
        place,
        `mkdir evil; cp -r .git/objects .git/refs evil; printf '${evil(place)}' > evil/config; echo ../evil > .git/commondir`
      )
      assert.include(output, "commondir.put-aside")
      assert.isFalse(isHarmed(place))
    }).pipe(Effect.scoped)
  )

  it.live("one that is made again and again ends the command", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      const { exit, output } = yield* run(place, "while :; do echo x > .git/commondir; sleep 0.01; done")
      assert.deepStrictEqual(exit, { _tag: "Signal", signal: "SIGKILL" })
      assert.include(output, "again and again")
    }).pipe(Effect.scoped)
  )

  it.live("submodules keep their configuration and hooks, whatever they are called and whatever is renamed", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      git(place.work, "submodule", "add", "-q", place.beside, "libs/one")
      git(place.work, "commit", "-qm", "submodule")
      const commit = "cd libs/one && echo y > y && git add y && git -c user.name=a -c user.email=a@b commit -qm y"
      assert.deepStrictEqual((yield* run(place, commit)).exit, { _tag: "Code", code: 0 })
      const module = join(place.work, ".git/modules/libs/one")
      const before = readFileSync(join(module, "config"), "utf8")
      yield* run(
        place,
        `echo x >> .git/modules/libs/one/config; mkdir -p .git/modules/libs/one/hooks; echo x > .git/modules/libs/one/hooks/post-checkout
        mv .git/modules .git/other; mv .git/modules/libs .git/other; mv libs other; rm libs/one/.git; echo 'gitdir: ../../evil' > libs/one/.git`
      )
      assert.strictEqual(readFileSync(join(module, "config"), "utf8"), before)
      assert.isFalse(existsSync(join(module, "hooks/post-checkout")))
      assert.include(readFileSync(join(place.work, "libs/one/.git"), "utf8"), "modules/libs/one")
    }).pipe(Effect.scoped)
  )

  it.live("a folder of hooks is not replaced with the folder that it is in", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      mkdirSync(join(place.work, "tools/hooks"), { recursive: true })
      git(place.work, "config", "core.hooksPath", "tools/hooks")
      yield* run(place, "mv tools other; mkdir -p tools/hooks; echo x > tools/hooks/pre-commit")
      assert.isFalse(existsSync(join(place.work, "tools/hooks/pre-commit")))
    }).pipe(Effect.scoped)
  )

  it.live("what the configuration includes is configuration", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      writeFileSync(join(place.work, "included"), "")
      git(place.work, "config", "include.path", "../included")
      yield* run(place, `printf '${evil(place)}' > included; mv included x; printf '${evil(place)}' > included`)
      assert.isFalse(isHarmed(place))
    }).pipe(Effect.scoped)
  )

  it.live("a folder inside that is a repository is protected too", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      repository(join(place.work, "inner"))
      yield* run(place, "echo x > inner/.git/hooks/pre-commit; mv inner other; cd inner && git config a.b c")
      assert.isFalse(existsSync(join(place.work, "inner/.git/hooks/pre-commit")))
      assert.notInclude(readFileSync(join(place.work, "inner/.git/config"), "utf8"), "[a]")
      const commit = "cd inner && echo y > y && git add y && git -c user.name=a -c user.email=a@b commit -qm y"
      assert.deepStrictEqual((yield* run(place, commit)).exit, { _tag: "Code", code: 0 })
    }).pipe(Effect.scoped)
  )

  it.live("pointers that a command wrote open no other repository, however they point", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      const forged = join(place.base, "forged")
      mkdirSync(join(forged, "worktrees/x"), { recursive: true })
      const from = { ...place, work: forged }
      const target = join(place.beside, ".git")
      for (const [pointer, commondir] of [
        [target, undefined],
        ["worktrees/x", target],
        ["worktrees/x", "../../../beside/.git"]
      ] as const) {
        writeFileSync(join(forged, ".git"), `gitdir: ${pointer}\n`)
        writeFileSync(join(forged, "worktrees/x/gitdir"), `${join(forged, ".git")}\n`)
        if (commondir !== undefined) writeFileSync(join(forged, "worktrees/x/commondir"), `${commondir}\n`)
        yield* run(from, `echo x > ${target}/PWNED`)
        assert.isFalse(existsSync(join(target, "PWNED")), `${pointer} ${commondir ?? ""}`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("hooks that are not there are not made by a command", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      rmSync(join(place.work, ".git/hooks"), { recursive: true })
      const { exit } = yield* run(place, "echo x > .git/hooks/pre-commit")
      assert.deepStrictEqual(exit, { _tag: "Code", code: 1 })
      assert.deepStrictEqual(readdirSync(join(place.work, ".git/hooks")), [])
      assert.isFalse(existsSync(join(place.work, ".supercharge")))
    }).pipe(Effect.scoped)
  )
})

describe.skipIf(missing !== undefined)(missing ?? "ways out through what else is there", () => {
  it.live("our own folder of a project is not made by a command", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      yield* run(place, "mkdir -p .supercharge/hooks; echo {} > .supercharge/hooks/x.json; mv .supercharge y")
      assert.isFalse(existsSync(join(place.work, ".supercharge")))
    }).pipe(Effect.scoped)
  )

  it.live("several agents in one folder do not disturb each other", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      rmSync(join(place.work, ".git/hooks"), { recursive: true })
      const ended = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, index) => `touch made-${index}`),
        (command) => run(place, command),
        { concurrency: 4 }
      )
      assert.deepStrictEqual(
        ended.filter(({ exit }) => exit._tag !== "Code" || exit.code !== 0).map(({ output }) => output),
        []
      )
      assert.lengthOf(
        readdirSync(place.work).filter((name) => name.startsWith("made-")),
        12
      )
    }).pipe(Effect.scoped)
  )

  it.live("one that a running command must not make stays away while others come and go", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      const runner = yield* SandboxRunner
      const started = yield* Deferred.make<void>()
      const waiting = yield* runner.start({
        ...commandOf(place, "echo up; until [ -e go ]; do sleep 0.05; done; mkdir -p .supercharge/x", "workspace"),
        onOutput: () => Effect.asVoid(Deferred.succeed(started, undefined))
      })
      yield* Deferred.await(started)
      yield* runner.run(commandOf(place, "true", "workspace"))
      writeFileSync(join(place.work, "go"), "")
      yield* waiting.result
      assert.isFalse(existsSync(join(place.work, ".supercharge/x")))
    }).pipe((effect) => Effect.flatMap(makePlace, (place) => Effect.provide(effect, layer(place))), Effect.scoped)
  )

  for (const profile of ["workspace", "read-only", "strict"] as const) {
    it.live(`${profile}: no socket of the machine is reached, wherever it is`, () =>
      Effect.gen(function* () {
        const place = yield* makePlace
        const path = join(place.base, "d.sock")
        yield* listening(path)
        execFileSync("bash", ["-c", connect(path)])
        const { exit } = yield* run(place, connect(path), profile)
        assert.notDeepEqual(exit, { _tag: "Code", code: 0 })
      }).pipe(Effect.scoped)
    )
  }

  it.live("an agent for keys in the workspace is not reached either, and nobody is told of it", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      const path = join(place.work, "agent.sock")
      yield* listening(path)
      const { output } = yield* run(place, `${connect(path)} && echo reached; env`, "workspace", {
        SSH_AUTH_SOCK: path
      })
      assert.notInclude(output, "reached")
      assert.notInclude(output, "SSH_AUTH_SOCK")
    }).pipe(Effect.scoped)
  )

  it.live("sockets of the person are not reached where the home is the workspace, and those of a project are", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      mkdirSync(join(place.work, "run"))
      const path = join(place.work, "run", "docker.sock")
      yield* listening(path)
      const tries = `${connect(path)} && echo reached; mv run gone; ${connect(path.replace("run/", "gone/"))} && echo reached`
      assert.notInclude((yield* run({ ...place, person: place.work }, tries)).output, "reached")
      assert.include((yield* run(place, tries)).output, "reached")
    }).pipe(Effect.scoped)
  )

  it.live("secrets stay hidden where the home is the workspace, and start files cannot be made there", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      const person = place.work
      mkdirSync(join(person, ".ssh"))
      mkdirSync(join(person, ".config/gh"), { recursive: true })
      writeFileSync(join(person, ".ssh/id"), "KEY")
      writeFileSync(join(person, ".config/gh/hosts"), "KEY")
      writeFileSync(join(person, ".netrc"), "KEY")
      writeFileSync(join(person, "dotfile"), "")
      symlinkSync("dotfile", join(person, ".bashrc"))
      const { output } = yield* run(
        { ...place, person },
        `cat .ssh/id .config/gh/hosts .netrc; mv .config c; mv .ssh s; cat c/gh/hosts s/id; echo x > .ssh/authorized_keys
        echo x > .zshenv; echo x > dotfile; rm .bashrc; echo x > .bashrc`
      )
      assert.notInclude(output, "KEY")
      assert.isFalse(existsSync(join(person, ".zshenv")))
      assert.isFalse(existsSync(join(person, ".ssh/authorized_keys")))
      assert.strictEqual(readFileSync(join(person, ".bashrc"), "utf8"), "")
    }).pipe(Effect.scoped)
  )

  for (const profile of ["workspace", "read-only", "strict"] as const) {
    it.live(`${profile}: of the session's own folder only output is seen, not what files held before`, () =>
      Effect.gen(function* () {
        const place = yield* makePlace
        const scratch = join(place.home, "sessions/s")
        for (const folder of ["output", "mcp", "changes"]) {
          mkdirSync(join(scratch, folder), { recursive: true })
          writeFileSync(join(scratch, folder, "file"), folder)
        }
        const { output } = yield* run(place, `cd ${scratch}; ls; cat */file; grep -r changes . ../..; true`, profile)
        assert.notInclude(output, "changes")
        assert.include(output, "mcp\noutput\ntmp\nmcpoutput")
      }).pipe(Effect.scoped)
    )
  }

  it.live("strict: nothing is written but the workspace and the temporary folder", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      const { output } = yield* run(
        place,
        "for f in /x /etc/x /usr/x /opt/x /root/x; do echo x > $f && echo made; done",
        "strict"
      )
      assert.notInclude(output, "made")
    }).pipe(Effect.scoped)
  )

  it.live.runIf(isRoot)("root does not read the passwords of the system", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      const { output } = yield* run(place, "cat /etc/shadow")
      assert.notInclude(output, "root:")
    }).pipe(Effect.scoped)
  )

  it.live("a link that is put where something is about to be mounted opens nothing", () =>
    Effect.gen(function* () {
      const place = yield* makePlace
      const modules = join(place.work, ".git/modules")
      for (const folder of [join(modules, "one"), join(place.beside, "one")]) {
        mkdirSync(join(folder, "hooks"), { recursive: true })
        for (const name of ["HEAD", "config"]) writeFileSync(join(folder, name), "")
      }
      const fs = yield* FileSystem.FileSystem
      // What another command could do in the moment between the look at the workspace and the mounts.
      const swapping = {
        ...fs,
        readFileString: (...args: Parameters<typeof fs.readFileString>) => {
          if (args[0] === "/proc/self/mountinfo") {
            renameSync(modules, `${modules}-real`)
            symlinkSync("../../beside", modules)
          }
          return fs.readFileString(...args)
        }
      }
      const swapped = SandboxRunner.use((runner) =>
        runner.run(commandOf(place, "echo x > ../beside/PWNED; echo ran", "workspace"))
      )
      const { exit, output } = yield* Effect.provide(
        swapped,
        SandboxRunnerLocal.layer({ ...withoutShell, HOME: place.person }).pipe(
          Layer.provide(Layer.succeed(FileSystem.FileSystem, swapping)),
          Layer.provide(Settings.layerValues({ home: place.home })),
          Layer.provide(platform)
        )
      )
      assert.isFalse(existsSync(join(place.beside, "PWNED")))
      assert.notInclude(output, "ran\n")
      assert.include(output, "changed while it was being confined")
      assert.deepStrictEqual(exit, { _tag: "Code", code: 126 })
    }).pipe(Effect.provide(platform), Effect.scoped)
  )
})
