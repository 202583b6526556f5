/** Cancelling: conformance §9. */
import type { PromptResponse } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { callIn, callsIn, outputOf, whereIn } from "../support/Calls.ts"
import type { Session } from "../support/ClientSession.ts"
import type { Asked } from "../support/Client.ts"
import { calls, hangs, says, suite, type Test, type Version, yolo } from "../support/Harness.ts"
import { useLocalModel } from "../support/LocalModel.ts"
import { oddServer } from "../support/McpServers.ts"
import { gone, isAlive } from "../support/Processes.ts"
import { at } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

const sleeping = calls([
  "bash",
  { command: "echo pid $$; sleep 1000 & echo pid $!; wait", unsandboxed: true, reason: "watched by number" }
])

const pidsIn = (text: string): ReadonlyArray<number> =>
  Array.from(text.matchAll(/pid (\d+)/g), ([, digits]) => Number(digits))

const note = (method: string, params: object): string => JSON.stringify({ jsonrpc: "2.0", method, params })

/** Cancels, and holds that the prompt is answered `cancelled` and that the session then works on. */
const cancels = Effect.fnUntraced(function* (session: Session, turn: Asked<PromptResponse>) {
  yield* session.cancel
  assert.strictEqual((yield* turn.answer).stopReason, "cancelled")
  assert.strictEqual((yield* session.run("afterwards")).response.stopReason, "end_turn")
})

const afterwards = { ...says("I go on"), when: "afterwards" }

