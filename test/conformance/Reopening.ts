/** Loading and resuming sessions: conformance §7. */
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { callIn, callsIn, outputOf } from "../support/Calls.ts"
import { calls, placeOf, says, suite, type Version, yolo } from "../support/Harness.ts"
import { useLocalModel } from "../support/LocalModel.ts"
import { oddServer } from "../support/McpServers.ts"
import { gone } from "../support/Processes.ts"
import { at } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

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

export const reopeningSessions = (version: Version, transport: Transport): void => {
  const { alone } = suite(version, transport)

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
    { steps: [{ parts: [{ text: "I call it" }, { tool: { name: "mcp__odd__hang", input: {} } }] }] },
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
        { ...calls([`mcp__${name}__where`, {}], ["todo", { entries: [] }]), when: name },
        { ...says("There"), when: name },
        { ...calls([`mcp__${name}__where`, {}], ["todo", { entries: [] }]), when: name },
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
}
