import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { descendants } from "../support/Processes.ts"
import { folder as madeFolder } from "../support/Program.ts"
import {
  always,
  cancel,
  choose,
  eventually,
  load,
  newSession,
  open,
  prompt,
  question,
  questions,
  turn
} from "../support/Probe.ts"
import type { JsonObject } from "../support/RawAgent.ts"
import { at } from "../support/Schema.ts"
import { callsOf, formOf, mark, ofKind, shownBy, textOf, updatesOf, watched } from "../support/Updates.ts"

const folder = Effect.map(madeFolder, (path) => realpathSync(path))
const call = (name: string, input: JsonObject) => ({ tool: { name, input } })
const task = (work: string, agent = "general-purpose") =>
  call("task", { agent, description: "Look at it", prompt: work })
const bash = (command: string) => call("bash", { command })
const done = { parts: [{ text: "done" }] }

describe("1e, 1h, 1i. subagents", () => {
  it.live("F31 a question of a subagent reaches the user, for the session and for a call that is known", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        steps: [
          { when: "delegate", parts: [task("the work")] },
          { when: "the work", parts: [call("write", { path: "made.txt", content: "made" })] },
          { when: "the work", parts: [bash("touch ran.txt")] },
          { when: "the work", parts: [{ text: "Both are made." }] },
          done
        ]
      })
      const session = yield* newSession(agent, place)
      const { answer } = yield* prompt(agent, session, "delegate")
      for (const index of [0, 1]) {
        const asked = yield* question(agent, index)
        assert.strictEqual(at(asked.params, "sessionId"), session)
        const known = callsOf(updatesOf(agent, session)).find(({ id }) => id === asked.toolCallId)
        assert.strictEqual(known?.latest["status"], "pending")
        assert.isString(at(known?.updates[0], "_meta", "superPi", "parentToolCallId"))
        yield* choose(agent, asked, "allow_once")
      }
      assert.strictEqual((yield* answer).result["stopReason"], "end_turn")
      const calls = callsOf(updatesOf(agent, session))
      assert.deepStrictEqual(
        calls.map(({ latest, statuses }) => [latest["name"], statuses.at(-1)]),
        [
          ["task", "completed"],
          ["write", "completed"],
          ["bash", "completed"]
        ]
      )
      assert.include(shownBy(calls[0]!.latest), "Both are made.")
      assert.isTrue(existsSync(join(place, "ran.txt")))
      // What a subagent did is the turn's, to see again and to take back.
      const { result } = yield* agent.request("_superpi/session/undo", { sessionId: session })
      assert.isTrue(at(result, "undone"))
      assert.isFalse(existsSync(join(place, "made.txt")))
    }).pipe(Effect.scoped)
  )

  it.live("F56 tasks are no sessions, and a load shows the session with them", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        steps: [
          { when: "delegate", parts: [task("one", "explore"), task("two", "explore")] },
          { when: "one", parts: [call("list", {})] },
          { when: "one", parts: [{ text: "First." }] },
          { when: "two", parts: [call("list", {})] },
          { when: "two", parts: [{ text: "Second." }] },
          done
        ]
      })
      const session = yield* newSession(agent, place)
      assert.strictEqual(yield* turn(agent, session, "delegate twice"), "end_turn")
      const listed = yield* agent.ok("session/list", {})
      assert.deepStrictEqual(
        (Array.isArray(listed["sessions"]) ? listed["sessions"] : []).map((one) => at(one, "sessionId")),
        [session]
      )
      const live = formOf(updatesOf(agent, session)).filter((item) => !JSON.stringify(item).includes("delegate twice"))
      const from = mark(agent)
      yield* load(agent, session, place)
      const again = formOf(updatesOf(agent, session, from)).filter(
        (item) => !JSON.stringify(item).includes("delegate twice")
      )
      assert.deepStrictEqual(again, live)
    }).pipe(Effect.scoped)
  )

  it.live("F79 a subagent shows what it does while it does it, and fills no window", () =>
    Effect.gen(function* () {
      const place = yield* folder
      mkdirSync(join(place, ".supercharge/agents"), { recursive: true })
      writeFileSync(
        join(place, ".supercharge/agents/counter.md"),
        "---\nname: counter\ndescription: Counts\ntools: [bash]\n---\nCount.\n"
      )
      const agent = yield* open({
        steps: [
          { when: "delegate", parts: [task("the work", "counter")], usage: { input: 1000, output: 10 } },
          { when: "the work", parts: [bash("sleep 0.3; echo one")], usage: { input: 70_000, output: 10 } },
          { when: "the work", parts: [call("read", { path: "x" })] },
          { when: "the work", parts: [bash("exit 3")] },
          { when: "the work", parts: [{ text: "One, and an error." }] },
          done
        ],
        onRequest: always("allow_once")
      })
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "delegate")
      const updates = updatesOf(agent, session)
      const [parent, first, second] = callsOf(updates)
      const shown = watched(parent!)
      assert.include(shown, "- … sleep 0.3; echo one")
      assert.include(shown, "- ✓ sleep 0.3; echo one")
      assert.include(shown, "- ✗")
      assert.strictEqual(at(first!.updates[0], "_meta", "superPi", "parentToolCallId"), parent!.id)
      assert.include(shownBy(second!.latest), "There is no tool named")
      assert.deepInclude(parent!.latest["rawOutput"], { agent: "counter", calls: 3 })
      assert.strictEqual(textOf(updates), "done")
      for (const { used } of ofKind(updates, "usage_update")) assert.isBelow(Number(used), 2000)
    }).pipe(Effect.scoped)
  )

  it.live("F24 a cancel ends a subagent with everything that it started", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        steps: [
          { when: "delegate", parts: [task("work"), task("hang")] },
          { when: "work", parts: [call("bash", { command: "echo $$ > one.pid; sleep 600", background: true })] },
          { when: "work", parts: [bash("echo $$ > two.pid; sleep 600")] },
          { when: "hang", parts: [{ hang: true }] },
          done
        ],
        onRequest: always("allow_once")
      })
      const session = yield* newSession(agent, place)
      const { answer } = yield* prompt(agent, session, "delegate")
      const pidOf = (name: string) => {
        const path = join(place, name)
        return existsSync(path) ? Number(readFileSync(path, "utf8")) : 0
      }
      yield* eventually("both run", () => pidOf("one.pid") > 0 && pidOf("two.pid") > 0)
      assert.isAbove(descendants(agent.pid).length, 0)
      yield* cancel(agent, session)
      assert.strictEqual((yield* answer).result["stopReason"], "cancelled")
      const calls = callsOf(updatesOf(agent, session))
      assert.deepStrictEqual(
        calls.filter(({ statuses }) => statuses.at(-1) === "pending" || statuses.at(-1) === "in_progress"),
        []
      )
      yield* eventually("nothing is left", () => descendants(agent.pid).length === 0)
      assert.isAtLeast(questions(agent).length, 1)
    }).pipe(Effect.scoped)
  )
})
