/** What becomes of a program when whoever started it is gone without a word: the pipe is closed, and nothing else is done. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { carries, LEASH_PIPE, leashed, makeMark } from "../../../src/services/sandbox/Leash.ts"
import { gone, isAlive, until } from "../../support/Processes.ts"

/** Starts a line on a leash; `said` is all that it wrote, and `end` how it ended. */
const start = Effect.fnUntraced(function* (line: string) {
  const [program, ...args] = leashed(yield* makeMark, ["/bin/sh", "-c", line])
  const end = yield* Deferred.make<number | NodeJS.Signals | null>()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(program, args, { detached: true, stdio: ["pipe", "pipe", "pipe", "ignore", "pipe"] })),
    ({ pid = 0 }) => Effect.ignore(Effect.try(() => process.kill(-pid, "SIGKILL")))
  )
  let text = ""
  child.stdout?.on("data", (piece) => (text += piece))
  child.stderr?.on("data", (piece) => (text += piece))
  child.on("close", (code, signal) => Deferred.doneUnsafe(end, Effect.succeed(code ?? signal)))
  return {
    pid: child.pid ?? 0,
    said: () => text,
    numbers: (count: number) =>
      until(() => text.split("\n").length > count).pipe(
        Effect.timeout("5 seconds"),
        Effect.orDie,
        Effect.map(() => text.trim().split("\n").map(Number))
      ),
    write: (input: string) => Effect.sync(() => void child.stdin?.end(input)),
    letGo: Effect.sync(() => void child.stdio[LEASH_PIPE]?.destroy()),
    end: Deferred.await(end)
  }
})

describe("Leash", () => {
  it("tells a mark from one that begins or ends like it", () => {
    assert.isTrue(carries("A=1\0SUPER_PI_RUN=7-ab\0B=2\0", "7-ab"))
    assert.isTrue(carries("SUPER_PI_RUN=7-ab\0", "7-ab"))
    assert.isFalse(carries("SUPER_PI_RUN=7-abc\0", "7-ab"))
    assert.isFalse(carries("MY_SUPER_PI_RUN=7-ab\0", "7-ab"))
  })

  it.live("passes on the input, the output, the exit code and no pipe of its own", () =>
    Effect.gen(function* () {
      const { end, said, write } = yield* start("cat; echo err >&2; ls /proc/self/fd | tr '\\n' ' '; exit 7")
      yield* write("in\n")
      assert.strictEqual(yield* end, 7)
      const words = said().trim().split(/\s+/)
      assert.includeMembers(words, ["in", "err", "0", "1", "2"])
      assert.notInclude(words, String(LEASH_PIPE))
    })
  )

  it.live("ends all that it started when it is let go, deaf, in another session or a daemon", () =>
    Effect.gen(function* () {
      const { letGo, numbers, pid } = yield* start(
        `trap "" TERM; echo $$; sleep 1000 & echo $!
         setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' &
         setsid -f sh -c 'echo $$; exec sleep 1000' & wait; sleep 1000`
      )
      const pids = [pid, ...(yield* numbers(4))]
      process.kill(-pid, "SIGTERM")
      assert.deepStrictEqual(pids.map(isAlive), [true, true, true, true, true])
      yield* letGo
      yield* gone(...pids)
    })
  )

  it.live("leaves alone whoever carries another mark", () =>
    Effect.gen(function* () {
      const one = yield* start("echo $$; sleep 1000")
      const other = yield* start("echo $$; sleep 1000")
      const [kept = 0] = yield* one.numbers(1)
      const [lost = 0] = yield* other.numbers(1)
      yield* other.letGo
      yield* gone(lost)
      assert.isTrue(isAlive(kept))
    })
  )
})
