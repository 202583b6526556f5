import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { MessageId, ToolCallId } from "../../src/domain/Ids.ts"
import type { Entry } from "../../src/domain/session/Session.ts"
import { openStore } from "../services/store/support.ts"
import { configFor, conversationOf } from "../support/LocalProvider.ts"
import { recordOf } from "../support/logs.ts"
import { folder } from "../support/Program.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { close, load, newSession, open, type OpenOptions, prompt, turn } from "../support/Probe.ts"
import { type RawAgent } from "../support/RawAgent.ts"
import { isObject } from "../support/Schema.ts"
import { callsOf, formOf, mark, ofKind, textOf, thoughtOf, updatesOf } from "../support/Updates.ts"

const hello = [{ again: true, parts: [{ text: "hello" }] }]

const sessionsOf = (agent: RawAgent): Effect.Effect<ReadonlyArray<Schema.JsonObject>> =>
  Effect.map(agent.ok("session/list"), ({ sessions }) => (Array.isArray(sessions) ? sessions.filter(isObject) : []))

const ids = (sessions: ReadonlyArray<Schema.JsonObject>) => sessions.map(({ sessionId }) => sessionId)

/** The same home on another day: the process before has ended, or was killed. */
const reopen = Effect.fnUntraced(function* (agent: RawAgent, options: OpenOptions, signal?: NodeJS.Signals) {
  yield* signal === undefined ? agent.closeInput : agent.kill(signal)
  yield* agent.ended
  return yield* open({ ...options, home: agent.home })
})

/** A turn with everything that a client can show. */
const rich: OpenOptions = {
  args: ["--yolo"],
  steps: [
    {
      parts: [
        { thought: "Let me ", chunk: 3 },
        { thought: "think." },
        { text: "First ", chunk: 2 },
        { text: "words." },
        {
          tool: {
            name: "todo",
            input: {
              entries: [
                { content: "a", status: "completed" },
                { content: "b", status: "in_progress" }
              ]
            }
          }
        },
        { tool: { name: "write", input: { path: "a.txt", content: "one\n" } } }
      ]
    },
    {
      parts: [
        { thought: "Again." },
        { tool: { name: "edit", input: { path: "a.txt", old_string: "one", new_string: "two" } } },
        { tool: { name: "bash", input: { command: "echo seen; exit 3" } } },
        { tool: { name: "read", input: { path: "a.txt", offset: 1, limit: 1 } } }
      ]
    },
    { parts: [{ text: "Last words." }] },
    { again: true, parts: [{ text: "hello" }] }
  ]
}

const memory = (agent: RawAgent, key: "VmRSS" | "VmHWM"): number =>
  Number(new RegExp(`${key}:\\s+(\\d+)`).exec(readFileSync(`/proc/${agent.pid}/status`, "utf8"))?.[1]) / 1024

const handles = (agent: RawAgent): number => readdirSync(`/proc/${agent.pid}/fd`).length

