/** Opening, keeping and leaving sessions: conformance §7. */
import type { McpServer, SessionUpdate } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { callIn, callsIn, outputOf, whereIn } from "../support/Calls.ts"
import { calls, hangs, says, suite, type Test, type Version, yolo } from "../support/Harness.ts"
import { oddServer } from "../support/McpServers.ts"
import { useLocalModel } from "../support/LocalModel.ts"
import { gone } from "../support/Processes.ts"
import { at, problemsOf } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

const notFound = -32002

const placeOf = (test: Test, mcpServers: Array<McpServer> = []) => ({ cwd: test.folder, mcpServers })

/** What a client has of a conversation in the end, however it was cut into updates. */
const historyOf = (updates: ReadonlyArray<SessionUpdate>): ReadonlyArray<unknown> => {
  const seen: Array<unknown> = []
  let message: { readonly id: unknown; readonly kind: string; text: string } | undefined
  const finals = new Map(callsIn(updates).map((call) => [call.toolCallId, { ...call, statuses: [] }]))
  for (const update of updates) {
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk": {
        const text = update.content.type === "text" ? update.content.text : JSON.stringify(update.content)
        if (message?.id === update.messageId && message?.kind === update.sessionUpdate) message.text += text
        else seen.push((message = { id: update.messageId, kind: update.sessionUpdate, text }))
        break
      }
      case "tool_call":
        seen.push(finals.get(update.toolCallId))
        break
      case "plan":
        seen.push(update)
        break
      default:
    }
  }
  return seen
}

