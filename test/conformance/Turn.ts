/** The prompt turn: conformance §8. */
import type { ContentBlock } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { callsIn } from "../support/Calls.ts"
import type { Session } from "../support/ClientSession.ts"
import { calls, says, suite, type Version, yolo } from "../support/Harness.ts"
import { at, problemsOf } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

const messagesOf = (session: Session): ReadonlyArray<readonly [kind: string, id: unknown]> =>
  session
    .updates()
    .flatMap((update) =>
      "messageId" in update && update.sessionUpdate !== "user_message_chunk"
        ? [[update.sessionUpdate, update.messageId] as const]
        : []
    )
    .filter(([, id], index, all) => all[index - 1]?.[1] !== id)

const dead = { name: "dead", command: "/nonexistent/server", args: [], env: [] }

export const prompting = (version: Version, transport: Transport): void => {
  const { alone, group } = suite(version, transport)

  group("turns", {}, (row) => {
    row(
      "TRN-01, TRN-04 MUST keep the prompt open for the turn, tell its updates first, and answer with a stop reason",
      { steps: [calls(["todo", { entries: [] }]), says("Done")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        yield* session.told("available_commands_update")
        const turn = yield* session.run()
        assert.deepStrictEqual(problemsOf("PromptResponse", turn.response), [])
        assert.strictEqual(turn.response.stopReason, "end_turn")
        assert.strictEqual(turn.text(), "Done")
        yield* test.client.barrier
        assert.deepStrictEqual(session.updates(yield* turn.answeredAt), [])
      })
    )

    row(
      "TRN-02 MUST take text, links, and the blocks that it advertises",
      { steps: [{ ...says("Seen"), again: true }] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const blocks: ReadonlyArray<ContentBlock> = [
          { type: "text", text: "" },
          { type: "resource_link", uri: "file:///a/b.ts", name: "b.ts" },
          {
            type: "resource_link",
            uri: "https://example.org/x",
            name: "x",
            title: "X",
            mimeType: "text/html",
            size: 5
          },
          { type: "resource", resource: { uri: "file:///a.txt", text: "text of a", mimeType: "text/plain" } },
          { type: "resource", resource: { uri: "file:///a.bin", blob: "AAAA" } },
          { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=", uri: "file:///a.png" },
          { type: "text", text: "x", annotations: { audience: ["user"], priority: 0.5 }, _meta: { a: 1 } }
        ]
        for (const block of blocks) {
          const { response, text } = yield* session.run([block, test.text("see")])
          assert.deepStrictEqual([response.stopReason, text()], ["end_turn", "Seen"])
        }
      })
    )

    row(
      "TRN-03 SHOULD refuse a block that it does not advertise with -32602, and run nothing",
      { steps: [says("Never said")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        yield* session.told("available_commands_update")
        const before = session.updates().length
        for (const block of [
          { type: "audio", mimeType: "audio/wav", data: "AAAA" },
          { type: "hologram", data: "AAAA" },
          { type: "text" },
          "text"
        ]) {
          const prompt = JSON.parse(JSON.stringify([test.text("hear"), block]))
          const { error } = yield* test.client.raw("session/prompt", { sessionId: session.id, prompt })
          assert.strictEqual(error?.code, -32602)
          assert.match(error?.message ?? "", /prompt\[1\]/)
        }
        assert.lengthOf(session.updates(), before)
      })
    )

    row(
      "TRN-05 MAY name messages: one id for all pieces of one, another for the next, also in later turns",
      {
        steps: [
          {
            parts: [
              { thought: "I think about it", chunk: 2 },
              { text: "I do it now", chunk: 2 },
              { tool: { name: "todo", input: { entries: [] } } },
              { text: "while I talk", chunk: 3 }
            ]
          },
          says("Done"),
          says("Again")
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        yield* session.run()
        yield* session.run()
        const messages = messagesOf(session)
        assert.deepStrictEqual(
          messages.map(([kind]) => kind),
          ["agent_thought_chunk", ...Array(4).fill("agent_message_chunk")]
        )
        assert.strictEqual(new Set(messages.map(([, id]) => id)).size, 5)
      })
    )

    row(
      "TRN-06 SHOULD tell what comes as it comes",
      { steps: [{ parts: [{ thought: "Hm" }, { text: "First words" }, { hang: true }] }] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        yield* turn.told("agent_thought_chunk")
        yield* turn.told("agent_message_chunk", ({ content }) => at(content, "text") === "First words")
        yield* session.cancel
        yield* turn.answer
      })
    )

    row(
      "TRN-07 MAY leave the prompt out of its own turn: a client knows what it sent",
      { steps: [says("Hello")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.run()
        assert.notInclude(
          turn.updates().map(({ sessionUpdate }) => sessionUpdate),
          "user_message_chunk"
        )
      })
    )

    row(
      "TRN-08 MUST say max_tokens when the model ran into its limit, and refusal when it would not answer",
      {
        steps: [
          { when: "long", parts: [{ text: "It goes on and" }, { finish: "length" }] },
          { when: "bad", parts: [{ text: "I" }, { finish: "content-filter" }] }
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const long = yield* session.run("long")
        assert.deepStrictEqual([long.response.stopReason, long.text()], ["max_tokens", "It goes on and"])
        assert.strictEqual((yield* session.run("bad")).response.stopReason, "refusal")
      })
    )

    row(
      "TRN-08 MUST say max_turn_requests when it ran into its own limit",
      { steps: [{ ...calls(["todo", { entries: [] }]), again: true }] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.run()
        assert.strictEqual(turn.response.stopReason, "max_turn_requests")
        assert.isTrue(callsIn(turn.updates()).every(({ status }) => status === "completed"))
      })
    )

    row(
      "TRN-09 SHOULD tell a failure of the provider as text and as data, and let the session go on",
      {
        steps: [
          { when: "key", parts: [{ error: { status: 401, message: "invalid x-api-key" } }] },
          { when: "request", parts: [{ error: { status: 400, message: "max_tokens is too small" } }] },
          { when: "cut", parts: [{ text: "Half an ans" }, { error: {} }] },
          says("All is well")
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        for (const [words, kind, pattern] of [
          ["key", "authentication", /did not accept the API key.*invalid x-api-key/s],
          ["request", "invalid_request", /refused the request.*max_tokens is too small/s],
          ["cut", "network", /^Half an ans.*connection to the provider failed/s]
        ] as const) {
          const { response, text } = yield* session.run(words)
          assert.strictEqual(response.stopReason, "refusal")
          assert.match(text(), pattern)
          assert.strictEqual(at(response._meta, "superPi", "error", "kind"), kind)
        }
        assert.strictEqual((yield* session.run()).response.stopReason, "end_turn")
      })
    )

    row(
      "TRN-10 MAY queue a second prompt of a busy session, and never mixes the two",
      {
        steps: [
          { when: "first", parts: [{ text: "one " }, { delayMs: 50 }, { text: "two" }] },
          { when: "second", parts: [{ text: "three" }] }
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const first = yield* session.prompt("first")
        const second = yield* session.prompt("second")
        assert.strictEqual((yield* second.answer).stopReason, "end_turn")
        const answeredAt = yield* first.answeredAt
        assert.isBelow(answeredAt, yield* second.answeredAt)
        const texts = (since: number, until?: number) =>
          session
            .updates(since, until)
            .flatMap((update) =>
              update.sessionUpdate === "agent_message_chunk" ? [at(update, "content", "text")] : []
            )
            .join("")
        assert.strictEqual(texts(first.at, answeredAt), "one two")
        assert.strictEqual(texts(answeredAt), "three")
      })
    )

    row(
      "TRN-11 MAY tell the use of the context window",
      { steps: [{ ...says("Hello"), usage: { input: 1200, output: 34, cached: 200 } }] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const { size, used } = yield* turn.told("usage_update")
        assert.strictEqual(used, 1234)
        assert.isAbove(size, used)
        yield* turn.answer
      })
    )

    row(
      "TRN-13 MUST NOT send a notice to a client without notices, which still learns what matters",
      { steps: [says("Hello")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ mcpServers: [dead] })
        const turn = yield* session.run()
        assert.notInclude(
          turn.updates().map(({ sessionUpdate }) => sessionUpdate),
          "notice"
        )
        assert.match(JSON.stringify(turn.updates()), /\\"dead\\"/)
      })
    )

    row(
      "TRN-16 MUST take _meta of a prompt, trace keys included",
      { steps: [{ ...says("Hello"), again: true }] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        for (const meta of [{ traceparent, tracestate: "a=b", baggage: "c=d" }, {}, { superPi: 5, harness: [] }]) {
          const turn = yield* session.prompt("go", meta)
          assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
        }
        const nulled = { sessionId: session.id, prompt: [test.text("x")], _meta: null }
        assert.strictEqual(at((yield* test.client.raw("session/prompt", nulled)).result, "stopReason"), "end_turn")
      })
    )

    row(
      "TRN-17 SHOULD refuse an empty prompt with -32602, and keep nothing of it",
      {},
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        for (const prompt of [[], null, "text", {}]) {
          const params = JSON.parse(JSON.stringify({ sessionId: session.id, prompt }))
          assert.strictEqual((yield* test.client.raw("session/prompt", params)).error?.code, -32602)
        }
        assert.deepStrictEqual((yield* test.client.request("session/list", { cwd: test.folder })).sessions, [])
      })
    )
  })

  alone(
    "TRN-13 MUST send a notice with a severity and a title to a client that shows notices",
    { capabilities: { session: { notices: {} } }, steps: [says("Hello")] },
    Effect.fnUntraced(function* (test) {
      const session = yield* test.open({ mcpServers: [dead], _meta: yolo })
      const turn = yield* session.prompt()
      const notice = yield* turn.told("notice")
      assert.strictEqual(notice.severity, "warning")
      assert.match(notice.title, /"dead"/)
      assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
    })
  )
}
