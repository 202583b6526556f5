/** What the program has to survive at the edges of its machine: odd homes, and what hangs for ever when it has to end. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { execFileSync } from "node:child_process"
import { closeSync, constants, existsSync, openSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folder } from "../support/Program.ts"
import * as RawAgent from "../support/RawAgent.ts"

const initialize = { protocolVersion: 1, clientCapabilities: {} }
const say = (text: string) => [{ type: "text", text }]

/** Opens a pipe once somebody reads from it, and writes nothing. */
const holdOpen = (pipe: string) =>
  Effect.acquireRelease(
    Effect.try(() => openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)).pipe(
      Effect.retry(Schedule.spaced("20 millis")),
      Effect.timeout("20 seconds")
    ),
    (file) => Effect.sync(() => closeSync(file))
  )

/** A prompt that waits for a thread which never comes back: the script that it plays is a pipe where nothing comes. */
const hang = Effect.gen(function* () {
  const pipe = join(yield* folder, "script")
  execFileSync("sh", ["-c", `mkfifo "$0"`, pipe])
  const agent = yield* RawAgent.start({ args: ["--model", `scripted/${pipe}`] })
  yield* agent.ok("initialize", initialize)
  const { sessionId = null } = yield* agent.ok("session/new", { cwd: "/", mcpServers: [] })
  yield* agent.ask("session/prompt", { sessionId, prompt: say("Hi") })
  yield* holdOpen(pipe)
  return agent
})

describe("an end that a hanging thread cannot hold up", () => {
  it.live("at the end of input, with code 0 within two seconds (TR-07)", () =>
    Effect.gen(function* () {
      const agent = yield* hang
      yield* agent.closeInput
      assert.strictEqual(yield* Effect.timeout(agent.ended, "2500 millis"), 0)
    })
  )
})

describe("a home", () => {
  it.live("that begins with ~ makes no folder of that name", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const env = { HOME: place, SUPERCHARGE_HOME: "~/of mine", NODE_COMPILE_CACHE: undefined }
      const agent = yield* RawAgent.start({ cwd: place, env })
      yield* agent.ok("initialize", initialize)
      assert.isFalse(existsSync(join(place, "~")))
      assert.isTrue(existsSync(join(place, "of mine", "cache")))
    })
  )

  it.live.runIf(existsSync("/proc/self"))("in which no folder can be made does not keep it from starting", () =>
    Effect.gen(function* () {
      const agent = yield* RawAgent.start({ env: { SUPERCHARGE_HOME: "/proc/none" } })
      yield* agent.ok("initialize", initialize)
    })
  )

  it.live("that cannot be written is told of before a tool runs", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const script = join(place, "script.json")
      const steps = [{ parts: [{ tool: { name: "write", input: { path: "made", content: "x" } } }] }]
      writeFileSync(join(place, "file"), "")
      writeFileSync(script, JSON.stringify({ steps }))
      const agent = yield* RawAgent.start({
        args: ["--always-approve", "--model", `scripted/${script}`],
        env: { SUPERCHARGE_HOME: join(place, "file", "home") }
      })
      yield* agent.ok("initialize", initialize)
      const { sessionId = null } = yield* agent.ok("session/new", { cwd: place, mcpServers: [] })
      const { error } = yield* agent.request("session/prompt", { sessionId, prompt: say("Hi") })
      assert.strictEqual(error?.["code"], -32603)
      assert.include(String(error?.["message"]), "SUPERCHARGE_HOME")
      assert.isFalse(existsSync(join(place, "made")))
    })
  )
})