describe("1f. session store: load, resume, list", () => {
  it.live("F46 F47 F48 a loaded session tells all that was told, once, in order, with title, kind and diff", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const first = yield* open(rich)
      const session = yield* newSession(first, place)
      yield* turn(first, session, "go on then")
      const live = updatesOf(first, session)
      const second = yield* reopen(first, rich)
      yield* load(second, session, place)
      const replayed = updatesOf(second, session)

      // The client knows its own prompt; a load tells it.
      const [user, ...others] = formOf(replayed)
      assert.deepInclude(user, { kind: "user_message_chunk", text: "go on then" })
      assert.deepStrictEqual(others, formOf(live))
      assert.strictEqual(thoughtOf(replayed), "Let me think.Again.")
      assert.strictEqual(textOf(replayed), "First words.Last words.")
      const calls = callsOf(replayed)
      assert.deepStrictEqual(
        calls.map(({ latest }) => [latest["name"], latest["kind"], latest["status"]]),
        [
          ["todo", "think", "completed"],
          ["write", "edit", "completed"],
          ["edit", "edit", "completed"],
          ["bash", "execute", "failed"],
          ["read", "read", "completed"]
        ]
      )
      assert.deepStrictEqual(calls[2]!.latest["content"], [
        { type: "diff", path: join(place, "a.txt"), oldText: "one\n", newText: "two\n" }
      ])
      for (const { updates } of calls) assert.strictEqual(updates[0]!["sessionUpdate"], "tool_call")
      assert.lengthOf(ofKind(replayed, "tool_call"), calls.length)
      assert.isNotEmpty(ofKind(replayed, "plan"))
    })
  )

  it.live("F48 calls are unique in their session, whatever ids a provider repeats", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const options: OpenOptions = {
        steps: [
          { parts: [{ tool: { id: "call_0", name: "list", input: {} } }] },
          { parts: [{ tool: { id: "call_0", name: "list", input: {} } }] },
          { parts: [{ text: "one" }] },
          { parts: [{ tool: { id: "call_0", name: "list", input: {} } }] },
          { parts: [{ text: "two" }] }
        ]
      }
      const agent = yield* open(options)
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "one")
      yield* turn(agent, session, "two")
      const next = yield* reopen(agent, options)
      yield* load(next, session, place)
      for (const updates of [updatesOf(agent, session), updatesOf(next, session)]) {
        assert.lengthOf(callsOf(updates), 3)
        assert.lengthOf(ofKind(updates, "tool_call"), 3)
      }
    })
  )

  it.live("F49 a session has one id everywhere", () =>
    Effect.gen(function* () {
      const first = yield* open({ steps: hello })
      const session = yield* newSession(first, first.home)
      yield* turn(first, session, "hi")
      assert.deepStrictEqual(ids(yield* sessionsOf(first)), [session])
      const second = yield* reopen(first, { steps: hello })
      assert.deepStrictEqual(ids(yield* sessionsOf(second)), [session])
      yield* load(second, session, first.home)
      assert.strictEqual(yield* turn(second, session, "hi"), "end_turn")
    })
  )

  it.live("F51 after a crash a prompt to an old session says that it has to be loaded, and loading works", () =>
    Effect.gen(function* () {
      const first = yield* open({ steps: hello })
      const session = yield* newSession(first, first.home)
      yield* turn(first, session, "hi")
      const second = yield* reopen(first, { steps: hello }, "SIGKILL")
      const { error } = yield* second.request("session/prompt", {
        sessionId: session,
        prompt: [{ type: "text", text: "again" }]
      })
      assert.strictEqual(error?.["code"], -32002)
      assert.include(String(error?.["message"]), "load")
      yield* load(second, session, first.home)
      assert.strictEqual(yield* turn(second, session, "again"), "end_turn")
      assert.deepStrictEqual(ids(yield* sessionsOf(second)), [session])
    })
  )

  it.live("F52 a session that was never stored is not found, and the agent goes on", () =>
    Effect.gen(function* () {
      const first = yield* open({ steps: hello })
      const session = yield* newSession(first, first.home)
      const second = yield* reopen(first, { steps: hello }, "SIGKILL")
      for (const method of ["session/resume", "session/load"]) {
        const { error } = yield* second.request(method, { sessionId: session, cwd: first.home, mcpServers: [] })
        assert.strictEqual(error?.["code"], -32002)
      }
      assert.strictEqual(yield* turn(second, yield* newSession(second, first.home), "hi"), "end_turn")
    })
  )

  for (const [name, damage] of [
    ["cut in half", (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2 / 4096) * 4096)],
    ["cut to nothing", (file: string) => truncateSync(file, 0)],
    ["overwritten", (file: string) => writeFileSync(file, "this is no database at all, but long enough ".repeat(500))],
    ["in the way", (file: string) => (rmSync(file), mkdirSync(file))]
  ] as const) {
    it.live(`F52 a damaged store is a clear error, and the agent goes on: ${name}`, () =>
      Effect.gen(function* () {
        const first = yield* open({ steps: [{ again: true, parts: [{ text: "long ", repeat: 5_000 }] }] })
        const session = yield* newSession(first, first.home)
        for (let count = 0; count < 5; count++) yield* turn(first, session, "hi")
        yield* first.closeInput
        yield* first.ended
        damage(join(first.home, "sessions.db"))
        const second = yield* open({ steps: hello, home: first.home })
        const { error } = yield* second.request("session/load", { sessionId: session, cwd: first.home, mcpServers: [] })
        assert.isString(error?.["message"])
        assert.notMatch(String(error?.["message"]), /undefined|SqlError|at Object|Internal error/)
        assert.match(String(error?.["message"]), name === "cut to nothing" ? /session/i : /sessions\.db/)
        // A new session can be opened and used, whether it can be kept or not.
        const fresh = yield* newSession(second, first.home)
        const answer = yield* second.request("session/prompt", {
          sessionId: fresh,
          prompt: [{ type: "text", text: "hi" }]
        })
        assert.strictEqual(textOf(updatesOf(second, fresh)), "hello")
        if (answer.error !== undefined) assert.include(String(answer.error["message"]), "sessions.db")
        yield* second.ok("session/list").pipe(Effect.exit)
      })
    )
  }

  it.live("F53 a session of 30,000 messages and 20 MB of output loads in bounded memory, beside other work", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const place = yield* folder
      const id = yield* store(home, place)
      const agent = yield* open({ home, steps: hello })
      yield* sessionsOf(agent)
      const before = memory(agent, "VmRSS")
      agent.pause()
      const loading = yield* agent.ask("session/load", { sessionId: id, cwd: place, mcpServers: [] })
      const listing = yield* agent.ask("session/list")
      // Nobody reads: what has to wait must wait in the store, not in memory.
      yield* Effect.sleep("300 millis")
      agent.resume()
      yield* listing.answer
      yield* loading.answer
      const order = agent.seen.flatMap(({ id, method }) => (method === undefined ? [id] : []))
      assert.deepStrictEqual(order.slice(-2), [listing.id, loading.id])
      assert.isBelow(memory(agent, "VmHWM") - before, 220)
      const updates = updatesOf(agent, id)
      const messages = updates.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
      assert.lengthOf(messages, 15_000)
      assert.isBelow(agent.bytes(), 20_000_000)
      assert.include(JSON.stringify(callsOf(updates)[0]?.latest), "more characters are not shown")
      // Without a replay for clients that want none.
      const from = mark(agent)
      yield* agent.ok("session/resume", { sessionId: id, cwd: place, mcpServers: [] })
      assert.isBelow(updatesOf(agent, id, from).length, 3)
    })
  )

  it.live("F54 sessions in which nobody said anything are not listed", () =>
    Effect.gen(function* () {
      let agent = yield* open({ steps: hello })
      for (let count = 0; count < 9; count++) {
        yield* newSession(agent, agent.home)
        agent = yield* reopen(agent, { steps: hello })
      }
      yield* newSession(agent, agent.home)
      assert.deepStrictEqual(yield* sessionsOf(agent), [])
    })
  )

  it.live("F57 a session gets a short title of one line, before its first turn is answered, and keeps it", () =>
    Effect.gen(function* () {
      const first = yield* open({ steps: hello })
      const session = yield* newSession(first, first.home)
      yield* turn(first, session, "\n  Fix   the login bug\nsecond line")
      const [info] = ofKind(updatesOf(first, session), "session_info_update")
      assert.strictEqual(info?.["title"], "Fix the login bug")
      assert.match(String(info?.["updatedAt"]), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      const long = yield* newSession(first, first.home)
      yield* turn(first, long, "words ".repeat(100))
      const second = yield* reopen(first, { steps: hello })
      const titles = (yield* sessionsOf(second)).map(({ title, updatedAt }) => [title, typeof updatedAt])
      assert.deepStrictEqual(titles[1], ["Fix the login bug", "string"])
      assert.isAtMost(String(titles[0]![0]).length, 60)
    })
  )

  it.live("F58 closed sessions leave nothing in memory, and can be loaded again", () =>
    Effect.gen(function* () {
      // All these sessions say more than fits: one that stayed would end the agent.
      const agent = yield* open({
        env: { NODE_OPTIONS: "--max-old-space-size=32 --max-semi-space-size=1" },
        steps: [{ again: true, parts: [{ text: "x".repeat(200_000), chunk: 5_000 }] }]
      })
      assert.include(JSON.stringify(agent.seen[0]), '"close":{}')
      let session = ""
      let opened = 0
      for (let count = 0; count < 120; count++) {
        session = yield* newSession(agent, agent.home)
        yield* turn(agent, session, "hi")
        yield* close(agent, session)
        if (count === 10) opened = handles(agent)
      }
      assert.isAtMost(handles(agent), opened)
      yield* load(agent, session, agent.home)
      assert.strictEqual(yield* turn(agent, session, "hi"), "end_turn")
    })
  )

  it.live("F58 closing a session at work is a cancel first", () =>
    Effect.gen(function* () {
      const agent = yield* open({ args: ["--yolo"], steps: [{ parts: [{ text: "wait" }, { hang: true }] }, ...hello] })
      const session = yield* newSession(agent, agent.home)
      const running = yield* prompt(agent, session, "hi")
      const waiting = yield* prompt(agent, session, "and then")
      yield* agent.until("a chunk", () => (textOf(updatesOf(agent, session)) === "" ? undefined : true))
      yield* close(agent, session)
      for (const { answer } of [running, waiting]) {
        assert.strictEqual((yield* answer).result["stopReason"], "cancelled")
      }
      const from = mark(agent)
      yield* agent.ok("session/list")
      assert.deepStrictEqual(updatesOf(agent, session, from), [])
      yield* load(agent, session, agent.home)
      assert.strictEqual(yield* turn(agent, session, "hi"), "end_turn")
    })
  )

  it.live("F59 a fork has the same context and a life of its own", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "ok" }] })
      const agent = yield* open({ config: configFor(server) })
      const one = yield* newSession(agent, place)
      yield* turn(agent, one, "the common part")
      const from = mark(agent)
      const { sessionId } = yield* agent.ok("_superpi/session/fork", { sessionId: one, cwd: place, mcpServers: [] })
      const two = String(sessionId)
      assert.notStrictEqual(two, one)
      // A fork tells nothing: its client has seen the history already.
      yield* agent.ok("session/list")
      assert.deepStrictEqual(
        updatesOf(agent, two, from).filter(({ sessionUpdate }) => String(sessionUpdate).endsWith("_chunk")),
        []
      )
      yield* turn(agent, one, "only in the first")
      yield* turn(agent, two, "only in the second")
      yield* turn(agent, one, "end")
      const [first, second] = server.seen().slice(-2).map(conversationOf).toReversed()
      assert.include(first!.join(), "the common part")
      assert.include(second!.join(), "the common part")
      assert.include(first!.join(), "only in the first")
      assert.notInclude(first!.join(), "only in the second")
      assert.notInclude(second!.join(), "only in the first")
    })
  )
})

