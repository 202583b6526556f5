/** Opening, keeping and leaving sessions: conformance §7. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { callIn, callsIn, outputOf, whereIn } from "../support/Calls.ts"
import { calls, hangs, placeOf, says, suite, type Version, yolo } from "../support/Harness.ts"
import { oddServer } from "../support/McpServers.ts"
import { gone } from "../support/Processes.ts"
import { at, problemsOf } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

const notFound = -32002

export const keepingSessions = (version: Version, transport: Transport): void => {
  const { alone, group } = suite(version, transport)

  group("sessions", {}, (row) => {
    row(
      "SES-01 MUST give each session an id of its own",
      {},
      Effect.fnUntraced(function* (test) {
        const sessions = [yield* test.open(), yield* test.open(), yield* test.open()]
        assert.strictEqual(new Set(sessions.map(({ id }) => id)).size, 3)
        for (const { id } of sessions) assert.isNotEmpty(id)
      })
    )

    row(
      "SES-02 MUST work in the folder of the session, wherever its process was started",
      { steps: [calls(["bash", { command: "pwd; cat here.txt" }], ["read", { path: "here.txt" }]), says("Seen")] },
      Effect.fnUntraced(function* (test) {
        writeFileSync(join(test.folder, "here.txt"), "It is here")
        const session = yield* test.open({ _meta: yolo })
        const [command, read] = callsIn((yield* session.run()).updates())
        assert.include(outputOf(command ?? {}), `${test.folder}\nIt is here`)
        assert.include(outputOf(read ?? {}), "It is here")
      })
    )

    row(
      "SES-03 SHOULD refuse a relative folder with -32602, and one that is not there",
      {},
      Effect.fnUntraced(function* (test) {
        const { client, folder } = test
        const file = join(folder, "file")
        writeFileSync(file, "")
        for (const [params, field] of [
          [{ cwd: "." }, "cwd"],
          [{ cwd: "" }, "cwd"],
          [{ cwd: "src/x" }, "cwd"],
          [{ cwd: join(folder, "missing") }, "cwd"],
          [{ cwd: file }, "cwd"],
          [{ cwd: folder, additionalDirectories: ["x"] }, "additionalDirectories[0]"],
          [{ cwd: folder, additionalDirectories: [folder, join(folder, "missing")] }, "additionalDirectories[1]"],
          [{}, "cwd"],
          [{ cwd: folder, mcpServers: undefined }, "mcpServers"]
        ] as const) {
          const { error } = yield* client.raw("session/new", JSON.parse(JSON.stringify({ mcpServers: [], ...params })))
          assert.strictEqual(error?.code, -32602, JSON.stringify(params))
          assert.strictEqual(at(error?.data, "field"), field)
        }
      })
    )

    row(
      "SES-04 MUST keep sessions apart that work at once",
      {
        steps: ["one", "two"].flatMap((name) => [
          { ...calls(["write", { path: "name.txt", content: name }], ["bash", { command: "pwd" }]), when: name },
          { ...says(`I am ${name}`), when: name }
        ])
      },
      Effect.fnUntraced(function* (test) {
        yield* Effect.forEach(
          ["one", "two"],
          Effect.fnUntraced(function* (name) {
            const cwd = join(test.folder, name)
            mkdirSync(cwd)
            const turn = yield* (yield* test.open({ cwd, _meta: yolo })).run(name)
            assert.strictEqual(turn.text(), `I am ${name}`)
            assert.include(outputOf(callsIn(turn.updates())[1] ?? {}), cwd)
            assert.strictEqual(readFileSync(join(cwd, "name.txt"), "utf8"), name)
          }),
          { concurrency: "unbounded" }
        )
      })
    )

    row(
      "SES-05, CMD-01 SHOULD tell the commands of a new session after its answer",
      {},
      Effect.fnUntraced(function* (test) {
        const { client, folder } = test
        const asked = yield* client.ask("session/new", { cwd: folder, mcpServers: [] })
        const { sessionId } = yield* asked.answer
        const told = yield* client.transcript.find(({ message }, index) =>
          at(message.params, "sessionId") === sessionId &&
          at(message.params, "update", "sessionUpdate") === "available_commands_update"
            ? { index, commands: at(message.params, "update", "availableCommands") }
            : undefined
        )
        assert.isAbove(told.index, yield* asked.answeredAt)
        assert.isArray(told.commands)
        yield* client.request("session/close", { sessionId })
      })
    )

    row(
      "SES-07, SES-08 MUST tell all of the state of a loaded session before its answer, which is an object",
      { steps: [says("Hello")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        yield* session.run()
        const asked = yield* test.client.ask("session/load", { sessionId: session.id, ...placeOf(test) })
        const answer = yield* asked.answer
        assert.deepStrictEqual(problemsOf("LoadSessionResponse", answer), [])
        assert.strictEqual(answer.modes?.currentModeId, "ask")
        assert.isNotEmpty(answer.configOptions)
        const told = session.updates(asked.at).map(({ sessionUpdate }) => sessionUpdate)
        assert.include(told, "available_commands_update")
        yield* test.client.barrier
        assert.lengthOf(session.updates(asked.at), told.length)
      })
    )

    row(
      "SES-12 SHOULD answer -32002 for a session that it does not know, whatever is asked",
      {},
      Effect.fnUntraced(function* (test) {
        const sessionId = "0195-no-such-session"
        for (const [method, params] of [
          ["session/prompt", { prompt: [test.text("x")] }],
          ["session/load", placeOf(test)],
          ["session/resume", placeOf(test)],
          ["session/set_mode", { modeId: "ask" }],
          ["session/set_config_option", { configId: "mode", value: "ask" }],
          ["session/close", {}],
          ["_superpi/session/fork", placeOf(test)]
        ] as const) {
          const { error } = yield* test.client.raw(method, { sessionId, ...params })
          assert.strictEqual(error?.code, notFound, method)
          assert.strictEqual(at(error?.data, "sessionId"), sessionId, method)
        }
      })
    )

    row(
      "SES-13 SHOULD refuse to open a session in another folder than its own",
      { steps: [says("Hello")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        yield* session.run()
        for (const method of ["session/load", "session/resume"]) {
          const params = { sessionId: session.id, cwd: test.home, mcpServers: [] }
          assert.strictEqual((yield* test.client.raw(method, params)).error?.code, -32602)
        }
      })
    )

    row(
      "SES-15, SES-17, SES-27 MUST list the sessions of a folder, with a title from the first turn, and change nothing",
      { steps: [{ ...says("Hello"), again: true }] },
      Effect.fnUntraced(function* (test) {
        const { client, folder } = test
        const list = (params: object) => client.request("session/list", params)
        assert.deepStrictEqual((yield* list({ cwd: folder })).sessions, [])
        const first = yield* test.open()
        const turn = yield* first.prompt("Mend the fence\nand more")
        const info = yield* turn.told("session_info_update", ({ title }) => title !== undefined)
        assert.match(info.title ?? "", /^Mend the fence/)
        yield* turn.answer
        const second = yield* test.open()
        yield* second.run()
        const { sessions } = yield* list({ cwd: folder })
        assert.deepStrictEqual(
          sessions.map(({ cwd, sessionId }) => [cwd, sessionId]),
          [
            [folder, second.id],
            [folder, first.id]
          ]
        )
        assert.strictEqual(sessions[1]?.title, info.title)
        for (const { updatedAt } of sessions) assert.match(updatedAt ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
        assert.deepStrictEqual(
          (yield* list({ cwd: `${folder}/` })).sessions.length + (yield* list({ cwd: "/" })).sessions.length,
          0
        )
        assert.includeMembers(
          (yield* list({})).sessions.map(({ sessionId }) => sessionId),
          [first.id, second.id]
        )
        assert.deepStrictEqual(yield* list({ cwd: folder }), { sessions })
        assert.strictEqual((yield* first.run()).response.stopReason, "end_turn")
      })
    )

    row(
      "SES-16 SHOULD refuse a cursor that it did not give with -32602",
      {},
      Effect.fnUntraced(function* (test) {
        for (const cursor of ["nonsense", "", "e30", "bnVsbA"]) {
          assert.strictEqual((yield* test.client.raw("session/list", { cursor })).error?.code, -32602, cursor)
        }
      })
    )

    row(
      "SES-18 MUST cancel what runs when a session is closed, answer the prompt first, and free its servers",
      { steps: [{ ...calls(["mcp__odd__where", {}]), when: "where" }, { ...says("There"), when: "where" }, hangs] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ mcpServers: [oddServer("odd", "has-child")], _meta: yolo })
        const { child, pid } = whereIn((yield* session.run("where")).updates())
        const turn = yield* session.prompt()
        const waiting = yield* session.prompt()
        const closed = yield* test.client.rawAsk("session/close", { sessionId: session.id })
        assert.deepStrictEqual((yield* closed.answer).result, {})
        assert.strictEqual((yield* turn.answer).stopReason, "cancelled")
        assert.strictEqual((yield* waiting.answer).stopReason, "cancelled")
        assert.isBelow(yield* turn.answeredAt, yield* closed.answeredAt)
        assert.isBelow(yield* waiting.answeredAt, yield* closed.answeredAt)
        yield* gone(pid, child ?? 0)
        assert.strictEqual(
          (yield* test.client.raw("session/prompt", { sessionId: session.id, prompt: [test.text("x")] })).error?.code,
          notFound
        )
      })
    )

    row(
      "SES-19 MAY refuse to close a session twice",
      {},
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        assert.deepStrictEqual((yield* test.client.raw("session/close", { sessionId: session.id })).result, {})
        assert.strictEqual((yield* test.client.raw("session/close", { sessionId: session.id })).error?.code, notFound)
        // The SDK takes that for a success, as the protocol advises clients to.
        yield* test.client.request("session/close", { sessionId: session.id })
      })
    )

    row(
      "SES-21, SES-22 MUST forget a deleted session, and succeed for one that is not there",
      { steps: [says("Hello"), hangs] },
      Effect.fnUntraced(function* (test) {
        const { client, folder } = test
        const session = yield* test.open()
        yield* session.run()
        const turn = yield* session.prompt()
        assert.deepStrictEqual((yield* client.raw("session/delete", { sessionId: session.id })).result, {})
        assert.strictEqual((yield* turn.answer).stopReason, "cancelled")
        assert.deepStrictEqual((yield* client.request("session/list", { cwd: folder })).sessions, [])
        assert.strictEqual(
          (yield* client.raw("session/load", { sessionId: session.id, ...placeOf(test) })).error?.code,
          notFound
        )
        for (const sessionId of [session.id, "never-there"]) {
          assert.deepStrictEqual((yield* client.raw("session/delete", { sessionId })).result, {})
        }
      })
    )
  })

  alone(
    "SES-29, SES-30 MUST take additional folders as part of the workspace, which bounds what needs no question",
    {
      steps: [
        calls(["read", { path: "~/config.toml" }]),
        says("Read"),
        calls(["read", { path: "~/config.toml" }]),
        says("Read")
      ],
      config: "[acp]\n"
    },
    Effect.fnUntraced(function* (test) {
      const { client } = test
      const session = yield* test.open({ additionalDirectories: [test.home] })
      assert.strictEqual(callIn((yield* session.run()).updates()).status, "completed")
      yield* client.request("session/close", { sessionId: session.id })
      yield* client.request("session/load", { sessionId: session.id, ...placeOf(test) })
      const turn = yield* session.prompt()
      const question = yield* session.asked("session/request_permission")
      yield* question.answer({ outcome: { outcome: "selected", optionId: "reject-once" } })
      yield* turn.answer
      assert.strictEqual(callIn(turn.updates()).status, "failed")
    })
  )

  alone(
    "SES-30 SHOULD ask before it writes outside the workspace, even where edits need no question",
    {
      steps: [
        calls(["write", { path: "~/outside.txt", content: "x" }], ["write", { path: "inside.txt", content: "x" }]),
        says("Written")
      ]
    },
    Effect.fnUntraced(function* (test) {
      const session = yield* test.open()
      yield* session.setMode("accept-edits")
      const turn = yield* session.prompt()
      const question = yield* session.asked("session/request_permission")
      yield* question.answer({ outcome: { outcome: "selected", optionId: "reject-once" } })
      yield* turn.answer
      assert.deepStrictEqual(
        callsIn(turn.updates()).map(({ status }) => status),
        ["failed", "completed"]
      )
      assert.deepStrictEqual([join(test.home, "outside.txt"), join(test.folder, "inside.txt")].map(existsSync), [
        false,
        true
      ])
    })
  )

  alone(
    "SES-16 SHOULD list many sessions in pages, each once",
    { steps: [{ ...says("Hello"), again: true }] },
    Effect.fnUntraced(function* (test) {
      const { client, folder } = test
      const made = yield* Effect.forEach(
        Array.from({ length: 120 }),
        Effect.fnUntraced(function* () {
          const { sessionId } = yield* client.request("session/new", placeOf(test))
          yield* test.session(sessionId).run()
          return sessionId
        }),
        { concurrency: 4 }
      )
      const found: Array<string> = []
      let cursor: string | undefined
      let pages = 0
      do {
        const page = yield* client.request("session/list", { cwd: folder, ...(cursor === undefined ? {} : { cursor }) })
        found.push(...page.sessions.map(({ sessionId }) => sessionId))
        cursor = page.nextCursor ?? undefined
        pages += 1
      } while (cursor !== undefined)
      assert.isAbove(pages, 1)
      assert.deepStrictEqual(found.toSorted(), made.toSorted())
    })
  )
}
