import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { isAbsolute, join, normalize } from "node:path"
import { oddServer } from "../support/mcp/odd.ts"
import { folder } from "../support/Program.ts"
import { load, newSession, open, prompt, turn } from "../support/Probe.ts"
import { type JsonObject } from "../support/RawAgent.ts"
import { at } from "../support/Schema.ts"
import { callsOf, mark, ofKind, shownBy, textOf, type ToolCall, updatesOf, watched } from "../support/Updates.ts"

type Input = JsonObject | string
const call = (name: string, input: Input, id?: string) => ({
  tool: { name, input, ...(id === undefined ? {} : { id }) }
})
const done = { parts: [{ text: "done" }] }

/** Runs the calls in one turn, and gives what was told of them. */
const run = Effect.fnUntraced(function* (
  place: string,
  parts: ReadonlyArray<ReturnType<typeof call>>,
  more: JsonObject = {}
) {
  const agent = yield* open({ args: ["--yolo"], steps: [{ parts }, done] })
  const session = yield* newSession(agent, place, more)
  assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
  const updates = updatesOf(agent, session)
  assert.strictEqual(textOf(updates), "done")
  return { agent, updates, calls: callsOf(updates) }
})

/** Announced first and once, ended once and last. */
const assertLife = ({ id, statuses, updates }: ToolCall, end: string) => {
  assert.match(id, /\S/)
  assert.deepStrictEqual(
    updates.flatMap(({ sessionUpdate }, index) => (sessionUpdate === "tool_call" ? [index] : [])),
    [0]
  )
  assert.strictEqual(statuses[0], "pending")
  assert.deepStrictEqual(
    statuses.flatMap((status, index) => (status === "completed" || status === "failed" ? [index, status] : [])),
    [statuses.length - 1, end]
  )
}

const locationsOf = ({ latest }: ToolCall): ReadonlyArray<unknown> => {
  const { locations } = latest
  return Array.isArray(locations) ? locations : []
}