const busyTurn = [
  {
    parts: [
      { thought: "Let me ", chunk: 3 },
      { text: "I look into it. 漢字🎉", chunk: 2 },
      { tool: { name: "todo", input: { entries: [{ content: "Look", status: "completed" }] } } },
      { tool: { name: "write", input: { path: "a.txt", content: "one\n" } } },
      { tool: { name: "bash", input: { command: "echo out; exit 3" } } }
    ]
  },
  says("It is done.")
]

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
      { steps: [{ ...calls(["odd__where", {}]), when: "where" }, { ...says("There"), when: "where" }, hangs] },
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
    "SES-06 MUST tell the whole conversation of a session of an earlier process, as it was told then",
    { steps: [...busyTurn, says("Again")] },
    Effect.fnUntraced(function* (test) {
      const session = yield* test.open({ _meta: yolo })
      const first = yield* session.run()
      const second = yield* session.run("and then")
      const live = [first, second].map((turn) => historyOf(turn.updates()))
      yield* test.client.cut("kill")

      const next = yield* test.restart()
      const asked = yield* next.client.ask("session/load", { sessionId: session.id, ...placeOf(test) })
      const answer = yield* asked.answer
      const told = next.session(session.id, answer).updates(asked.at)
      const prompts = told.flatMap((update) =>
        update.sessionUpdate === "user_message_chunk" && update.content.type === "text" ? [update.content.text] : []
      )
      assert.deepStrictEqual(prompts, [test.text("go").text, test.text("and then").text])
      const replayed = historyOf(told)
      const [, ...rest] = replayed
      const split = rest.findIndex((item) => at(item, "kind") === "user_message_chunk")
      assert.deepStrictEqual([rest.slice(0, split), rest.slice(split + 1)], live)
    })
  )

  alone(
    "SES-06 MUST load a session whose process was killed in mid-turn, with its open calls closed",
    { steps: [{ parts: [{ text: "I call it" }, { tool: { name: "odd__hang", input: {} } }] }] },
    Effect.fnUntraced(function* (test) {
      const session = yield* test.open({ mcpServers: [oddServer("odd")], _meta: yolo })
      const turn = yield* session.prompt()
      yield* turn.told("tool_call_update", ({ status }) => status === "in_progress")
      // A fork is made of what is on the disk, so now all of this is.
      const fork = yield* test.client.raw("_superpi/session/fork", { sessionId: session.id, ...placeOf(test) })
      assert.isUndefined(fork.error)
      yield* test.client.cut("kill")

      const next = yield* test.restart()
      const asked = yield* next.client.ask("session/load", { sessionId: session.id, ...placeOf(test) })
      const loaded = next.session(session.id, yield* asked.answer)
      const told = loaded.updates(asked.at)
      assert.strictEqual(callIn(told).status, "failed")
      assert.include(JSON.stringify(historyOf(told)), "I call it")
    })
  )

  alone(
    "SES-09, TRN-13 MUST NOT tell a notice again that was told live",
    { capabilities: { session: { notices: {} } }, steps: [says("Hello")] },
    Effect.fnUntraced(function* (test) {
      const dead = { name: "dead", command: "/nonexistent/server", args: [], env: [] }
      const session = yield* test.open({ mcpServers: [dead] })
      const turn = yield* session.run()
      const notices = turn.updates().filter(({ sessionUpdate }) => sessionUpdate === "notice")
      assert.lengthOf(notices, 1)
      const asked = yield* test.client.ask("session/load", { sessionId: session.id, ...placeOf(test) })
      yield* asked.answer
      assert.notInclude(
        session.updates(asked.at).map(({ sessionUpdate }) => sessionUpdate),
        "notice"
      )
    })
  )

  alone(
    "SES-10 MUST resume without telling the conversation, and let the model remember it",
    { scripted: false },
    Effect.fnUntraced(function* (test) {
      const server = yield* useLocalModel(test.home)
      server.answer({ pieces: [{ text: "Nice to meet you" }] })
      const session = yield* test.open()
      yield* session.run("My name is Ada")
      yield* test.client.cut("kill")

      const { client, session: sessionOf } = yield* test.restart()
      const asked = yield* client.ask("session/resume", { sessionId: session.id, ...placeOf(test) })
      const answer = yield* asked.answer
      assert.strictEqual(answer.modes?.currentModeId, "ask")
      const resumed = sessionOf(session.id, answer)
      const answeredAt = yield* asked.answeredAt
      assert.deepStrictEqual(resumed.updates(asked.at, answeredAt), [])
      const turn = yield* resumed.run("What is my name?")
      assert.strictEqual(turn.response.stopReason, "end_turn")
      const kinds = resumed.updates(asked.at).map(({ sessionUpdate }) => sessionUpdate)
      assert.notInclude(kinds, "user_message_chunk")
      const messages = at(server.seen().at(-1)?.body, "messages")
      const roles = Array.isArray(messages) ? messages.map((message) => at(message, "role")) : []
      assert.deepStrictEqual(roles, ["system", "user", "assistant", "user"])
      for (const words of ["My name is Ada", "Nice to meet you", "What is my name?"]) {
        assert.include(JSON.stringify(messages), words)
      }
    })
  )

  alone(
    "SES-14 MUST give an opened session the servers of that request, and no others",
    {
      steps: ["odd", "other"].flatMap((name) => [
        { ...calls([`${name}__where`, {}], ["todo", { entries: [] }]), when: name },
        { ...says("There"), when: name },
        { ...calls([`${name}__where`, {}], ["todo", { entries: [] }]), when: name },
        { ...says("There"), when: name }
      ])
    },
    Effect.fnUntraced(function* (test) {
      const { client } = test
      const session = yield* test.open({ mcpServers: [oddServer("odd")], _meta: yolo })
      const statuses = (turn: { readonly updates: () => ReadonlyArray<SessionUpdate> }) =>
        callsIn(turn.updates()).map(({ status }) => status)
      const first = yield* session.run("odd")
      assert.deepStrictEqual(statuses(first), ["completed", "completed"])
      const { pid } = JSON.parse(outputOf(callsIn(first.updates())[0] ?? {}))
      yield* client.request("session/load", { sessionId: session.id, ...placeOf(test, [oddServer("other")]) })
      yield* gone(pid)
      assert.deepStrictEqual(statuses(yield* session.run("odd")), ["failed", "completed"])
      assert.deepStrictEqual(statuses(yield* session.run("other")), ["completed", "completed"])
      yield* client.request("session/resume", { sessionId: session.id, cwd: test.folder })
      assert.deepStrictEqual(statuses(yield* session.run("other")), ["failed", "completed"])
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
