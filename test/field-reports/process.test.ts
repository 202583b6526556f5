import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { delimiter, join } from "node:path"
import { bin, folder, node } from "../support/Program.ts"
import { close, eventually, gone, load, newSession, open, prompt, turn } from "../support/Probe.ts"
import { descendants, isAlive } from "../support/Processes.ts"
import { type RawAgent, start } from "../support/RawAgent.ts"
import { oddServer } from "../support/mcp/odd.ts"

const hello = [{ again: true, parts: [{ text: "hello" }] }]

/** Programs that the person who starts the agent may have as `node`. */
const nodes = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .filter((path) => {
    try {
      return execFileSync(path, ["-p", "1"], { encoding: "utf8" }) === "1\n"
    } catch {
      return false
    }
  })

/** The oldest Node of this machine: where it is too old, the launcher starts the agent as another process. */
const launchers: ReadonlyArray<readonly [string, string]> = [
  ["the newest Node", node],
  ...nodes.slice(-1).map((path): readonly [string, string] => ["the system's Node", path])
]

const handshake = (agent: RawAgent) => agent.ok("initialize", { protocolVersion: 1, clientCapabilities: {} })

describe("1b. process life", () => {
  it.live("F11 an input that is empty from the first ends the agent with code 0", () =>
    Effect.gen(function* () {
      const agent = yield* start()
      yield* agent.closeInput
      const [time, end] = yield* Effect.timed(agent.ended)
      assert.strictEqual(end, 0)
      assert.isBelow(Duration.toMillis(time), 2_000)
    })
  )

  it.live("F11 requests that a pipe ends with are answered all the same", () =>
    Effect.gen(function* () {
      const agent = yield* start({ steps: hello })
      const initialize = { protocolVersion: 1, clientCapabilities: {} }
      yield* agent.send(
        { jsonrpc: "2.0", id: 1, method: "initialize", params: initialize },
        { jsonrpc: "2.0", id: 2, method: "session/new", params: { cwd: agent.home, mcpServers: [] } }
      )
      yield* agent.closeInput
      assert.strictEqual((yield* agent.answerOf(1)).result["protocolVersion"], 1)
      assert.isString((yield* agent.answerOf(2)).result["sessionId"])
      assert.strictEqual(yield* agent.ended, 0)
    })
  )

  it.live("F11 the end of input ends the agent and all that it started", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        args: ["--yolo"],
        steps: [
          { when: "hi", parts: [{ text: "hello" }] },
          { parts: [{ tool: { name: "bash", input: { command: "echo on; sleep 600 & sleep 600" } } }] }
        ]
      })
      const session = yield* newSession(agent, place, { mcpServers: [oddServer("m")] })
      yield* turn(agent, session, "hi")
      yield* prompt(agent, session, "run")
      yield* agent.until("the command's output", (message) =>
        JSON.stringify(message).includes("on\\n") ? true : undefined
      )
      const pids = descendants(agent.pid)
      assert.isAtLeast(pids.length, 3)
      yield* agent.closeInput
      const [time, end] = yield* Effect.timed(agent.ended)
      assert.strictEqual(end, 0)
      assert.isBelow(Duration.toMillis(time), 2_000)
      assert.deepStrictEqual(pids.filter(isAlive), [])
    })
  )

  for (const [name, program] of launchers) {
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      it.live(`F12 ${signal} to what was started ends the agent, started by ${name}`, () =>
        Effect.gen(function* () {
          const agent = yield* start({ command: [program, bin, "acp"] })
          yield* handshake(agent)
          const pids = descendants(agent.pid)
          yield* agent.kill(signal)
          yield* agent.ended
          for (const pid of pids) yield* gone(pid)
        })
      )
    }
  }

  it.live("F12 a wrapper that is killed leaves no agent behind", () =>
    Effect.gen(function* () {
      const agent = yield* start({ command: ["/bin/sh", "-c", '"$0" "$1" acp; true', node, bin] })
      yield* handshake(agent)
      const pids = descendants(agent.pid)
      assert.isNotEmpty(pids)
      yield* agent.kill("SIGKILL")
      for (const pid of pids) yield* gone(pid)
    })
  )

  it.live("F13 closing a session ends its servers, and nobody else's", () =>
    Effect.gen(function* () {
      const agent = yield* open({ steps: hello })
      const one = yield* newSession(agent, agent.home, { mcpServers: [oddServer("m", "has-child")] })
      yield* turn(agent, one, "hi")
      const first = descendants(agent.pid)
      const two = yield* newSession(agent, agent.home, { mcpServers: [oddServer("m", "stubborn", "has-child")] })
      yield* turn(agent, two, "hi")
      const second = descendants(agent.pid).filter((pid) => !first.includes(pid))
      assert.deepStrictEqual([first.length, second.length], [2, 2])
      yield* close(agent, two)
      for (const pid of second) yield* gone(pid)
      assert.isTrue(first.every(isAlive))
      yield* agent.closeInput
      assert.strictEqual(yield* agent.ended, 0)
      assert.deepStrictEqual(first.filter(isAlive), [])
    })
  )

  it.live("F14 loading a session again and again leaves one set of servers", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const mcpServers = [oddServer("m", "has-child")]
      const agent = yield* open({ steps: hello })
      const session = yield* newSession(agent, place, { mcpServers })
      yield* turn(agent, session, "hi")
      for (let count = 0; count < 10; count++) yield* load(agent, session, place, { mcpServers })
      yield* turn(agent, session, "hi")
      yield* eventually("one server and its child are left", () => descendants(agent.pid).length === 2)
    })
  )
})