describe("1i. tool calls and output", () => {
  it.live("F71 every call is announced, and ends, whatever the model sends", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const { calls } = yield* run(place, [
        call("teleport", { to: "moon" }),
        call("read", '{"path": "a'),
        call("list", {}, "same"),
        call("list", {}, "same"),
        call("bash", { command: 7 }),
        ...Array.from({ length: 5 }, () => call("list", {}))
      ])
      assert.lengthOf(calls, 10)
      const ends = ["failed", "failed", "completed", "completed", "failed", ...Array(5).fill("completed")]
      for (const [index, one] of calls.entries()) {
        assertLife(one, ends[index])
        if (ends[index] === "failed") assert.isNotEmpty(shownBy(one.latest))
      }
      assert.include(shownBy(calls[0]!.latest), "no tool named")
    })
  )

  it.live("F72 a call says what it does, on what, and why it failed", () =>
    Effect.gen(function* () {
      const place = yield* folder
      writeFileSync(join(place, "a.ts"), "const a = 1\n")
      const expected = [
        ["read", { path: "a.ts" }, "Read a.ts", "read", "completed"],
        ["edit", { path: "a.ts", old_string: "1", new_string: "2" }, "Edit a.ts", "edit", "completed"],
        ["bash", { command: "echo hi" }, "echo hi", "execute", "completed"],
        ["grep", { pattern: "const" }, 'Search "const" in .', "search", "completed"],
        ["mcp__m__where", {}, "m: where", "other", "completed"],
        ["read", { path: "gone.ts" }, "Read gone.ts", "read", "failed"],
        ["edit", { path: "a.ts", old_string: "zzz", new_string: "2" }, "Edit a.ts", "edit", "failed"],
        ["bash", { command: "echo why; exit 4" }, "echo why; exit 4", "execute", "failed"],
        ["grep", { pattern: "(" }, 'Search "(" in .', "search", "failed"],
        ["mcp__m__fail", {}, "m: fail", "other", "failed"]
      ] as const
      const { calls } = yield* run(
        place,
        expected.map(([name, input]) => call(name, input)),
        { mcpServers: [oddServer("m")] }
      )
      assert.deepStrictEqual(
        calls.map(({ latest }) => [
          latest["name"],
          latest["rawInput"],
          latest["title"],
          latest["kind"],
          latest["status"]
        ]),
        expected.map((row) => [...row])
      )
      for (const { id, latest, statuses } of calls) {
        if (latest["status"] === "failed") assert.isNotEmpty(shownBy(latest).trim(), id)
        assert.include(statuses, "in_progress")
      }
      assert.include(shownBy(calls[7]!.latest), "why")
      assert.include(shownBy(calls[7]!.latest), "exit code 4")
    })
  )

  it.live("F73 a call without a path has no place", () =>
    Effect.gen(function* () {
      const place = yield* folder
      // Each line is held against the official schema, the updates of these calls too.
      const { calls } = yield* run(place, [
        call("read", {}),
        call("read", { path: null }),
        call("read", { path: "" }),
        call("edit", { path: 7 })
      ])
      for (const one of calls) {
        assert.deepStrictEqual(locationsOf(one), [])
        assert.strictEqual(one.latest["status"], "failed")
        assert.include(shownBy(one.latest), "path")
      }
    })
  )

  it.live("F74 places are absolute paths of one file or folder, and lines are told apart", () =>
    Effect.gen(function* () {
      const place = yield* folder
      mkdirSync(join(place, "sub"))
      writeFileSync(join(place, "a.c"), "x\n".repeat(300))
      writeFileSync(join(place, "a; b"), "x\n")
      const { calls } = yield* run(place, [
        call("read", { path: "a.c", offset: 10, limit: 220 }),
        call("glob", { pattern: "**/*.c" }),
        call("list", { path: "sub" }),
        call("read", { path: "./sub/../a.c" }),
        call("read", { path: "a; b" }),
        call("write", { path: "sub//new.txt", content: "x" }),
        call("read", { path: `file://${place}/a.c#L3` })
      ])
      assert.deepStrictEqual(calls.map(locationsOf), [
        [{ path: join(place, "a.c"), line: 10 }],
        [],
        [{ path: join(place, "sub") }],
        [{ path: join(place, "a.c") }],
        [{ path: join(place, "a; b") }],
        [{ path: join(place, "sub/new.txt"), line: 1 }],
        [{ path: join(place, "a.c"), line: 3 }]
      ])
      for (const location of calls.flatMap(locationsOf)) {
        const path = String(at(JSON.parse(JSON.stringify(location)), "path"))
        assert.isTrue(isAbsolute(path) && normalize(path) === path && existsSync(path), path)
      }
    })
  )

  for (const [name, command] of [
    ["many lines", "seq 1 2000000"],
    ["one line that is written over and over", "for i in $(seq 1 200000); do printf '\\r%d of 200000' $i; done; echo"],
    ["one line without end", "head -c 8000000 /dev/zero | tr '\\0' x"]
  ] as const) {
    it.live(`F76 a chatty command stays cheap: ${name}`, () =>
      Effect.gen(function* () {
        const place = yield* folder
        const { agent, calls } = yield* run(place, [call("bash", { command })])
        assert.strictEqual(calls[0]!.latest["status"], "completed")
        assert.isBelow(agent.bytes(), 1_000_000)
        const text = shownBy(calls[0]!.latest)
        assert.isTrue(text.isWellFormed())
        const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${agent.pid}/status`, "utf8"))?.[1]) / 1024
        assert.isBelow(peak, 250)
        if (name !== "many lines") return
        assert.match(text, /\n1\n2\n3\n/)
        assert.match(text, /\n1999999\n2000000\n/)
        const file = /(\/\S+output-\S+\.txt)/.exec(text)?.[1] ?? ""
        assert.strictEqual(readFileSync(file, "utf8").split("\n").length, 2_000_001)
      })
    )
  }

  for (const [name, capabilities] of [
    ["with a terminal of its own", { terminal: true }],
    ["without", {}]
  ] as const) {
    it.live(`F77 output is seen while the command runs, by a client ${name}`, () =>
      Effect.gen(function* () {
        const place = yield* folder
        const command = "echo first; until [ -e go ]; do sleep 0.02; done; echo second"
        const agent = yield* open({
          capabilities,
          args: ["--yolo"],
          steps: [{ parts: [call("bash", { command })] }, done]
        })
        const session = yield* newSession(agent, place)
        const { answer } = yield* prompt(agent, session, "go")
        const shown = () => callsOf(updatesOf(agent, session)).slice(0, 1)
        yield* agent.until("the first words", () => shown().find((one) => /\nfirst\n/.test(watched(one))))
        assert.notMatch(watched(shown()[0]!), /\nsecond\n/)
        writeFileSync(join(place, "go"), "")
        yield* answer
        assert.match(shownBy(shown()[0]!.latest), /\nfirst\nsecond\n/)
      })
    )
  }

  it.live("F77 a client that shows terminals of the agent has the output in one while the command runs", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const command = "echo first; until [ -e go ]; do sleep 0.02; done; echo second"
      const agent = yield* open({
        capabilities: { terminal: true, _meta: { terminal_output: true } },
        args: ["--yolo"],
        steps: [{ parts: [call("bash", { command })] }, done]
      })
      const session = yield* newSession(agent, place)
      const { answer } = yield* prompt(agent, session, "go")
      const shown = () => callsOf(updatesOf(agent, session))[0]
      const data = () =>
        (shown()?.updates ?? []).map(({ _meta }) => at(_meta, "terminal_output", "data") ?? "").join("")
      yield* agent.until("the first words", () => data() === "first\n" || undefined)
      const { id = "", updates = [] } = shown() ?? {}
      assert.deepStrictEqual(updates[0]?.["content"], [{ type: "terminal", terminalId: id }])
      writeFileSync(join(place, "go"), "")
      yield* answer
      assert.strictEqual(data(), "first\nsecond\n")
      const { _meta, content } = shown()?.latest ?? {}
      assert.deepStrictEqual(at(_meta, "terminal_exit"), { terminal_id: id, exit_code: 0, signal: null })
      assert.deepStrictEqual(content, [{ type: "terminal", terminalId: id }])
    })
  )

  it.live("F78 output is text: no colours, no control characters, nothing that becomes a heading", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const command =
        "printf '\\033[31mred\\033[0m\\n# x\\n\\033]0;title\\007'; " +
        "printf '\\000\\001\\377\\376\\033[2J```\\n'; printf '%s\\n' \"[$NO_COLOR]\" \"[$TERM]\""
      const { calls } = yield* run(place, [call("bash", { command })])
      const text = shownBy(calls[0]!.latest)
      // oxlint-disable-next-line no-control-regex
      assert.notMatch(watched(calls[0]!), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
      assert.include(text, "red\n# x\n")
      assert.include(text, "[1]")
      assert.include(text, "exit code 0")
      // The fence is longer than any inside.
      assert.match(text, /^````+\n/)
    })
  )

  it.live("F81 the list of things to do is the plan, complete each time, and there again after a load", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const entry = (content: string, status: string) => ({ content, status })
      const lists = [
        [entry("a", "pending"), entry("b", "pending"), entry("c", "pending")],
        [entry("a", "completed"), entry("b", "in_progress"), entry("c", "cancelled")],
        []
      ]
      const options = {
        steps: [
          ...lists.map((entries, index) => ({ when: `list ${index}`, parts: [call("todo", { entries })] })),
          { ...done, again: true }
        ]
      }
      const agent = yield* open(options)
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "list 0")
      yield* turn(agent, session, "list 1")
      const plans = () => ofKind(updatesOf(agent, session), "plan").map(({ entries }) => entries)
      const planned = (entries: ReadonlyArray<JsonObject>) => entries.map((one) => ({ ...one, priority: "medium" }))
      assert.deepStrictEqual(plans(), [planned(lists[0]!), planned(lists[1]!.slice(0, 2))])
      yield* agent.closeInput
      yield* agent.ended
      const next = yield* open({ ...options, home: agent.home })
      yield* load(next, session, place)
      assert.deepStrictEqual(
        ofKind(updatesOf(next, session), "plan").at(-1)?.["entries"],
        planned(lists[1]!.slice(0, 2))
      )
      const from = mark(next)
      // The script begins anew with its process.
      yield* turn(next, session, "list 2")
      assert.deepStrictEqual(
        ofKind(updatesOf(next, session, from), "plan").map(({ entries }) => entries),
        [[]]
      )
    })
  )
})
