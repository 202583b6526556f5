import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { defaultLimits } from "../../../src/services/sandbox/OutputRecorder.ts"
import * as SandboxRunnerLocal from "../../../src/services/sandbox/SandboxRunnerLocal.ts"
import {
  type Confinement,
  SandboxRunner,
  type SandboxRunnerShape,
  type ShellCommand
} from "../../../src/services/SandboxRunner.ts"
import { Settings, type SettingsValue } from "../../../src/services/Settings.ts"
import { makeFolder, platform, read, withoutShell } from "../../support/toolbox.ts"

const sandbox = (
  environment: Record<string, string | undefined> = withoutShell,
  settings: Partial<SettingsValue> = {}
) =>
  SandboxRunnerLocal.layer(environment).pipe(
    Layer.provide(Settings.layerValues(settings)),
    Layer.provideMerge(platform)
  )

/** Nothing is confined here; `sandbox.test.ts` has the rest. */
const free = (work: string): Confinement => ({ profile: "off", roots: [work], scratch: `${work}/../scratch` })

const shell = Effect.fnUntraced(function* (command: string, options: Partial<ShellCommand> = {}) {
  const runner = yield* SandboxRunner
  const { base, work } = yield* makeFolder
  return yield* runner.run({
    command,
    cwd: work,
    confinement: free(work),
    timeout: Duration.seconds(20),
    spill: `${base}/spill/output.txt`,
    onOutput: () => Effect.void,
    ...options
  })
})

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A zombie that nobody reaps is dead for everyone but the process table. */
const isRunning = Effect.fnUntraced(function* (pid: number) {
  if (!isAlive(pid)) return false
  const status = yield* Effect.orElseSucceed(read(`/proc/${pid}/stat`), () => "")
  return status !== "" && !/\) Z /.test(status)
})

const awaitGone = (pid: number) =>
  Effect.sleep("20 millis").pipe(
    Effect.andThen(isRunning(pid)),
    Effect.repeat({ while: (alive) => alive }),
    Effect.timeout("4 seconds")
  )

/** Starts a command that prints the process ids of itself and a grandchild, and waits for both. */
const startStubborn = Effect.fnUntraced(function* (runner: SandboxRunnerShape, work: string) {
  const seen = yield* Deferred.make<ReadonlyArray<number>>()
  let text = ""
  const fiber = yield* Effect.forkChild(
    runner.run({
      command: `trap "" TERM; echo $$; (trap "" TERM; echo $BASHPID; while true; do sleep 0.05; done) & while true; do sleep 0.05; done`,
      cwd: work,
      confinement: free(work),
      timeout: Duration.minutes(1),
      spill: `${work}/spill.txt`,
      onOutput: (piece) => {
        text += piece
        const pids = text.split("\n").filter((line) => /^\d+$/.test(line))
        return pids.length === 2 ? Effect.asVoid(Deferred.succeed(seen, pids.map(Number))) : Effect.void
      }
    })
  )
  return { fiber, pids: yield* Deferred.await(seen) }
})

