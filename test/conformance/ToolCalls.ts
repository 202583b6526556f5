/** Tool calls and the questions about them: conformance §10 and §11. */
import type { SessionUpdate, ToolKind } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { callIn, callsIn, outputOf } from "../support/Calls.ts"
import type { Session } from "../support/ClientSession.ts"
import { calls, says, suite, type Version, yolo } from "../support/Harness.ts"
import { oddServer, secret } from "../support/McpServers.ts"
import { problemsOf } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

const select = (optionId: string) => ({ outcome: { outcome: "selected", optionId } }) as const

const writes = (path: string) => calls(["write", { path, content: "x" }])

const updatesOfCalls = (updates: ReadonlyArray<SessionUpdate>) =>
  updates.flatMap((update) =>
    update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update" ? [update] : []
  )

export const callingTools = (version: Version, transport: Transport): void => {
  const { alone, group } = suite(version, transport)

  group("tool calls", {}, (row) => {
    row(
      "TOL-01, TOL-02, TOL-03, TOL-09, TOL-10, TOL-11 SHOULD report each call with its name, kind, status, places and input",
      {
        steps: [
          calls(
            ["list", { path: "." }],
            ["read", { path: "a.txt", offset: 2, limit: 1 }],
            ["grep", { pattern: "two" }],
            ["glob", { pattern: "*.txt" }],
            ["write", { path: "b.txt", content: "new\n" }],
            ["edit", { path: "a.txt", old_string: "two", new_string: "2" }],
            ["bash", { command: "cat b.txt" }],
            ["todo", { entries: [{ content: "Rest", status: "pending" }] }],
            ["no_such_tool", { a: 1 }]
          ),
          says("Done")
        ]
      },
      Effect.fnUntraced(function* (test) {
        writeFileSync(join(test.folder, "a.txt"), "one\ntwo\nthree\n")
        const session = yield* test.open({ _meta: yolo })
        const made = callsIn((yield* session.run()).updates())
        const kinds: ReadonlyArray<readonly [string, ToolKind]> = [
          ["list", "read"],
          ["read", "read"],
          ["grep", "search"],
          ["glob", "search"],
          ["write", "edit"],
          ["edit", "edit"],
          ["bash", "execute"],
          ["todo", "think"],
          ["no_such_tool", "other"]
        ]
        assert.deepStrictEqual(
          made.map(({ kind, name }) => [name, kind]),
          kinds.map((pair) => [...pair])
        )
        for (const { name, statuses } of made) {
          const expected = name === "no_such_tool" ? ["pending", "failed"] : ["pending", "in_progress", "completed"]
          assert.deepStrictEqual(statuses, expected, String(name))
        }
        const [, read, , , write, edit, , , missing] = made
        assert.deepStrictEqual(read?.locations, [{ path: join(test.folder, "a.txt"), line: 2 }])
        assert.deepStrictEqual(read?.rawInput, { path: "a.txt", offset: 2, limit: 1 })
        assert.match(read?.title ?? "", /a\.txt/)
        assert.deepStrictEqual(write?.locations, [{ path: join(test.folder, "b.txt"), line: 1 }])
        assert.deepStrictEqual(edit?.locations, [{ path: join(test.folder, "a.txt"), line: 2 }])
        assert.match(outputOf(missing ?? {}), /no tool named "no_such_tool"/)
        assert.strictEqual(readFileSync(join(test.folder, "a.txt"), "utf8"), "one\n2\nthree\n")
      })
    )

    row(
      "TOL-01 SHOULD give each call an id of its own, also across turns and openings, whatever ids the model uses",
      {
        steps: [1, 2, 3].flatMap(() => [
          {
            parts: [
              { tool: { name: "todo", input: { entries: [] }, id: "call_1" } },
              { tool: { name: "todo", input: { entries: [] }, id: "call_1" } }
            ]
          },
          says("Done")
        ])
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const first = yield* session.run()
        const second = yield* session.run()
        yield* test.client.request("session/load", { sessionId: session.id, cwd: test.folder, mcpServers: [] })
        const third = yield* session.run()
        const ids = [first, second, third].flatMap((turn) =>
          callsIn(turn.updates()).map(({ toolCallId }) => toolCallId)
        )
        assert.strictEqual(new Set(ids).size, 6)
      })
    )

    row(
      "TOL-04 SHOULD leave a call pending while the question about it is open, and start it only then",
      { steps: [writes("a.txt"), says("Done")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const question = yield* session.asked("session/request_permission")
        assert.deepStrictEqual(callIn(turn.updates()).statuses, ["pending"])
        assert.isFalse(existsSync(join(test.folder, "a.txt")))
        yield* question.answer(select("allow-once"))
        yield* turn.answer
        assert.deepStrictEqual(callIn(turn.updates()).statuses, ["pending", "in_progress", "completed"])
        assert.isTrue(existsSync(join(test.folder, "a.txt")))
      })
    )

    row(
      "TOL-05 MUST replace what a call shows as a whole, and repeat nothing that did not change",
      {
        steps: [
          calls(["bash", { command: "echo first; until [ -e go ]; do sleep 0.02; done; echo second" }]),
          says("Done")
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: yolo })
        const turn = yield* session.prompt()
        yield* turn.told("tool_call_update", (update) => outputOf(update).includes("first\n```"))
        writeFileSync(join(test.folder, "go"), "")
        yield* turn.answer
        const shown = updatesOfCalls(turn.updates()).flatMap((update) =>
          update.content === undefined ? [] : [outputOf(update)]
        )
        assert.match(shown.find((text) => text.includes("first\n")) ?? "", /^```\nfirst\n```$/)
        assert.match(shown.at(-1) ?? "", /first\nsecond/)
        const titles = updatesOfCalls(turn.updates()).filter(({ title }) => typeof title === "string")
        assert.isAtMost(titles.length, 2)
      })
    )

    row(
      "TOL-06, TOL-07 MUST show changes as diffs of absolute paths and whole texts, old text null only for a new file",
      {
        steps: [
          calls(
            ["write", { path: "new.txt", content: "hello\n" }],
            ["write", { path: "empty.txt", content: "filled\n" }],
            ["edit", { path: "old.txt", old_string: "two", new_string: "2" }]
          ),
          says("Done")
        ]
      },
      Effect.fnUntraced(function* (test) {
        writeFileSync(join(test.folder, "empty.txt"), "")
        writeFileSync(join(test.folder, "old.txt"), "one\ntwo\nthree\n")
        const session = yield* test.open({ _meta: yolo })
        const contents = callsIn((yield* session.run()).updates()).flatMap(({ content }) => content ?? [])
        assert.deepStrictEqual(contents, [
          { type: "diff", path: join(test.folder, "new.txt"), oldText: null, newText: "hello\n" },
          { type: "diff", path: join(test.folder, "empty.txt"), oldText: "", newText: "filled\n" },
          {
            type: "diff",
            path: join(test.folder, "old.txt"),
            oldText: "one\ntwo\nthree\n",
            newText: "one\n2\nthree\n"
          }
        ])
      })
    )

    row(
      "TOL-10 MAY show raw input and output, without the secrets of a server",
      { steps: [calls(["mcp__odd__secret", { a: [1, null, "x"] }]), says("Done")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ mcpServers: [oddServer("odd")], _meta: yolo })
        const turn = yield* session.run()
        const call = callIn(turn.updates())
        assert.deepStrictEqual(call.rawInput, { a: [1, null, "x"] })
        assert.include(outputOf(call), "the token is <redacted>")
        assert.notInclude(JSON.stringify(turn.updates()), secret)
      })
    )
  })

  group("questions", {}, (row) => {
    row(
      "PRM-01, PRM-02 MUST ask about a call that it has announced, with options of known kinds",
      { steps: [calls(["bash", { command: "touch made" }]), says("Done")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const { answer, params } = yield* session.asked("session/request_permission")
        assert.deepStrictEqual(problemsOf("RequestPermissionRequest", params), [])
        const call = callIn(turn.updates())
        assert.strictEqual(params.toolCall.toolCallId, call.toolCallId)
        assert.strictEqual(params.toolCall.title, "touch made")
        const kinds = params.options.map(({ kind }) => kind)
        for (const kind of ["allow_once", "allow_always", "reject_once"] as const) assert.include(kinds, kind)
        assert.strictEqual(new Set(params.options.map(({ optionId }) => optionId)).size, params.options.length)
        yield* answer(select("allow-once"))
        yield* turn.answer
        assert.isTrue(existsSync(join(test.folder, "made")))
      })
    )

    for (const [name, reply] of Object.entries({
      "reject once": { result: select("reject-once") },
      "an option that was not offered": { result: select("allow") },
      "an empty option": { result: select("") },
      "an unknown outcome": { result: { outcome: { outcome: "approved", optionId: "allow-once" } } },
      "an outcome without a place": { result: { outcome: "selected", optionId: "allow-once" } },
      "an option without an outcome": { result: { optionId: "allow-once" } },
      nothing: { result: {} },
      null: { result: null },
      true: { result: true },
      "an error": { error: { code: -32601, message: "Method not found" } },
      "a malformed error": { error: "no" },
      "result and error": { result: select("allow-once"), error: { code: 1, message: "no" } }
    })) {
      row(
        `PRM-03 MUST NOT take this for an approval: ${name}`,
        { steps: [writes("never.txt"), says("Not written")] },
        Effect.fnUntraced(function* (test) {
          const session = yield* test.open()
          const turn = yield* session.prompt()
          const question = yield* session.asked("session/request_permission")
          yield* question.say(reply)
          assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
          assert.deepStrictEqual(callIn(turn.updates()).statuses, ["pending", "failed"])
          assert.isFalse(existsSync(join(test.folder, "never.txt")))
        })
      )
    }

    row(
      "PRM-04 SHOULD remember an answer for always in the folder that it was given for, and not in another one",
      { steps: Array.from({ length: 3 }, () => [calls(["bash", { command: "touch made" }]), says("Done")]).flat() },
      Effect.fnUntraced(function* (test) {
        const answering = Effect.fnUntraced(function* (session: Session, optionId: string) {
          const turn = yield* session.prompt()
          const { answer } = yield* session.asked("session/request_permission")
          yield* answer(select(optionId))
          yield* turn.answer
          return callIn(turn.updates()).status
        })
        const session = yield* test.open()
        assert.strictEqual(yield* answering(session, "always-allow"), "completed")
        assert.strictEqual(callIn((yield* session.run()).updates()).status, "completed")
        const elsewhere = join(test.folder, "elsewhere")
        mkdirSync(elsewhere)
        assert.strictEqual(yield* answering(yield* test.open({ cwd: elsewhere }), "reject-once"), "failed")
      })
    )

    row(
      "PRM-04 SHOULD remember a refusal for always",
      { steps: Array.from({ length: 2 }, () => [calls(["bash", { command: "touch made" }]), says("Done")]).flat() },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const { answer } = yield* session.asked("session/request_permission")
        yield* answer(select("reject-always"))
        yield* turn.answer
        assert.strictEqual(callIn((yield* session.run()).updates()).status, "failed")
        assert.isFalse(existsSync(join(test.folder, "made")))
      })
    )

    row(
      "PRM-05, PRM-07 MUST let the questions of several sessions be open at once, none in the way of another",
      {
        steps: [
          { ...writes("one"), when: "one" },
          { ...writes("two"), when: "two" },
          { ...says("Done"), again: true }
        ]
      },
      Effect.fnUntraced(function* (test) {
        const [one, two, free] = [yield* test.open(), yield* test.open(), yield* test.open()]
        const first = yield* one.prompt("one")
        const second = yield* two.prompt("two")
        const questionOne = yield* one.asked("session/request_permission")
        const questionTwo = yield* two.asked("session/request_permission")
        assert.strictEqual((yield* free.run()).response.stopReason, "end_turn")
        yield* questionTwo.answer(select("allow-once"))
        assert.strictEqual((yield* second.answer).stopReason, "end_turn")
        assert.deepStrictEqual(
          ["one", "two"].map((name) => existsSync(join(test.folder, name))),
          [false, true]
        )
        yield* questionOne.answer(select("allow-once"))
        assert.strictEqual((yield* first.answer).stopReason, "end_turn")
        assert.isTrue(existsSync(join(test.folder, "one")))
      })
    )
  })

  if (transport.inProcess) {
    alone(
      "PRM-05 MUST wait for a person as long as it takes",
      { timeless: true, steps: [writes("late.txt"), says("Done")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const { answer } = yield* session.asked("session/request_permission")
        yield* TestClock.adjust("3 days")
        yield* answer(select("allow-once"))
        assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
        assert.isTrue(existsSync(join(test.folder, "late.txt")))
      })
    )
  }
}