/** Writes a long session as an earlier process would have left it. */
const store = Effect.fnUntraced(function* (home: string, cwd: string) {
  const record = recordOf("01a00000-0000-7000-8000-000000000000", { cwd, title: "Long" })
  const call = ToolCallId.make("call_big")
  const turns = Array.from({ length: 15_000 }, (_, index): ReadonlyArray<Entry> => {
    const content = [{ type: "text" as const, text: `question ${index}` }]
    return [
      { _tag: "TurnStarted" },
      { _tag: "UserMessage", messageId: MessageId.make(`u${index}`), content },
      { _tag: "ContextAppended", messages: [{ role: "user", content }] },
      { _tag: "TextDelta", messageId: MessageId.make(`m${index}`), text: "an " },
      { _tag: "TextDelta", messageId: MessageId.make(`m${index}`), text: "answer" },
      {
        _tag: "ContextAppended",
        messages: [{ role: "assistant", content: [{ type: "text", text: "an answer" }] }]
      },
      { _tag: "TurnEnded", outcome: { stopReason: "end_turn" } }
    ]
  })
  const output = "0123456789abcdef\n".repeat(1_200_000)
  const big: ReadonlyArray<Entry> = [
    {
      _tag: "ToolCallStarted",
      call: { id: call, name: "bash", title: "big", kind: "execute", status: "pending", locations: [], content: [] }
    },
    {
      _tag: "ToolCallUpdated",
      id: call,
      patch: { status: "completed", content: [{ type: "content", content: { type: "text", text: output } }] }
    }
  ]
  yield* Effect.scoped(
    Effect.gen(function* () {
      const sessions = yield* openStore(join(home, "sessions.db"))
      yield* sessions.create(record, big)
      yield* sessions.append(record.id, big.length, turns.flat())
    })
  )
  return String(record.id)
})