describe("SandboxRunnerLocal", { concurrent: true }, () => {
  it.live("keeps the order of stdout and stderr, and gives real pipes", () =>
    Effect.gen(function* () {
      const result = yield* shell("for i in 1 2 3; do echo out$i; echo err$i >&2; done; echo dev > /dev/stderr; exit 3")
      assert.strictEqual(result.output, "out1\nerr1\nout2\nerr2\nout3\nerr3\ndev\n")
      assert.deepStrictEqual(result.exit, { _tag: "Code", code: 3 })
      assert.isFalse(result.timedOut)
      assert.strictEqual(result.spilled, undefined)
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("runs in the folder it was given, spaces and letters of any kind included (F61, F91)", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { base } = yield* makeFolder
      const folder = `${base}/a b/ü 'x'`
      yield* fs.makeDirectory(folder, { recursive: true })
      const result = yield* shell('pwd; printf \'%s\' "$0" >/dev/null; echo "it\'s $((1+1))"', { cwd: folder })
      assert.strictEqual(result.output, `${folder}\nit's 2\n`)
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("names a folder that does not exist", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(shell("true", { cwd: "/nonexistent/x" }))
      assert.include(error.message, "/nonexistent/x does not exist")
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("has no input and no terminal, and does not wait for either", () =>
    Effect.gen(function* () {
      const result = yield* shell("cat; tty; git -c credential.helper= ls-remote https://127.0.0.1:1/x.git; true")
      assert.include(result.output, "not a tty")
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("decodes letters that arrive in two pieces", () =>
    Effect.gen(function* () {
      const result = yield* shell(
        `printf '\\xe2\\x82'; sleep 0.1; printf '\\xac \\xf0\\x9f'; sleep 0.1; printf '\\x98\\x80'`
      )
      assert.strictEqual(result.output, "€ 😀")
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("strips control sequences, collapses progress and survives binary output (F78)", () =>
    Effect.gen(function* () {
      const result = yield* shell(
        `printf '\\033[1;31mred\\033[0m \\033]0;title\\007\\n'; for i in 1 2 3; do printf '%s%%\\r' $i; done; echo done; printf '\\x00\\x01\\xff'`
      )
      assert.strictEqual(result.output, "red \ndone\n\ufffd\ufffd\ufffd")
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("reports the signal that ended the command", () =>
    Effect.gen(function* () {
      const result = yield* shell("kill -SEGV $$")
      assert.deepStrictEqual(result.exit, { _tag: "Signal", signal: "SIGSEGV" })
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("keeps the last words of a failing command", () =>
    Effect.gen(function* () {
      const result = yield* shell("seq 1 2000; echo 'the reason' >&2; exit 1")
      assert.match(result.output, /2000\nthe reason\n$/)
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("stops at the time-out and keeps what came, with the last words of the command", () =>
    Effect.gen(function* () {
      const result = yield* shell("trap 'echo bye; exit 7' TERM; echo first; while true; do sleep 0.05; done", {
        timeout: Duration.millis(200)
      })
      assert.isTrue(result.timedOut)
      assert.include(result.output, "first\n")
      assert.include(result.output, "bye\n")
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("kills what ignores TERM at the time-out", () =>
    Effect.gen(function* () {
      const result = yield* shell("trap '' TERM; while true; do sleep 0.05; done", { timeout: Duration.millis(100) })
      assert.isTrue(result.timedOut)
      assert.deepStrictEqual(result.exit, { _tag: "Signal", signal: "SIGKILL" })
      assert.isBelow(Duration.toMillis(result.duration), 1500)
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("ends what was left in the background, and says so", () =>
    Effect.gen(function* () {
      const started = yield* Clock.currentTimeMillis
      const result = yield* shell("sleep 60 & echo $!")
      const pid = Number(result.output.split("\n")[0])
      assert.deepStrictEqual(result.exit, { _tag: "Code", code: 0 })
      assert.include(result.output, "left in the background")
      assert.isBelow((yield* Clock.currentTimeMillis) - started, 2500)
      yield* awaitGone(pid)
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("answers an interruption at once and leaves nothing alive, TERM ignored or not (F19)", () =>
    Effect.gen(function* () {
      const runner = yield* SandboxRunner
      const { work } = yield* makeFolder
      const { fiber, pids } = yield* startStubborn(runner, work)
      const started = yield* Clock.currentTimeMillis
      yield* Fiber.interrupt(fiber)
      assert.isBelow((yield* Clock.currentTimeMillis) - started, 200)
      assert.deepStrictEqual(yield* Effect.forEach(pids, isRunning), [true, true])
      yield* Effect.forEach(pids, awaitGone)
      assert.isBelow((yield* Clock.currentTimeMillis) - started, 1500)
    }).pipe(Effect.provide(sandbox()))
  )

  for (const [how, command] of [
    ["timeout", `timeout 60 bash -c 'trap "" TERM; echo $$; while true; do sleep 0.05; done'`],
    ["job control", "set -m; sleep 60 & echo $!; wait"],
    ["setsid", "setsid -w bash -c 'echo $$; exec sleep 60'"]
  ] as const) {
    it.live(`ends what ${how} took out of the group of a command that is cut off`, () =>
      Effect.gen(function* () {
        const started = yield* Deferred.make<number>()
        const onOutput = (text: string) => Effect.asVoid(Deferred.succeed(started, Number(text)))
        const fiber = yield* Effect.forkChild(shell(command, { onOutput }))
        const pid = yield* Deferred.await(started)
        assert.isTrue(yield* isRunning(pid))
        yield* Fiber.interrupt(fiber)
        yield* awaitGone(pid)
      }).pipe(Effect.provide(sandbox()))
    )

    it.live(`ends what ${how} took out of the group at the time-out`, () =>
      Effect.gen(function* () {
        const result = yield* shell(command, { timeout: Duration.millis(300) })
        assert.isTrue(result.timedOut)
        const pid = Number(result.output.split("\n")[0])
        assert.isAbove(pid, 0)
        yield* awaitGone(pid)
      }).pipe(Effect.provide(sandbox()))
    )
  }

  it.live("ends what is left in a group of its own, though it holds no output", () =>
    Effect.gen(function* () {
      const result = yield* shell("set -m; sleep 60 > /dev/null 2>&1 & echo $!")
      assert.deepStrictEqual(result.exit, { _tag: "Code", code: 0 })
      yield* awaitGone(Number(result.output))
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("ends that also where the command has ended before anybody could look at it", () => {
    // The first look is late, as on a busy machine; by then the command has gone and its number says nothing.
    let looks = 0
    const late = Layer.effect(
      FileSystem.FileSystem,
      Effect.map(FileSystem.FileSystem, (fs) => ({
        ...fs,
        readFileString: (path: string, encoding?: string) =>
          path.endsWith("/stat") && looks++ === 0
            ? Effect.delay(fs.readFileString(path, encoding), "500 millis")
            : fs.readFileString(path, encoding)
      }))
    )
    return Effect.gen(function* () {
      const result = yield* shell("set -m; sleep 60 > /dev/null 2>&1 & echo $!")
      yield* awaitGone(Number(result.output))
    }).pipe(
      Effect.provide(
        SandboxRunnerLocal.layer(withoutShell).pipe(
          Layer.provide([late, Settings.layerValues()]),
          Layer.provideMerge(platform)
        )
      )
    )
  })

  it.live("has ended every command when the layer is gone, within two seconds", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(sandbox(), scope)
      const { work } = yield* Effect.provide(makeFolder, platform)
      const stubborn = Effect.flatMap(SandboxRunner, (runner) => startStubborn(runner, work))
      const one = yield* Effect.provide(stubborn, services)
      const other = yield* Effect.provide(stubborn, services)
      const started = yield* Clock.currentTimeMillis
      yield* Fiber.interrupt(one.fiber)
      yield* Scope.close(scope, Exit.void)
      assert.isBelow((yield* Clock.currentTimeMillis) - started, 2000)
      const alive = Effect.forEach([...one.pids, ...other.pids], isRunning)
      assert.deepStrictEqual(yield* Effect.provide(alive, platform), [false, false, false, false])
      yield* Fiber.await(other.fiber)
    })
  )

  it.live("keeps head and tail of long output and all of it in a file", () =>
    Effect.gen(function* () {
      const result = yield* shell("seq 1 100000")
      assert.isDefined(result.spilled)
      assert.strictEqual(result.bytes, 588_895)
      assert.isBelow(result.output.length, 25_000)
      assert.match(result.output, /^1\n2\n3\n/)
      assert.match(result.output, /\n99999\n100000\n$/)
      assert.include(result.output, `characters left out; the whole output is in ${result.spilled}`)
      const lines = (yield* read(result.spilled ?? "")).split("\n")
      assert.strictEqual(lines.length, 100_001)
      assert.strictEqual(lines[54_321], "54322")
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("stops a command whose output nobody takes", () =>
    Effect.gen(function* () {
      const result = yield* shell("echo start; printf '\\xe2'; yes | head -c 20000000; echo end", {
        onOutput: () => Effect.never,
        timeout: Duration.millis(400)
      })
      assert.isTrue(result.timedOut)
      assert.isBelow(result.bytes, 2_000_000)
      assert.match(result.output, /^start\n/)
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("goes on when the output cannot be kept in a file", () =>
    Effect.gen(function* () {
      const result = yield* shell("seq 1 10000; exit 0", { spill: "/dev/null/output.txt" })
      assert.strictEqual(result.spilled, undefined)
      assert.match(result.output, /characters left out …\]/)
      assert.match(result.output, /10000\n$/)
    }).pipe(Effect.provide(sandbox()))
  )

  it.live("gives commands the user's environment without our secrets", () =>
    Effect.gen(function* () {
      const result = yield* shell("env")
      const names = new Set(result.output.split("\n").map((line) => line.split("=")[0]))
      for (const hidden of ["OPENAI_API_KEY", "SUPER_PI_GATEWAY_TOKEN", "SUPERCHARGE_AGENT_SECRET", "MY_OWN_NAME"]) {
        assert.isFalse(names.has(hidden), hidden)
      }
      assert.notInclude(result.output, "secret-value")
      assert.include(result.output, "PROJECT=kept\n")
      assert.include(result.output, "NO_COLOR=1\n")
      assert.include(result.output, "GIT_TERMINAL_PROMPT=0\n")
      assert.isFalse(names.has("CI"))
    }).pipe(
      Effect.provide(
        sandbox(
          {
            PATH: process.env["PATH"],
            PROJECT: "kept",
            OPENAI_API_KEY: "secret-value-1",
            SUPER_PI_GATEWAY_TOKEN: "secret-value-2",
            SUPERCHARGE_AGENT_SECRET: "secret-value-3",
            MY_OWN_NAME: "secret-value-4"
          },
          {
            providers: [
              { name: "local", kind: "openai-compatible", apiKey: Redacted.make("secret-value-4"), models: [] }
            ]
          }
        )
      )
    )
  )

  it.live("uses sh where there is no bash", () =>
    Effect.gen(function* () {
      const result = yield* shell("echo ${BASH_VERSION:-plain}; echo err >&2")
      assert.strictEqual(result.output, "plain\nerr\n")
    }).pipe(Effect.provide(sandbox({ PATH: "/nonexistent" })))
  )

  it.live("explains a command that is too long to be started", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(shell(`: ${"x".repeat(200_000)}`))
      assert.include(error.message, "too long")
    }).pipe(Effect.provide(sandbox()))
  )
})

describe("SandboxRunnerLocal alone", () => {
  it.live(
    "takes 200 MB in flat memory and bounds the file",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const runner = yield* SandboxRunner
        const { base, work } = yield* makeFolder
        let largest = 0
        const before = process.memoryUsage().rss
        const result = yield* runner.run({
          command: "head -c 200000000 /dev/zero | tr '\\0' x | fold -w 99",
          cwd: work,
          confinement: free(work),
          timeout: Duration.seconds(30),
          spill: `${base}/spill.txt`,
          onOutput: () => Effect.sync(() => void (largest = Math.max(largest, process.memoryUsage.rss())))
        })
        const grown = (largest - before) / 1e6
        assert.isAbove(result.bytes, 200_000_000)
        assert.isTrue((yield* fs.stat(result.spilled ?? "")).size < 60_000n)
        assert.isBelow(grown, 170)
      }).pipe(
        Effect.provide(
          SandboxRunnerLocal.layer(withoutShell, { ...defaultLimits, spill: 50_000 }).pipe(
            Layer.provide(Settings.layerValues()),
            Layer.provideMerge(platform)
          )
        )
      ),
    40_000
  )
})
