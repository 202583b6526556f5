/** Transport and framing: conformance §3. */
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { endLast, gone, isAlive } from "../support/Processes.ts"
import { calls, hangs, says, suite, type Version, yolo } from "../support/Harness.ts"
import { oddServer } from "../support/McpServers.ts"
import { at } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"
import { outputOf, whereIn } from "../support/Calls.ts"

const bytesOf = (lines: ReadonlyArray<string>): Uint8Array => Buffer.from(lines.map((line) => `${line}\n`).join(""))

const oddText = 'line\nline\r\nline\u2028end "\\" \t\u0000 漢字 🎉👩‍👩‍👧 \ud83d alone \udc00'

const numbers = Array.from({ length: 300 }, (_, index) => `${index} `)

export const framing = (version: Version, transport: Transport): void => {
  const { alone, group } = suite(version, transport)

  group("one agent, many texts", {}, (row) => {
    row(
      "TR-01 MUST write each message as one line of UTF-8, whatever its text",
      { steps: [{ parts: [{ echo: true }] }] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const { text } = yield* session.run([test.text(oddText)])
        assert.strictEqual(text(), test.text(oddText).text)
        for (const { from, line } of test.client.transcript.entries) {
          if (from === "agent") assert.notMatch(line, /[\n\r]/)
        }
      })
    )

    row(
      "TR-04 SHOULD take prompts of tens of MiB",
      { steps: [says("What a picture")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const data = "A".repeat(20 * 1024 * 1024)
        const { response, text } = yield* session.run([
          { type: "image", mimeType: "image/png", data },
          test.text("see")
        ])
        assert.deepStrictEqual([response.stopReason, text()], ["end_turn", "What a picture"])
      })
    )

    row(
      "TR-05 MUST keep the lines of sessions that stream at once whole, and the order of each",
      {
        steps: Array.from({ length: 8 }, (_, index) => ({
          when: `number ${index}`,
          parts: numbers.map((number) => ({ text: `${index}:${number}` }))
        }))
      },
      Effect.fnUntraced(function* (test) {
        const turns = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, index) => index),
          (index) => Effect.flatMap(test.open(), (session) => session.run(`number ${index}`)),
          { concurrency: "unbounded" }
        )
        for (const [index, { text }] of turns.entries()) {
          assert.strictEqual(text(), numbers.map((number) => `${index}:${number}`).join(""))
        }
      })
    )

    row(
      "TR-06 MUST go on reading and answering while a prompt runs and while the client owes an answer",
      {
        steps: [
          { ...hangs, when: "hang" },
          { ...calls(["bash", { command: "touch x" }]), when: "ask" },
          { ...says("Done"), again: true }
        ]
      },
      Effect.fnUntraced(function* (test) {
        const { client } = test
        const hanging = yield* test.open()
        const asking = yield* test.open()
        const other = yield* test.open()
        const hung = yield* hanging.prompt("hang")
        const asked = yield* asking.prompt("ask")
        const question = yield* asking.asked("session/request_permission")
        assert.isArray((yield* client.request("session/list", {})).sessions)
        yield* hanging.setMode("accept-edits")
        assert.strictEqual((yield* other.run()).response.stopReason, "end_turn")
        yield* hanging.cancel
        assert.strictEqual((yield* hung.answer).stopReason, "cancelled")
        yield* question.answer({ outcome: { outcome: "selected", optionId: "reject-once" } })
        assert.strictEqual((yield* asked.answer).stopReason, "end_turn")
      })
    )
  })

  alone(
    "TR-02 MUST write nothing but messages, though it logs, and though a command and a server print",
    {
      steps: [
        calls(["bash", { command: "echo loud; echo louder >&2" }], ["mcp__odd__fail", {}]),
        says("They were loud")
      ]
    },
    Effect.fnUntraced(function* (test) {
      const session = yield* test.open({ mcpServers: [oddServer("odd", "noisy", "floods")], _meta: yolo })
      yield* session.run()
      assert.strictEqual(yield* test.client.end, 0)
      assert.include(test.client.channel.log(), "Server is ready, token <redacted>")
    })
  )

  alone(
    "TR-03 MUST take lines however they are cut, CRLF, blank lines, several at once and a last one without its end",
    { initialized: false, steps: [{ parts: [{ echo: true }] }] },
    Effect.fnUntraced(function* (test) {
      const { client } = test
      const request = (id: number, method: string, params: object): string =>
        JSON.stringify({ jsonrpc: "2.0", id, method, params })
      const answerTo = (id: number) =>
        client.transcript.find(({ from, message }) => (from === "agent" && message.id === id ? message : undefined))
      const oneByOne = (lines: ReadonlyArray<string>) => Array.from(bytesOf(lines), (byte) => Uint8Array.of(byte))

      yield* client.bytes([request(1, "initialize", { protocolVersion: 1 })], (lines) =>
        oneByOne(["", " ", ...lines.map((line) => `${line}\r`), "\r"])
      )
      assert.strictEqual(at((yield* answerTo(1)).result, "protocolVersion"), 1)

      const place = { cwd: test.folder, mcpServers: [] }
      yield* client.bytes([request(2, "_x", {}), request(3, "session/new", place), request(4, "_y", {})], (lines) => [
        bytesOf(lines)
      ])
      assert.strictEqual((yield* answerTo(2)).error?.code, -32601)
      const sessionId = at((yield* answerTo(3)).result, "sessionId")
      assert.strictEqual((yield* answerTo(4)).error?.code, -32601)

      const prompt = [test.text("漢字🎉")]
      yield* client.bytes([request(5, "session/prompt", { sessionId, prompt })], oneByOne)
      yield* answerTo(5)
      const said = test.session(String(sessionId)).updates()
      assert.include(JSON.stringify(said), "漢字🎉")

      yield* client.bytes([request(6, "_z", {})], (lines) => [Buffer.from(lines.join(""))])
      assert.strictEqual(yield* client.end, 0)
      assert.strictEqual((yield* answerTo(6)).error?.code, -32601)
    })
  )

  alone(
    "TR-04 SHOULD refuse a message of more than 32 MiB, and live on",
    {},
    Effect.fnUntraced(function* (test) {
      const { client } = test
      if (client.channel.write === undefined) return
      const padding = Buffer.alloc(1024 * 1024, "x")
      yield* client.bytes([], () => [Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'), ...Array(33).fill(padding)])
      yield* client.bytes([], () => [Buffer.from('"}\n')])
      const refusal = yield* client.transcript.find(({ message }) => message.error)
      assert.deepInclude(refusal, { code: -32600 })
      assert.match(refusal.message, /the limit is 33554432 bytes/)
      yield* test.open()
    })
  )

  alone(
    "TR-07, CAN-09 SHOULD be gone soon after the end of the input, with all that it started, open requests answered -32800",
    {
      steps: [
        { ...calls(["mcp__odd__where", {}]), when: "where" },
        { ...says("There"), when: "where" },
        calls([
          "bash",
          {
            command: "trap '' TERM; echo pid $$; sleep 1000 & echo pid $!; wait",
            unsandboxed: true,
            reason: "watched by number"
          }
        ])
      ]
    },
    Effect.fnUntraced(function* (test) {
      const session = yield* test.open({ mcpServers: [oddServer("odd", "has-child", "stubborn")], _meta: yolo })
      const { child, pid } = whereIn((yield* session.run("where")).updates())
      const turn = yield* session.prompt()
      const shown = yield* turn.told("tool_call_update", (update) => /pid \d+\npid \d+/.test(outputOf(update)))
      const pids = [
        pid,
        child ?? 0,
        ...Array.from(outputOf(shown).matchAll(/pid (\d+)/g), ([, digits]) => Number(digits))
      ]
      yield* endLast(...pids)
      assert.deepStrictEqual(pids.map(isAlive), [true, true, true, true])
      const [time, code] = yield* Effect.timed(test.client.end)
      assert.strictEqual(code, 0)
      assert.isBelow(Duration.toMillis(time), 2_000)
      yield* gone(...pids)
      assert.strictEqual((yield* Effect.flip(turn.answer)).code, -32800)
    })
  )

  alone(
    "TR-08 SHOULD end when nobody reads any more",
    { steps: [{ parts: [{ repeat: 1_000_000, text: "word " }, { hang: true }] }] },
    Effect.fnUntraced(function* (test) {
      const session = yield* test.open()
      const turn = yield* session.prompt()
      yield* turn.told("agent_message_chunk")
      assert.strictEqual(yield* test.client.cut("hangUp"), 0)
    })
  )

  alone(
    "TR-09 SHOULD serve stdio: a session from the first line to the last, as an editor drives it",
    { steps: [says("Hello there")] },
    Effect.fnUntraced(function* (test) {
      const { client, folder } = test
      const session = yield* Effect.promise(() => client.sdk.buildSession(folder).start())
      const answer = yield* Effect.promise(() => session.prompt(test.text("hello").text))
      assert.strictEqual(answer.stopReason, "end_turn")
      assert.strictEqual(yield* Effect.promise(() => session.readText()), "Hello there")
      yield* client.request("session/close", { sessionId: session.sessionId })
      assert.strictEqual(yield* client.end, 0)
    })
  )
}