export const cancelling = (version: Version, transport: Transport): void => {
  const { alone, group } = suite(version, transport)

  group("cancelling", {}, (row) => {
    row(
      "CAN-01 MUST answer cancelled before the first byte of the model",
      { steps: [afterwards, hangs] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        yield* cancels(session, yield* session.prompt())
      })
    )

    row(
      "CAN-01, CAN-02 MUST answer cancelled while text streams, after all that was told, and then be silent",
      { steps: [afterwards, { parts: [{ repeat: 20_000, text: "word " }, { text: "the end" }, { hang: true }] }] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        yield* turn.told("agent_message_chunk")
        yield* session.cancel
        assert.strictEqual((yield* turn.answer).stopReason, "cancelled")
        yield* test.client.barrier
        assert.deepStrictEqual(session.updates(yield* turn.answeredAt), [])
        const asked = yield* test.client.ask("session/load", {
          sessionId: session.id,
          cwd: test.folder,
          mcpServers: []
        })
        yield* asked.answer
        const kept = session
          .updates(asked.at)
          .flatMap((update) => (update.sessionUpdate === "agent_message_chunk" ? [at(update, "content", "text")] : []))
        assert.strictEqual(kept.join(""), turn.text())
      })
    )

    row(
      "CAN-01, CAN-03, CAN-04 MUST answer cancelled while a command runs, whose processes are gone and whose call has failed",
      { steps: [afterwards, sleeping] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: yolo })
        const turn = yield* session.prompt()
        const shown = yield* turn.told("tool_call_update", (update) => pidsIn(outputOf(update)).length === 2)
        const pids = pidsIn(outputOf(shown))
        assert.deepStrictEqual(pids.map(isAlive), [true, true])
        yield* cancels(session, turn)
        yield* gone(...pids)
        const call = callIn(turn.updates())
        assert.deepStrictEqual(call.statuses, ["pending", "in_progress", "failed"])
      })
    )

    row(
      "CAN-01, CAN-08 MUST answer cancelled while a question is open, and take the question back first",
      { steps: [afterwards, calls(["write", { path: "never.txt", content: "x" }])] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const question = yield* session.asked("session/request_permission")
        yield* cancels(session, turn)
        yield* question.withdrawn
        assert.strictEqual(callIn(turn.updates()).status, "failed")
        const withdrawnAt = yield* test.client.transcript.find(({ from, message }, index) =>
          from === "agent" && message.method === "$/cancel_request" && at(message.params, "requestId") === question.id
            ? index
            : undefined
        )
        assert.isBelow(withdrawnAt, yield* turn.answeredAt)
        assert.isFalse(existsSync(join(test.folder, "never.txt")))
      })
    )

    for (const [name, late] of [
      ["an approval", { result: { outcome: { outcome: "selected", optionId: "allow-once" } } }],
      ["cancelled", { result: { outcome: { outcome: "cancelled" } } }],
      ["an error", { error: { code: -32800, message: "Request cancelled" } }]
    ] as const) {
      row(
        `CAN-08 SHOULD take a late answer to a question that it took back: ${name}`,
        { steps: [afterwards, calls(["write", { path: "never.txt", content: "x" }])] },
        Effect.fnUntraced(function* (test) {
          const session = yield* test.open()
          const turn = yield* session.prompt()
          const question = yield* session.asked("session/request_permission")
          yield* session.cancel
          // As clients do that know nothing of `$/cancel_request`: the answer comes after the cancel.
          yield* question.say(late)
          assert.strictEqual((yield* turn.answer).stopReason, "cancelled")
          assert.strictEqual((yield* session.run("afterwards")).response.stopReason, "end_turn")
          assert.isFalse(existsSync(join(test.folder, "never.txt")))
        })
      )
    }

    row(
      "CAN-01, CAN-03 MUST answer cancelled while a server works, and go on with that server",
      {
        steps: [
          afterwards,
          { ...calls(["mcp__odd__where", {}]), when: "where" },
          { ...says("There"), when: "where" },
          calls(["mcp__odd__hang", {}])
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ mcpServers: [oddServer("odd")], _meta: yolo })
        const { pid } = whereIn((yield* session.run("where")).updates())
        const turn = yield* session.prompt()
        yield* turn.told("tool_call_update", ({ status }) => status === "in_progress")
        yield* cancels(session, turn)
        assert.strictEqual(callIn(turn.updates()).status, "failed")
        assert.isTrue(isAlive(pid))
      })
    )

    row(
      "CAN-01 MUST answer cancelled while servers are still being connected",
      { steps: [afterwards] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ mcpServers: [oddServer("odd", "hangs")] })
        const turn = yield* session.prompt()
        yield* session.cancel
        assert.strictEqual((yield* turn.answer).stopReason, "cancelled")
      })
    )

    row(
      "CAN-01, CAN-04 MUST answer cancelled among several calls, each with one final status",
      {
        steps: [
          afterwards,
          calls(["todo", { entries: [] }], ["bash", { command: "sleep 1000" }], ["write", { path: "x", content: "" }])
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: yolo })
        const turn = yield* session.prompt()
        yield* turn.told("tool_call_update", ({ status, toolCallId }) => {
          const [, command] = callsIn(turn.updates())
          return toolCallId === command?.toolCallId && status === "in_progress"
        })
        yield* cancels(session, turn)
        assert.deepStrictEqual(
          callsIn(turn.updates()).map(({ status }) => status),
          ["completed", "failed", "failed"]
        )
        assert.isFalse(existsSync(join(test.folder, "x")))
      })
    )

    row(
      "CAN-02 MUST cancel only the running prompt, and nothing that is sent after the cancel",
      {
        steps: [
          { ...hangs, when: "first" },
          { ...says("Second"), when: "second" }
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const first = yield* session.prompt("first")
        yield* session.cancel
        const second = yield* session.prompt("second")
        assert.strictEqual((yield* first.answer).stopReason, "cancelled")
        assert.strictEqual((yield* second.answer).stopReason, "end_turn")
        assert.strictEqual(second.text(), "Second")
      })
    )

    row(
      "CAN-05 MUST never answer session/cancel, and do no harm where there is nothing to cancel",
      { steps: [{ ...says("Fine"), again: true }] },
      Effect.fnUntraced(function* (test) {
        const { client } = test
        const session = yield* test.open()
        yield* session.run()
        const since = client.transcript.entries.length
        for (const params of [
          { sessionId: session.id },
          { sessionId: session.id, _meta: { a: 1 } },
          { sessionId: session.id, _meta: null },
          { sessionId: "unknown" },
          {}
        ]) {
          yield* client.line(note("session/cancel", params))
        }
        yield* client.barrier
        const said = client.transcript.entries.slice(since, -1).filter(({ from }) => from === "agent")
        assert.deepStrictEqual(said, [])
        assert.strictEqual((yield* session.run()).response.stopReason, "end_turn")
      })
    )

    row(
      "CAN-06 MUST NOT take a dismissed question for an approval",
      { steps: [calls(["write", { path: "never.txt", content: "x" }]), says("Not written")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const question = yield* session.asked("session/request_permission")
        yield* question.answer({ outcome: { outcome: "cancelled" } })
        assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
        assert.strictEqual(callIn(turn.updates()).status, "failed")
        assert.isFalse(existsSync(join(test.folder, "never.txt")))
      })
    )

    row(
      "CAN-07 MAY cancel a prompt by $/cancel_request, with all that it began, and must answer it",
      { steps: [afterwards, sleeping] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: yolo })
        const turn = yield* session.prompt()
        const shown = yield* turn.told("tool_call_update", (update) => pidsIn(outputOf(update)).length === 2)
        yield* turn.withdraw
        const outcome = yield* Effect.match(turn.answer, {
          onSuccess: ({ stopReason }) => stopReason,
          onFailure: ({ code }) => code
        })
        assert.include(["cancelled", -32800], outcome)
        yield* gone(...pidsIn(outputOf(shown)))
        assert.strictEqual((yield* session.run("afterwards")).response.stopReason, "end_turn")
      })
    )

    row(
      "CAN-07 MUST ignore $/cancel_request for what is answered or was never asked",
      { steps: [{ ...says("Fine"), again: true }] },
      Effect.fnUntraced(function* (test) {
        const { client } = test
        const session = yield* test.open()
        const { id } = yield* session.run()
        const since = client.transcript.entries.length
        for (const requestId of [id, "never-asked", 123_456, null]) {
          yield* client.line(note("$/cancel_request", { requestId }))
        }
        yield* client.barrier
        assert.deepStrictEqual(
          client.transcript.entries.slice(since, -1).filter(({ from }) => from === "agent"),
          []
        )
        assert.strictEqual((yield* session.run()).response.stopReason, "end_turn")
      })
    )
  })

  group("cancelling with the files of the client", { capabilities: { fs: { readTextFile: true } } }, (row) => {
    row(
      "CAN-01, CAN-08 MUST answer cancelled while the client reads a file for it",
      { steps: [afterwards, calls(["read", { path: "a.txt" }])] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const reading = yield* session.asked("fs/read_text_file")
        yield* cancels(session, turn)
        yield* reading.withdrawn
        assert.strictEqual(callIn(turn.updates()).status, "failed")
      })
    )
  })

  for (const [name, reply] of [
    ["before its first byte", { silent: true }],
    ["in the middle of its answer", { pieces: [{ text: "So" }], then: "hang" }]
  ] as const) {
    alone(
      `CAN-01, CAN-03 MUST drop the request to the provider at once: ${name}`,
      { scripted: false },
      Effect.fnUntraced(function* (test: Test) {
        const server = yield* useLocalModel(test.home)
        server.answer(reply, { pieces: [{ text: "I go on" }] })
        const session = yield* test.open()
        const turn = yield* session.prompt()
        yield* server.arrived
        if ("pieces" in reply) yield* turn.told("agent_message_chunk")
        yield* cancels(session, turn)
        yield* server.abandoned
      })
    )
  }
}
