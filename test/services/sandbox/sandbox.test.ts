/** Commands under each profile, by the real bubblewrap, as root and as an ordinary user. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile, execFileSync } from "node:child_process"
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:net"
import { homedir } from "node:os"
import { join } from "node:path"
import type { SandboxProfile } from "../../../src/domain/sandbox/Profile.ts"
import type { CommandFailed, CommandResult } from "../../../src/services/SandboxRunner.ts"
import { runConfined } from "../../support/confined.ts"
import { isAlive, until } from "../../support/Processes.ts"

const hasBubblewrap = existsSync("/usr/bin/bwrap")
const isRoot = process.getuid?.() === 0

/** The number of an ordinary user; no name is needed. */
const ORDINARY = 54_321

type Result = Pick<CommandResult, "exit" | "output" | "timedOut">

interface Place {
  readonly base: string
  readonly work: string
  readonly home: string
}

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, stdio: "pipe" })

/** A repository with a commit, a home of the agent with a secret, and a folder beside both. */
const makePlace = (owner: number | undefined) =>
  Effect.acquireRelease(
    Effect.sync((): Place => {
      const base = realpathSync(mkdtempSync(join(isRoot ? "/srv" : homedir(), "super-pi-sandbox-")))
      const [work, home] = [join(base, "work"), join(base, "home")]
      for (const folder of [work, home, join(base, "beside")]) mkdirSync(folder)
      writeFileSync(join(home, "secret"), "agent secret")
      git(work, "init", "-q")
      writeFileSync(join(work, "file"), "one\n")
      mkdirSync(join(work, ".vscode"))
      writeFileSync(join(work, ".bashrc"), "")
      git(work, "add", "file")
      git(work, "commit", "-q", "-m", "first")
      if (owner !== undefined) execFileSync("chown", ["-R", `${owner}:${owner}`, base])
      if (owner !== undefined) chownSync(base, owner, owner)
      return { base, work, home }
    }),
    ({ base }) => Effect.sync(() => rmSync(base, { recursive: true, force: true }))
  )

const asUser = (argument: object): Effect.Effect<Result> =>
  Effect.callback((resume) => {
    const args = [
      `--reuid=${ORDINARY}`,
      `--regid=${ORDINARY}`,
      "--clear-groups",
      process.execPath,
      join(import.meta.dirname, "../../support/confined.ts"),
      JSON.stringify(argument)
    ]
    const env = { PATH: process.env["PATH"], HOME: "/nonexistent" }
    execFile("setpriv", args, { env }, (error, stdout, stderr) => {
      resume(error === null ? Effect.succeed(JSON.parse(stdout)) : Effect.die(new Error(stderr)))
    })
  })

const code = (result: Result) => (result.exit._tag === "Code" ? result.exit.code : result.exit.signal)

/** What a command tries, and what comes of it. */
type Case = readonly [
  what: string,
  profile: SandboxProfile,
  command: string,
  check: (result: Result, place: Place) => void
]

const refused: Case[3] = (result) => assert.notStrictEqual(code(result), 0, result.output)
const done: Case[3] = (result) => assert.strictEqual(code(result), 0, result.output)

