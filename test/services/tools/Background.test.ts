/** Commands that are left running: started, read, stopped, and ended with their session. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import { describeOutput } from "../../../src/services/tools/BashOutput.ts"
import { makeBackgroundCommands, MOST_RUNNING } from "../../../src/services/tools/support/BackgroundCommands.ts"
import { isAlive, until } from "../../support/Processes.ts"
import { call, makeFolder, makeWorkspace, read, toolbox } from "../../support/toolbox.ts"

const setUp = Effect.gen(function* () {
  const { base, work } = yield* makeFolder
  const lifetime = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(lifetime, Exit.void))
  const workspace = makeWorkspace(work, { lifetime, scratch: `${base}/scratch` })
  return { lifetime, work, workspace }
})

const started = (command: string, workspace: Parameters<typeof call>[2]) =>
  Effect.map(call("bash", { command, background: true }, workspace), ({ outcome }) => {
    assert.strictEqual(outcome.status, "completed", outcome.text)
    return /background as (bg\d+)/.exec(outcome.text)?.[1] ?? assert.fail(outcome.text)
  })

const output = (id: string, workspace: Parameters<typeof call>[2], wait = 0) =>
  Effect.map(call("bash_output", { id, wait }, workspace), ({ outcome }) => outcome)

const stop = (id: string, workspace: Parameters<typeof call>[2]) =>
  Effect.map(call("bash_stop", { id }, workspace), ({ outcome }) => outcome)

const pidIn = Effect.fnUntraced(function* (file: string) {
  const find = Effect.orElseSucceed(read(file), () => "")
  let text = ""
  while (!text.endsWith("\n")) text = yield* Effect.delay(find, "20 millis")
  return Number(text)
})

describe("background commands", { concurrent: true }, () => {
  it.live("return at once, and give what they wrote since they were read last", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      const id = yield* started(`echo one; while [ ! -e ${work}/go ]; do sleep 0.02; done; echo two`, workspace)
      while (!(yield* output(id, workspace)).text.startsWith("one\n")) yield* Effect.sleep("20 millis")
      const quiet = yield* output(id, workspace)
      assert.match(quiet.text, /^\(nothing new\)\nbg1 \[running for /)
      yield* call("bash", { command: "touch go" }, workspace)
      const last = yield* output(id, workspace, 10_000)
      assert.match(last.text, /^two\nbg1 \[exit code 0, /)
      assert.deepInclude(last.rawOutput, { running: false, exitCode: 0 })
      assert.match((yield* output(id, workspace)).text, /^\(nothing new\)\nbg1 \[exit code 0/)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("go on when the call that started them is over", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      const command = `echo one; while [ ! -e ${work}/go ]; do sleep 0.02; done; echo two`
      const fiber = yield* Effect.forkChild(started(command, workspace))
      const id = yield* Fiber.join(fiber)
      yield* call("bash", { command: "touch go" }, workspace)
      const { text } = yield* output(id, workspace, 10_000)
      assert.match(text, /^one\ntwo\nbg1 \[exit code 0, /)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("are listed with their state, and one that failed says so", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const empty = yield* call("bash_output", {}, workspace)
      assert.strictEqual(empty.outcome.text, "No background command was started in this session.")
      const failing = yield* started("echo oh >&2; exit 3", workspace)
      yield* started("sleep 300", workspace)
      assert.match((yield* output(failing, workspace, 10_000)).text, /^oh\nbg1 \[exit code 3/)
      const { outcome } = yield* call("bash_output", {}, workspace)
      assert.match(outcome.text, /^bg1 \[exit code 3, .*\] echo oh >&2; exit 3\nbg2 \[running for .*\] sleep 300$/)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("are stopped with everything that they started, also one that ignores TERM", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      const id = yield* started(`trap "" TERM; sleep 300 & echo $! > ${work}/pid; echo up; wait`, workspace)
      const pid = yield* pidIn(`${work}/pid`)
      const stopped = yield* stop(id, workspace)
      assert.match(stopped.text, /^up\nbg1 \[ended by SIG/)
      yield* Effect.timeout(
        until(() => !isAlive(pid)),
        "3 seconds"
      )
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("end with their session", () =>
    Effect.gen(function* () {
      const { lifetime, work, workspace } = yield* setUp
      yield* started(`sleep 300 & echo $! > ${work}/pid; wait`, workspace)
      const pid = yield* pidIn(`${work}/pid`)
      yield* Scope.close(lifetime, Exit.void)
      yield* Effect.timeout(
        until(() => !isAlive(pid)),
        "3 seconds"
      )
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("an id that nobody has is told with those that there are", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const other = makeWorkspace(workspace.cwd, { lifetime: Scope.makeUnsafe() })
      const id = yield* started("sleep 300", workspace)
      assert.include((yield* output("bg7", workspace)).text, "The ids are: bg1.")
      assert.include((yield* stop(id, other)).text, 'no background command "bg1" in this session. None was started.')
      yield* stop(id, workspace)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("of much output the beginning and the end come, and all of it is in a file", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const id = yield* started("seq 1 100000", workspace)
      const { text } = yield* output(id, workspace, 20_000)
      assert.match(text, /^1\n2\n/)
      assert.match(text, /\n99999\n100000\nbg1 \[exit code 0/)
      const file = /the whole output is in (\S+) …/.exec(text)?.[1] ?? assert.fail(text)
      assert.strictEqual((yield* read(file)).split("\n").length, 100_001)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("no more than 32 run at once", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      yield* Effect.forEach(Array.from({ length: 32 }), () => started("sleep 300", workspace), { discard: true })
      const { outcome } = yield* call("bash", { command: "sleep 300", background: true }, workspace)
      assert.strictEqual(outcome.status, "failed")
      assert.include(outcome.text, "32 background commands run already")
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("a line that has not ended is told as it stands, and again only when it changes", () =>
    Effect.gen(function* () {
      const { work, workspace } = yield* setUp
      const command = `printf 'a\\n10%%'; while [ ! -e ${work}/go ]; do sleep 0.02; done; printf '\\r20%%\\nend'; sleep 300`
      const id = yield* started(command, workspace)
      while (!(yield* output(id, workspace)).text.startsWith("a\n10%\n")) yield* Effect.sleep("20 millis")
      assert.match((yield* output(id, workspace)).text, /^\(nothing new\)\n/)
      yield* call("bash", { command: "touch go" }, workspace)
      let text = ""
      while (!text.includes("end")) {
        const { text: more } = yield* output(id, workspace)
        if (!more.startsWith("(nothing new)")) text += more.replace(/\nbg1 .*$/, "\n")
      }
      assert.match(text, /^(20%\n)?(20%\n)?end\n$/)
      assert.match((yield* stop(id, workspace)).text, /^\(nothing new\)\nbg1 \[ended by SIG/)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("32 that are asked for at the same time run, and no more; one that ended makes room", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const asked = yield* Effect.forEach(
        Array.from({ length: 40 }),
        () => call("bash", { command: "sleep 300", background: true }, workspace),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(asked.filter(({ outcome }) => outcome.status === "completed").length, 32)
      yield* stop("bg1", workspace)
      yield* started("sleep 300", workspace)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("one that cannot be started is told, and takes no room", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const nowhere = { ...workspace, cwd: `${workspace.cwd}/none` }
      for (let count = 0; count < 40; count++) {
        const { outcome } = yield* call("bash", { command: "true", background: true }, nowhere)
        assert.include(outcome.text, "/work/none does not exist")
      }
      assert.strictEqual(yield* started("sleep 300", workspace), "bg1")
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("of much output that nobody reads little is kept", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      const before = process.memoryUsage.rss()
      const id = yield* started("head -c 100000000 /dev/zero | tr '\\0' x | fold -w 99; sleep 300", workspace)
      const first = yield* output(id, workspace)
      assert.include(first.text, "[running for")
      const file = /the whole output is in (\S+) …/
      let found = file.exec(first.text)?.[1]
      while (found === undefined) {
        yield* Effect.sleep("50 millis")
        found = file.exec((yield* output(id, workspace)).text)?.[1]
      }
      const fs = yield* FileSystem.FileSystem
      while ((yield* fs.stat(found)).size < 101_000_000n) yield* Effect.sleep("50 millis")
      assert.isBelow((process.memoryUsage.rss() - before) / 1e6, 250)
      yield* stop(id, workspace)
    }).pipe(Effect.scoped, Effect.provide(toolbox()))
  )

  it.live("one that cannot be followed to its end is told as ended, and its place is free", () =>
    Effect.gen(function* () {
      const { workspace } = yield* setUp
      let ends = 0
      const background = makeBackgroundCommands({
        run: () => Effect.die("not asked for"),
        start: () =>
          Effect.as(
            Effect.addFinalizer(() => Effect.sync(() => void (ends += 1))),
            { result: Effect.die("lost"), kill: Effect.void }
          ),
        status: () => Effect.succeed({ _tag: "Ready", mechanism: "none" })
      })
      const command = {
        command: "true",
        cwd: "/",
        confinement: { profile: "off", roots: [], scratch: "/" },
        spill: "/none"
      } as const
      for (let count = 1; count <= MOST_RUNNING + 8; count++) {
        const id = yield* background.start(workspace, command)
        assert.strictEqual(id, `bg${count}`)
        const read = yield* background.read(workspace, `bg${count}`, Duration.minutes(10))
        if (read === undefined) return assert.fail("it is not known")
        assert.match(
          describeOutput(read).text,
          /^\(nothing new\)\nbg\d+ \[ended after 0\.\d s: it could not be followed/
        )
        assert.deepInclude(describeOutput(read).rawOutput, { running: false, lost: true })
      }
      yield* until(() => ends === MOST_RUNNING + 8)
    }).pipe(
      Effect.scoped,
      Effect.provide(toolbox()),
      // Each of them is told in the log, too.
      Effect.provideService(References.MinimumLogLevel, "None")
    )
  )
})
