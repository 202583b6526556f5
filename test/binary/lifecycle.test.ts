import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type ChildProcess, execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { version } from "../../src/domain/Version.ts"
import { ask, bin, ended, folder, initialize, run, start, tell } from "../support/Program.ts"

/** A Node of this machine that is older than what the program needs. */
const old = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find((path) => {
    try {
      return Number.parseInt(execFileSync(path, ["-p", "process.versions.node"], { encoding: "utf8" })) < 24
    } catch {
      return false
    }
  })

/** Whether it still runs; one that only waits for its parent to notice its end does not. */
const alive = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")
  } catch {
    return false
  }
}

const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (holds() ? Effect.void : Effect.andThen(Effect.sleep("20 millis"), until(holds))))

const appeared = (file: string): Effect.Effect<void> => until(() => existsSync(file))

const request = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params })

const gone = (pid: number): Effect.Effect<void> => until(() => !alive(pid))

/** The process that another one started, as Linux tells it. */
const childOf = (pid: number): number => Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"))

describe("life of the process", () => {
  for (const line of [["acp"], ["agent", "stdio"], ["acp", "--yolo"], ["agent", "--log-level", "debug", "stdio"]]) {
    it.live(`"${line.join(" ")}" speaks the protocol and ends with its input, code 0`, () =>
      Effect.gen(function* () {
        const child = yield* start(line)
        assert.nestedPropertyVal(yield* ask(child, initialize), "result.protocolVersion", 1)
        child.stdin.end()
        const { end, stdout } = yield* ended(child)
        assert.deepStrictEqual([end, stdout], [0, ""])
      })
    )
  }

  it.live("an input that is empty from the first ends it with code 0 and no word", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run(["acp"]), { end: 0, stdout: "", stderr: "" })
    })
  )

  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129]
  ] as const) {
    it.live(`${signal} ends it in order, with code ${code}`, () =>
      Effect.gen(function* () {
        const child = yield* start(["acp"])
        yield* ask(child, initialize)
        child.kill(signal)
        assert.strictEqual((yield* ended(child)).end, code)
      })
    )
  }

  it.live("an output that nobody reads any more ends it with code 0 (TR-08)", () =>
    Effect.gen(function* () {
      const child = yield* start(["acp"])
      yield* ask(child, initialize)
      child.stdout.destroy()
      tell(child, { jsonrpc: "2.0", id: 1, method: "unknown" })
      assert.strictEqual((yield* ended(child)).end, 0)
    })
  )

  for (const [name, stop, code] of [
    ["the end of input", (child: ChildProcess) => child.stdin?.end(), 0],
    ["SIGTERM", (child: ChildProcess) => child.kill("SIGTERM"), 143]
  ] as const) {
    it.live(`${name} ends a command that will not end by itself, within two seconds (TR-07)`, () =>
      Effect.gen(function* () {
        const place = yield* folder
        const pidFile = join(place, "pid")
        const script = join(place, "script.json")
        const command = `trap "" TERM HUP INT; echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; sleep 300 & wait`
        writeFileSync(
          script,
          JSON.stringify({
            steps: [
              {
                parts: [{ tool: { name: "bash", input: { command, unsandboxed: true, reason: "watched by number" } } }]
              }
            ]
          })
        )
        const child = yield* start(["acp", "--yolo", "--model", `scripted/${script}`])
        yield* ask(child, initialize)
        const opened = yield* ask(child, request(1, "session/new", { cwd: place, mcpServers: [] }))
        const sessionId = opened.result?.["sessionId"]
        assert.isString(sessionId)
        tell(child, request(2, "session/prompt", { sessionId, prompt: [{ type: "text", text: "Wait" }] }))
        yield* appeared(pidFile)
        const pid = Number.parseInt(readFileSync(pidFile, "utf8"))
        assert.isTrue(alive(pid))
        stop(child)
        const [time, { end }] = yield* Effect.timed(ended(child))
        assert.strictEqual(end, code)
        // Two seconds, and room for a busy machine.
        assert.isBelow(Duration.toMillis(time), 2_500)
        assert.isFalse(alive(pid))
      })
    )
  }

  it.live("an environment that cannot be used for anything does not keep it from answering (F119)", () =>
    Effect.gen(function* () {
      const child = yield* start(["acp"], {
        env: { HOME: "/nonexistent", SUPERCHARGE_HOME: "/dev/null/home", TERM: "", SUPER_PI_LOG_STDERR: "trace" }
      })
      child.stderr.destroy()
      assert.nestedPropertyVal(yield* ask(child, initialize), "result.protocolVersion", 1)
      child.stdin.end()
      assert.strictEqual((yield* ended(child)).end, 0)
    })
  )
})

describe.skipIf(old === undefined)("an older Node", () => {
  const options = { node: old ?? "" }

  it.live("hands over to the installed one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run(["--version"], options), {
        end: 0,
        stdout: `super-pi ${version}\n`,
        stderr: ""
      })
      assert.strictEqual((yield* run(["bogus"], options)).end, 2)
    })
  )

  it.live("ends as the agent ends when the input does", () =>
    Effect.gen(function* () {
      const child = yield* start(["acp"], options)
      assert.nestedPropertyVal(yield* ask(child, initialize), "result.protocolVersion", 1)
      child.stdin.end()
      assert.strictEqual((yield* ended(child)).end, 0)
    })
  )

  it.live("passes signals on", () =>
    Effect.gen(function* () {
      const child = yield* start(["acp"], options)
      yield* ask(child, initialize)
      child.kill("SIGTERM")
      assert.strictEqual((yield* ended(child)).end, 143)
    })
  )

  it.live("leaves no agent behind when it is killed (F12)", () =>
    Effect.gen(function* () {
      const child = yield* start(["acp"], options)
      yield* ask(child, initialize)
      const agent = childOf(child.pid ?? 0)
      assert.isTrue(alive(agent))
      child.kill("SIGKILL")
      yield* gone(agent)
    })
  )

  it.live("says what is needed where there is no other", () =>
    Effect.gen(function* () {
      const alone = join(yield* folder, "bin")
      mkdirSync(alone)
      for (const file of ["super-pi", "package.json"]) copyFileSync(join(bin, "..", file), join(alone, file))
      const { end, stderr, stdout } = yield* run(["acp"], { ...options, bin: join(alone, "super-pi") })
      assert.deepStrictEqual([end, stdout], [1, ""])
      assert.include(stderr, "Node 24 or newer is needed")
    })
  )
})
