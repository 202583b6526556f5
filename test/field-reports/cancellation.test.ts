import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { configFor, conversationOf } from "../support/LocalProvider.ts"
import { folder } from "../support/Program.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import {
  cancel,
  choose,
  eventually,
  gone,
  load,
  newSession,
  open,
  prompt,
  question,
  questions,
  turn
} from "../support/Probe.ts"
import { descendants } from "../support/Processes.ts"
import { type RawAgent } from "../support/RawAgent.ts"
import { callsOf, mark, shownBy, textOf, updatesOf } from "../support/Updates.ts"

/** One word each fifth of a second, for a minute. */
const slowly = Array.from({ length: 300 }, (_, index) => [{ text: `word ${index} ` }, { delayMs: 200 }]).flat()

const chunk = (agent: RawAgent, session: string, from = 0) =>
  agent.until("a chunk", () => (textOf(updatesOf(agent, session, from)) === "" ? undefined : true))

const running = (agent: RawAgent, session: string, from = 0) =>
  agent.until("a running tool", () =>
    callsOf(updatesOf(agent, session, from)).some(({ latest }) => latest["status"] === "in_progress") ? true : undefined
  )

const bash = (command: string, more: object = {}) => ({ tool: { name: "bash", input: { command, ...more } } })

describe("1c. cancellation", () => {
  it.live("F16 a cancelled turn says so, at once", () =>
    Effect.gen(function* () {
      const agent = yield* open({ steps: [{ parts: slowly }] })
      const session = yield* newSession(agent, agent.home)
      const { answer } = yield* prompt(agent, session, "long")
      yield* chunk(agent, session)
      yield* cancel(agent, session)
      const [time, { result }] = yield* Effect.timed(answer)
      assert.strictEqual(result["stopReason"], "cancelled")
      assert.isBelow(Duration.toMillis(time), 1_000)
    })
  )

  it.live("F17 cancel gets no answer, ends the turn, and leaves the session as it was", () =>
    Effect.gen(function* () {
      const agent = yield* open({
        steps: [
          { when: "long", parts: slowly },
          { again: true, parts: [{ text: "hello" }] }
        ]
      })
      const session = yield* newSession(agent, agent.home)
      const { answer, id } = yield* prompt(agent, session, "long")
      yield* chunk(agent, session)
      yield* cancel(agent, session)
      yield* answer
      const end = mark(agent)
      assert.strictEqual(yield* turn(agent, session, "hi"), "end_turn")
      const answers = agent.seen.filter(({ method, ...message }) => method === undefined && message["id"] !== id)
      // The handshake, the session, the second prompt: and nothing for the notification.
      assert.lengthOf(answers, 3)
      assert.strictEqual(textOf(updatesOf(agent, session, end)), "hello")
      // One more to nobody: a cancel of an idle session does nothing.
      yield* cancel(agent, session)
      assert.strictEqual(yield* turn(agent, session, "hi"), "end_turn")
    })
  )

  it.live("F18 after a load in mid-turn, cancel still reaches the turn", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        args: ["--yolo"],
        steps: [{ parts: [bash("echo $$ > pid; sleep 600", { unsandboxed: true, reason: "watched" })] }]
      })
      const session = yield* newSession(agent, place)
      const { answer } = yield* prompt(agent, session, "go")
      yield* running(agent, session)
      yield* eventually("the command has started", () => existsSync(join(place, "pid")))
      const loaded = yield* agent.request("session/load", { sessionId: session, cwd: place, mcpServers: [] })
      // Refused or not: what counts is that the turn can be stopped.
      assert.notStrictEqual(loaded.error?.["code"], -32603)
      yield* cancel(agent, session)
      const [time, { result }] = yield* Effect.timed(answer)
      assert.strictEqual(result["stopReason"], "cancelled")
      assert.isBelow(Duration.toMillis(time), 1_000)
      yield* gone(Number(readFileSync(join(place, "pid"), "utf8")))
    })
  )

  it.live("F19 what a command started ends with it, however it resists", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const loop = "for i in $(seq 1000); do echo $i >> log; sleep 0.02; done"
      const command = `bash -c 'trap "" TERM INT HUP; ${loop}' & bash -c 'trap "" TERM; ${loop}'`
      const agent = yield* open({ args: ["--yolo"], steps: [{ parts: [bash(command)] }] })
      const session = yield* newSession(agent, place)
      const { answer } = yield* prompt(agent, session, "go")
      const size = () => (existsSync(join(place, "log")) ? statSync(join(place, "log")).size : 0)
      yield* eventually("the command writes", () => size() > 10)
      const pids = descendants(agent.pid)
      assert.isAtLeast(pids.length, 3)
      yield* cancel(agent, session)
      assert.strictEqual((yield* answer).result["stopReason"], "cancelled")
      for (const pid of pids) yield* gone(pid)
      const before = size()
      yield* agent.ok("session/list")
      assert.strictEqual(size(), before)
    })
  )

  it.live("F21 a session is free again after each of fifty cancels", () =>
    Effect.gen(function* () {
      const agent = yield* open({
        steps: [
          { when: "ping", again: true, parts: [{ text: "pong" }] },
          { again: true, parts: [{ thought: "hm" }, { delayMs: 2 }, { text: "word " }, { delayMs: 2 }, { hang: true }] }
        ]
      })
      const session = yield* newSession(agent, agent.home)
      for (let round = 0; round < 50; round++) {
        const { answer } = yield* prompt(agent, session, "x")
        // Any moment will do, from before the turn began to its long wait.
        yield* Effect.sleep(Duration.millis((round * 7) % 12))
        yield* cancel(agent, session)
        const reason = (yield* answer).result["stopReason"]
        assert.strictEqual(reason, "cancelled", `round ${round}`)
        assert.strictEqual(yield* turn(agent, session, "ping"), "end_turn")
      }
    })
  )

  it.live("F22 a cancel keeps the session, its memory, its mode and its approvals", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const server = yield* ProviderServer.start
      const call = (id: string) => ({ call: { id, name: "bash", args: JSON.stringify({ command: "touch approved" }) } })
      server.answer(
        { pieces: [call("a")], finish: "calls" },
        { pieces: [{ text: "Noted: 4711." }] },
        { pieces: [{ text: "The first half" }], then: "hang" },
        { pieces: [call("b")], finish: "calls" },
        { pieces: [{ text: "4711" }] }
      )
      const agent = yield* open({ config: configFor(server) })
      const session = yield* newSession(agent, place)
      yield* agent.ok("session/set_mode", { sessionId: session, modeId: "accept-edits" })
      const first = yield* prompt(agent, session, "remember 4711")
      yield* choose(agent, yield* question(agent), "allow_always")
      assert.strictEqual((yield* first.answer).result["stopReason"], "end_turn")
      const from = mark(agent)
      const second = yield* prompt(agent, session, "tell me something long")
      yield* chunk(agent, session, from)
      yield* cancel(agent, session)
      assert.strictEqual((yield* second.answer).result["stopReason"], "cancelled")
      assert.strictEqual(yield* turn(agent, session, "what number?"), "end_turn")

      const conversation = conversationOf(server.seen()[3])
      const place3 = ["remember 4711", "Noted: 4711.", "tell me something long", "The first half", "what number?"].map(
        (text) => conversation.findIndex((message) => message.includes(text))
      )
      assert.notInclude(place3, -1)
      assert.deepStrictEqual(
        place3,
        place3.toSorted((one, other) => one - other)
      )
      assert.lengthOf(questions(agent), 1)
      const { modes } = yield* load(agent, session, place)
      assert.include(JSON.stringify(modes), '"currentModeId":"accept-edits"')
    })
  )

  describe("F23 cancel is read while the turn works", () => {
    for (const [name, tool, input, env, shown] of [
      ["a command", "bash", { command: "sleep 600" }, {}, ""],
      ["a search in large files", "grep", { pattern: "(x+x+)+y" }, {}, ""],
      ["a search without ripgrep on the PATH", "grep", { pattern: "(x+x+)+y" }, { PATH: "/nonexistent" }, "No matches"],
      ["an edit that fits everywhere", "edit", { path: "big.txt", old_string: "x", new_string: "y" }, {}, "occurs"],
      [
        "an edit that fits nowhere",
        "edit",
        { path: "big.txt", old_string: "x\n".repeat(5_000), new_string: "y" },
        {},
        ""
      ]
    ] as const) {
      it.live(`F23 ${name}`, () =>
        Effect.gen(function* () {
          const place = yield* folder
          writeFileSync(join(place, "big.txt"), `${"x".repeat(2_000)}\n`.repeat(1_000))
          const agent = yield* open({
            env,
            args: ["--yolo"],
            steps: [{ parts: [{ tool: { name: tool, input } }] }, { parts: [{ text: "done" }] }]
          })
          const session = yield* newSession(agent, place)
          const { answer } = yield* prompt(agent, session, "go")
          if (tool !== "edit") yield* running(agent, session)
          // Work that blocks can start a little later than it is told.
          for (let count = 0; count < 20; count++) {
            yield* Effect.sleep("10 millis")
            const [time] = yield* Effect.timed(agent.ok("session/list"))
            assert.isBelow(Duration.toMillis(time), 1_000)
          }
          yield* cancel(agent, session)
          const [time] = yield* Effect.timed(answer)
          assert.isBelow(Duration.toMillis(time), 1_000)
          assert.include(shownBy(callsOf(updatesOf(agent, session))[0]!.latest), shown)
        })
      )
    }
  })

  describe("F24 only a cancel makes a cancelled turn", () => {
    it.live("F24 a plain answer ends with end_turn", () =>
      Effect.gen(function* () {
        const agent = yield* open({ steps: [{ parts: [{ text: "hello" }] }] })
        const session = yield* newSession(agent, agent.home)
        assert.strictEqual(yield* turn(agent, session, "Say hello"), "end_turn")
      })
    )

    it.live("F24 a turn of too many steps ends with max_turn_requests", () =>
      Effect.gen(function* () {
        const agent = yield* open({ steps: [{ again: true, parts: [{ tool: { name: "list", input: {} } }] }] })
        const session = yield* newSession(agent, agent.home)
        assert.strictEqual(yield* turn(agent, session, "loop"), "max_turn_requests")
      })
    )
  })
})