const cases: ReadonlyArray<Case> = [
  [
    "writes in the workspace",
    "workspace",
    "echo two > file && cat file",
    (result, { work }) => {
      assert.strictEqual(result.output, "two\n")
      assert.strictEqual(readFileSync(join(work, "file"), "utf8"), "two\n")
    }
  ],
  ["writes beside it", "workspace", "echo x > ../beside/x", refused],
  ["writes through a link", "workspace", "ln -s ../beside link; echo x > link/x", refused],
  ["writes into the system", "workspace", "touch /usr/x || touch /etc/x", refused],
  [
    "has folders of its own for temporary files",
    "workspace",
    "echo x > /tmp/super-pi-x && cat /tmp/super-pi-x",
    (result) => {
      done(result, { base: "", work: "", home: "" })
      assert.isFalse(existsSync("/tmp/super-pi-x"))
    }
  ],
  [
    "commits, branches and stashes",
    "workspace",
    "echo y >> file; git -c user.name=a -c user.email=a@b commit -qam y && git checkout -qb z && echo w >> file && git -c user.name=a -c user.email=a@b stash -q",
    done
  ],
  ["writes a hook", "workspace", "echo x > .git/hooks/pre-commit", refused],
  ["configures git", "workspace", "git config core.fsmonitor ./evil", refused],
  ["renames .git away", "workspace", "mv .git other && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit", refused],
  ["removes .git", "workspace", "rm -rf .git; test ! -e .git/hooks", refused],
  ["replaces the start file of a shell", "workspace", "echo evil > .bashrc", refused],
  ["renames it", "workspace", "mv .bashrc x", refused],
  ["writes what an editor runs", "workspace", "echo x > .vscode/tasks.json", refused],
  ["reads the agent's secret", "workspace", "cat ../home/secret", refused],
  ["reads the agent's secret by a link", "workspace", "ln -s ../home/secret s; cat s", refused],
  ["changes the kernel", "workspace", "echo 1 > /proc/sys/kernel/printk", refused],
  ["mounts the root again", "workspace", "mount -o remount,rw / && touch /usr/x", refused],
  ["takes the mounts off", "workspace", "umount .git/hooks || umount /proc", refused],
  [
    "does so in a namespace of its own",
    "workspace",
    "unshare -Urm sh -c 'mount -o remount,rw,bind / && touch /usr/x'",
    refused
  ],
  ["sees processes outside", "workspace", "test $(ls -d /proc/[0-9]* | wc -l) -lt 12", done],
  ["kills a process outside", "workspace", `kill -0 ${process.pid}`, refused],
  ["has a terminal or input", "workspace", "read -t 1 x || ! test -t 0", done],
  ["writes", "read-only", "echo x > new", refused],
  ["reads", "read-only", "cat file && git log --oneline", done],
  ["has temporary files", "read-only", "echo x > /tmp/x && cat /tmp/x", done],
  ["writes in the workspace", "strict", "echo x > new && cat new && git status --short", done],
  ["sees beside the workspace", "strict", "ls ../beside", refused],
  ["sees a home", "strict", "ls /home/* || ls /root/.profile", refused],
  ["finds programs", "strict", "bash --version && git --version", done]
]

const suite = (
  who: string,
  run: (argument: Parameters<typeof runConfined>[0]) => Effect.Effect<Result, CommandFailed>,
  owner?: number
) =>
  describe(`as ${who}`, { concurrent: false }, () => {
    for (const [what, profile, command, check] of cases) {
      it.live(`${profile}: ${what}`, () =>
        Effect.gen(function* () {
          const place = yield* makePlace(owner)
          check(yield* run({ command, profile, work: place.work, home: place.home }), place)
        }).pipe(Effect.scoped)
      )
    }

    for (const [profile, reaches] of [
      ["workspace", true],
      ["read-only", false],
      ["strict", false]
    ] as const) {
      it.live(`${profile}: ${reaches ? "reaches" : "does not reach"} a port of this machine`, () =>
        Effect.gen(function* () {
          const place = yield* makePlace(owner)
          const port = yield* Effect.acquireRelease(
            Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
              const server = createServer((socket) => socket.end())
              server.listen(0, "127.0.0.1", () => {
                const address = server.address()
                resume(
                  Effect.succeed({
                    port: typeof address === "object" && address !== null ? address.port : 0,
                    close: () => server.close()
                  })
                )
              })
            }),
            ({ close }) => Effect.sync(close)
          )
          const result = yield* run({
            command: `exec 5<>/dev/tcp/127.0.0.1/${port.port}`,
            profile,
            work: place.work,
            home: place.home
          })
          assert.strictEqual(code(result) === 0, reaches, result.output)
        }).pipe(Effect.scoped)
      )
    }

    it.live("a process that left its session ends with the command", () =>
      Effect.gen(function* () {
        const place = yield* makePlace(owner)
        const mark = `${71_000 + (process.pid % 1000)}.${owner ?? 0}`
        yield* run({
          command: `setsid sleep ${mark} >/dev/null 2>&1 & sleep 0.2`,
          profile: "workspace",
          work: place.work,
          home: place.home
        })
        const left = () => {
          try {
            return execFileSync("pgrep", ["-f", `sleep ${mark}`], { encoding: "utf8" })
          } catch {
            return ""
          }
        }
        yield* Effect.timeout(
          until(() => left() === ""),
          "3 seconds"
        )
      }).pipe(Effect.scoped)
    )

    it.live("a fork bomb is ended, and the command with it", () =>
      Effect.gen(function* () {
        const place = yield* makePlace(owner)
        const result = yield* run({
          command: "bomb() { bomb | bomb & sleep 5; }; bomb; sleep 10",
          profile: "workspace",
          work: place.work,
          home: place.home,
          processLimit: 100
        })
        assert.isTrue(
          result.output.includes("it had 100 processes at a time") || result.output.includes("retry"),
          result.output
        )
      }).pipe(Effect.scoped)
    )
  })

