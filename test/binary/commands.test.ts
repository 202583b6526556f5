/** Commands of the program as it is installed: much output, the background, the sandbox, and what is left of all of it. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { descendants, isAlive } from "../support/Processes.ts"
import { folder } from "../support/Program.ts"
import { close, eventually, gone, newSession, open, prompt, turn } from "../support/Probe.ts"
import type { JsonObject, RawAgent } from "../support/RawAgent.ts"
import { at } from "../support/Schema.ts"
import { callsOf, shownBy, updatesOf } from "../support/Updates.ts"

const call = (name: string, input: JsonObject = {}) => ({ parts: [{ tool: { name, input } }] })
const bash = (command: string, more: JsonObject = {}) => call("bash", { command, ...more })
const done = { parts: [{ text: "done" }] }

const latestOf = (agent: RawAgent, session: string) => callsOf(updatesOf(agent, session)).map(({ latest }) => latest)

const megabytes = (pid: number, what: "VmHWM" | "VmRSS"): number =>
  Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

const lengthOf = (updates: ReadonlyArray<JsonObject>): number =>
  updates.reduce((sum, update) => sum + JSON.stringify(update).length, 0)

describe("commands of the program", () => {
  for (const [name, capabilities] of [
    ["one that is shown views", {}],
    ["one that keeps output", { _meta: { "x.ai/incrementalBashOutput": true } }],
    ["one that has terminals", { _meta: { terminal_output: true } }]
  ] as const) {
    it.live(`200 MB go through in little memory, to a client such as ${name}`, () =>
      Effect.gen(function* () {
        const place = yield* folder
        const command = "head -c 200000000 /dev/zero | tr '\\0' x | fold -w 99; printf '\\nthe end\\n'"
        const agent = yield* open({ capabilities, args: ["--yolo"], steps: [bash("true"), bash(command), done] })
        const session = yield* newSession(agent, place)
        const running = yield* prompt(agent, session, "go")
        yield* running.answer
        const [, latest = {}] = latestOf(agent, session)
        assert.strictEqual(latest["status"], "completed")
        // What is kept does not grow with the output, and what was sent does so with the time that it takes.
        assert.isBelow(lengthOf(updatesOf(agent, session)), 2_000_000)
        assert.isBelow(megabytes(agent.pid, "VmHWM"), 300)
        const file = String(at(latest["rawOutput"], "spilled"))
        assert.isAbove(statSync(file).size, 202_000_000)
        assert.isTrue(file.startsWith(join(agent.home, "sessions", session)))
        yield* agent.ok("session/delete", { sessionId: session })
        assert.isFalse(existsSync(file))
      })
    )
  }

  it.live("what runs in the background runs on, is read, stopped, and ends with its session", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const pidIn = (name: string) => Number(readFileSync(join(place, name), "utf8"))
      const serving = (name: string) => `trap '' TERM; echo up; echo $$ > ${name}; while true; do sleep 0.1; done`
      const agent = yield* open({
        // Outside, so that the process ids are those of this machine.
        args: ["--yolo", "--sandbox", "off"],
        steps: [
          bash(serving("one"), { background: true }),
          bash(serving("two"), { background: true }),
          bash("until [ -s one -a -s two ]; do sleep 0.05; done"),
          done,
          call("bash_output"),
          call("bash_stop", { id: "bg1" }),
          call("bash_output", { id: "bg1" }),
          done
        ]
      })
      const session = yield* newSession(agent, place)
      const [time] = yield* Effect.timed(turn(agent, session, "start"))
      assert.isBelow(Duration.toMillis(time), 10_000)
      const [first, second] = [pidIn("one"), pidIn("two")]
      assert.isTrue(isAlive(first) && isAlive(second))
      yield* turn(agent, session, "stop one")
      const [listed = {}, stopped = {}, read = {}] = latestOf(agent, session).slice(3)
      assert.match(shownBy(listed), /^```\nbg1 \[running for .*\nbg2 \[running for /)
      assert.match(shownBy(stopped), /^```\nup\n```\nbg1 \[ended by SIGKILL, /)
      assert.match(shownBy(read), /^bg1 \[ended by SIGKILL, /)
      yield* gone(first)
      assert.isTrue(isAlive(second))
      yield* close(agent, session)
      yield* gone(second)
      yield* agent.closeInput
      assert.strictEqual(yield* agent.ended, 0)
      yield* eventually("nothing is left", () => descendants(agent.pid).length === 0)
    })
  )

  it.live("a cancel ends what runs in front, and not what runs in the background", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        args: ["--yolo", "--sandbox", "off"],
        steps: [
          bash("echo $$ > back; exec sleep 300", { background: true }),
          bash("until [ -e back ]; do sleep 0.02; done; echo $$ > front; exec sleep 300"),
          call("bash_output"),
          done
        ]
      })
      const session = yield* newSession(agent, place)
      const running = yield* prompt(agent, session, "go")
      yield* eventually("both run", () => existsSync(join(place, "front")))
      const [front, back] = ["front", "back"].map((name) => Number(readFileSync(join(place, name), "utf8")))
      yield* agent.notify("session/cancel", { sessionId: session })
      assert.strictEqual((yield* running.answer).result["stopReason"], "cancelled")
      yield* gone(front ?? 0)
      yield* turn(agent, session, "and now")
      assert.match(shownBy(latestOf(agent, session).at(-1) ?? {}), /^```\nbg1 \[running for /)
      assert.isTrue(isAlive(back ?? 0))
      yield* agent.closeInput
      yield* agent.ended
      yield* gone(back ?? 0)
    })
  )

  it.live("one that the sandbox stopped says so, and runs outside only when the user allows that", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const outside = yield* folder
      const file = join(outside, "made")
      const asked: Array<string> = []
      const agent = yield* open({
        args: ["--sandbox", "workspace"],
        steps: [
          bash(`touch ${file}`),
          bash(`touch ${file}`, { unsandboxed: true, reason: "The file lies outside" }),
          done
        ],
        onRequest: (method, params) => {
          if (method !== "session/request_permission") return undefined
          asked.push(JSON.stringify(params["toolCall"]))
          const options = params["options"]
          const allowed = Array.isArray(options) ? options.find((one) => at(one, "kind") === "allow_once") : undefined
          return { result: { outcome: { outcome: "selected", optionId: at(allowed, "optionId") ?? "" } } }
        }
      })
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "go")
      const [inside = {}, free = {}] = latestOf(agent, session)
      assert.strictEqual(inside["status"], "failed")
      assert.deepInclude(inside["rawOutput"], { sandbox: "workspace", exitCode: 1 })
      assert.strictEqual(free["status"], "completed", JSON.stringify(free))
      assert.deepInclude(free["rawOutput"], { sandbox: "off", exitCode: 0 })
      assert.isTrue(existsSync(file))
      assert.include(asked.at(-1) ?? "", "Outside of the sandbox: The file lies outside")
    })
  )

  it.live("a time that is too long is shortened, one that passed ends the command, and both are told", () =>
    Effect.gen(function* () {
      const place = yield* folder
      writeFileSync(join(place, "a.txt"), "text\n")
      const agent = yield* open({
        config: "[toolset.bash]\ntimeout_secs = 1\n",
        args: ["--yolo"],
        steps: [bash("cat a.txt", { timeout: 7_200_000 }), bash("echo on; sleep 60"), done]
      })
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "go")
      const [long = {}, timedOut = {}] = latestOf(agent, session)
      assert.strictEqual(long["status"], "completed")
      assert.strictEqual(timedOut["status"], "failed")
      assert.deepInclude(timedOut["rawOutput"], { timedOut: true })
      assert.match(shownBy(timedOut), /^```\non\n```\n\[timed out after 1\.\d s, /)
    })
  )
})