// Where it is not installed, nothing of this file means anything.
if (hasBubblewrap) suite("the user of this process", runConfined)
if (hasBubblewrap && isRoot) suite("an ordinary user", asUser, ORDINARY)

describe.runIf(hasBubblewrap)("git metadata elsewhere", () => {
  const run = (place: Place, work: string, command: string) =>
    runConfined({ command, profile: "workspace", work, home: place.home })

  it.live("a worktree commits, and its hooks are protected", () =>
    Effect.gen(function* () {
      const place = yield* makePlace(undefined)
      const tree = join(place.base, "tree")
      git(place.work, "worktree", "add", "-q", tree)
      const commit = "echo z > z && git add z && git -c user.name=a -c user.email=a@b commit -qm z"
      assert.strictEqual(code(yield* run(place, tree, commit)), 0)
      refused(yield* run(place, tree, `echo x > ${place.work}/.git/hooks/pre-commit`), place)
      refused(yield* run(place, tree, "rm .git; echo gitdir: /nowhere > .git"), place)
      refused(yield* run(place, tree, `echo x > ${place.work}/file`), place)
    }).pipe(Effect.scoped)
  )

  it.live("a pointer that the command wrote itself opens no other repository", () =>
    Effect.gen(function* () {
      const place = yield* makePlace(undefined)
      const other = join(place.base, "other")
      mkdirSync(other)
      yield* run(place, other, `echo gitdir: ${place.work}/.git > .git`)
      refused(yield* run(place, other, `echo x > ${place.work}/.git/x`), place)
    }).pipe(Effect.scoped)
  )

  it.live("hooks that are configured elsewhere, or a link, cannot be written", () =>
    Effect.gen(function* () {
      const place = yield* makePlace(undefined)
      mkdirSync(join(place.work, "githooks"))
      git(place.work, "config", "core.hooksPath", "githooks")
      refused(yield* run(place, place.work, "echo x > githooks/pre-commit"), place)
      git(place.work, "config", "--unset", "core.hooksPath")
      rmSync(join(place.work, ".git/hooks"), { recursive: true })
      refused(yield* run(place, place.work, "mkdir .git/hooks; echo x > .git/hooks/pre-commit"), place)
      rmSync(join(place.work, ".git/hooks"), { recursive: true, force: true })
      symlinkSync("../githooks", join(place.work, ".git/hooks"))
      const replaced = yield* run(place, place.work, "rm .git/hooks; mkdir .git/hooks; echo x > .git/hooks/pre-commit")
      assert.include(replaced.output, "was put aside")
      assert.strictEqual(readlinkSync(join(place.work, ".git/hooks")), "../githooks")
    }).pipe(Effect.scoped)
  )
})

describe.runIf(hasBubblewrap)("the end of the agent", () => {
  it.live("takes a confined command with it, however it comes", () =>
    Effect.gen(function* () {
      const place = yield* makePlace(undefined)
      const argument = { command: "echo $$; sleep 300.25", profile: "workspace", work: place.work, home: place.home }
      const agent = execFile(process.execPath, [
        join(import.meta.dirname, "../../support/confined.ts"),
        JSON.stringify(argument)
      ])
      const pid = agent.pid ?? 0
      yield* Effect.addFinalizer(() => Effect.sync(() => agent.kill("SIGKILL")))
      const children = () => {
        try {
          return execFileSync("pgrep", ["-f", "^sleep 300.25"], { encoding: "utf8" }).trim().split("\n").map(Number)
        } catch {
          return []
        }
      }
      yield* until(() => children().length > 0)
      const [child] = children()
      process.kill(pid, "SIGKILL")
      yield* Effect.timeout(
        until(() => !isAlive(child ?? 0)),
        "3 seconds"
      )
    }).pipe(Effect.scoped)
  )
})
