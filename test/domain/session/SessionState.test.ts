import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Schema from "effect/Schema"
import { Content } from "../../../src/domain/Content.ts"
import { assistantMessage, userMessage } from "../../../src/domain/session/ContextMessage.ts"
import { ToolCallId } from "../../../src/domain/Ids.ts"
import { Compacted, ContextAppended, ContextTruncated, type Entry } from "../../../src/domain/session/Session.ts"
import { empty, foldAll, repair } from "../../../src/domain/session/SessionState.ts"
import { type ToolCall, textContent } from "../../../src/domain/Tool.ts"
import { delta, said } from "../../support/logs.ts"

const asPrompt = Schema.decodeUnknownEffect(Prompt.Message)

const call: ToolCall = {
  id: ToolCallId.make("call"),
  name: "bash",
  title: "npm test",
  kind: "execute",
  status: "pending",
  locations: [],
  content: [textContent("preview")]
}

const userContext: Entry = { _tag: "ContextAppended", messages: [{ role: "user", content: [] }] }

describe("SessionState", () => {
  it("closes an open call as failed, and says so below what it showed before", () => {
    const state = foldAll(empty, [
      { _tag: "TurnStarted" },
      { _tag: "ToolCallStarted", call },
      { _tag: "ToolCallUpdated", id: call.id, patch: { status: "in_progress", content: [textContent("$ npm test")] } }
    ])
    const [closed, ended] = repair(state)
    assert.isTrue(closed?._tag === "ToolCallUpdated" && closed.patch.status === "failed")
    const content = closed?._tag === "ToolCallUpdated" ? (closed.patch.content ?? []) : []
    assert.deepStrictEqual(content[0], textContent("$ npm test"))
    assert.match(JSON.stringify(content[1]), /agent stopped before this call finished/)
    assert.deepStrictEqual(ended, { _tag: "TurnEnded", outcome: { stopReason: "cancelled" } })
  })

  it("adds the prompt and the unfinished answer to what the model has seen, the prompt first", () => {
    const closing = repair(foldAll(empty, [{ _tag: "TurnStarted" }, said("hi"), delta("half an "), delta("answer")]))
    assert.deepStrictEqual(closing[0], {
      _tag: "ContextAppended",
      messages: [
        { role: "user", content: [{ type: "text", text: "hi" }] },
        { role: "assistant", content: [{ type: "text", text: "half an answer" }] }
      ]
    })
  })

  it("cuts what the model has seen, and forgets what was told and is no part of it", () => {
    const log: ReadonlyArray<Entry> = [
      { _tag: "TurnStarted" },
      said("hi"),
      userContext,
      delta("The provider refused the image"),
      { _tag: "ContextTruncated", length: 0 }
    ]
    const state = foldAll(empty, log)
    assert.deepStrictEqual(state.context, [])
    assert.deepStrictEqual(repair(state), [{ _tag: "TurnEnded", outcome: { stopReason: "cancelled" } }])
  })

  it.prop(
    "has the same context however its log was cut into folds",
    [Schema.Array(Schema.Union([ContextAppended, ContextTruncated, Compacted])), Schema.Natural],
    ([log, cut]) => {
      let expected: ReadonlyArray<Schema.Json> = []
      for (const entry of log) {
        if (entry._tag === "ContextAppended") expected = [...expected, ...entry.messages]
        else expected = entry._tag === "Compacted" ? entry.messages : expected.slice(0, entry.length)
      }
      const at = cut % (log.length + 1)
      assert.deepStrictEqual(foldAll(empty, log).context, expected)
      assert.deepStrictEqual(foldAll(foldAll(empty, log.slice(0, at)), log.slice(at)).context, expected)
    }
  )

  it("keeps out of the context what an ended turn left out, such as the text of a shown error", () => {
    const log: ReadonlyArray<Entry> = [
      { _tag: "TurnStarted" },
      said("hi"),
      userContext,
      delta("The provider refused the key"),
      { _tag: "TurnEnded", outcome: { stopReason: "refusal" } }
    ]
    const state = foldAll(empty, log)
    assert.deepStrictEqual(repair(state), [])
    assert.lengthOf(state.context, 1)
    assert.strictEqual(foldAll(state, [{ _tag: "TurnStarted" }]).uncommitted, "")
  })

  it("leaves a prompt out of the context if its turn ended without it", () => {
    const state = foldAll(empty, [
      { _tag: "TurnStarted" },
      said("hi"),
      { _tag: "TurnEnded", outcome: { stopReason: "cancelled" } }
    ])
    assert.deepStrictEqual(repair(state), [])
    assert.deepStrictEqual(state.unreadPrompts, [])
  })

  it("does not take text that was told outside a turn for an answer", () => {
    assert.deepStrictEqual(repair(foldAll(empty, [delta("A server is not reachable")])), [])
  })

  it("remembers the last choices, answers and figures", () => {
    const state = foldAll(empty, [
      { _tag: "Configured", model: "a/b", effort: "low" },
      { _tag: "Configured", model: "a/c", mode: "plan" },
      { _tag: "Granted", grant: { verdict: "allow", access: "Execute", subject: "ls" } },
      { _tag: "Granted", grant: { verdict: "allow", access: "Edit", subject: "ls" } },
      { _tag: "Granted", grant: { verdict: "reject", access: "Execute", subject: "ls" } },
      { _tag: "UsageUpdated", used: 1, size: 10, cost: 0.5 },
      { _tag: "UsageUpdated", used: 2, size: 20 },
      { _tag: "InfoUpdated", title: "First" },
      { _tag: "InfoUpdated", updatedAt: "2026-01-01T00:00:00.000Z" }
    ])
    assert.deepStrictEqual(state.settings, { model: "a/c", effort: "low", mode: "plan" })
    assert.deepStrictEqual(state.grants, [
      { verdict: "allow", access: "Edit", subject: "ls" },
      { verdict: "reject", access: "Execute", subject: "ls" }
    ])
    assert.deepStrictEqual(state.usage, { used: 2, size: 20, cost: 0.5 })
    assert.strictEqual(state.title, "First")
  })

  it("ignores an update of a call that is closed or was never announced", () => {
    const update: Entry = { _tag: "ToolCallUpdated", id: call.id, patch: { status: "in_progress" } }
    const closed = foldAll(empty, [
      { _tag: "ToolCallStarted", call },
      { _tag: "ToolCallUpdated", id: call.id, patch: { status: "completed" } }
    ])
    assert.strictEqual(foldAll(closed, [update]).openCalls.size, 0)
    assert.strictEqual(foldAll(empty, [update]).openCalls.size, 0)
  })

  it.effect.prop("writes messages that effect/ai reads", [Schema.Array(Content), Schema.String], ([content, text]) =>
    Effect.gen(function* () {
      const user = yield* asPrompt(userMessage(content))
      const assistant = yield* asPrompt(assistantMessage(text))
      assert.strictEqual(user.role, "user")
      assert.lengthOf(user.content, content.length)
      assert.strictEqual(assistant.role, "assistant")
      assert.deepInclude(assistant.content[0], { type: "text", text })
    })
  )

  it.effect("shows bytes that are text as text, and names all others (F96)", () =>
    Effect.gen(function* () {
      const blob = (bytes: Uint8Array | string, mimeType?: string) => ({
        type: "resource" as const,
        resource: { uri: "file:///w/a", blob: Base64.encode(bytes), ...(mimeType === undefined ? {} : { mimeType }) }
      })
      const message = yield* asPrompt(
        userMessage([
          blob("é", "text/plain"),
          blob(new Uint8Array([0xff, 0xfe, 0x41, 0x00])),
          blob(new Uint8Array([0x25, 0, 0xff]), "application/pdf"),
          blob(new Uint8Array([0x80])),
          { type: "resource", resource: { uri: "file:///w/a", blob: "no base64!" } }
        ])
      )
      const inside = [
        "é",
        "A",
        "[Binary content (application/pdf), which cannot be shown]",
        "[Binary content, which cannot be shown]",
        "[Binary content, which cannot be shown]"
      ]
      assert.lengthOf(message.content, inside.length)
      for (const [index, text] of inside.entries()) {
        assert.deepInclude(message.content[index], {
          type: "text",
          text: `<resource uri="file:///w/a">\n${text}\n</resource>`
        })
      }
    })
  )

  it.effect("tells the model where an embedded file comes from, and gives it images as files", () =>
    Effect.gen(function* () {
      const message = yield* asPrompt(
        userMessage([
          { type: "resource", resource: { uri: "file:///w/a.ts", text: "let a" } },
          { type: "resource_link", uri: "file:///w/b.ts", name: "b.ts" },
          { type: "image", mimeType: "image/png", data: "AAAA" }
        ])
      )
      assert.deepInclude(message.content[0], {
        type: "text",
        text: '<resource uri="file:///w/a.ts">\nlet a\n</resource>'
      })
      assert.deepInclude(message.content[1], { type: "text", text: "[b.ts](file:///w/b.ts)" })
      assert.deepInclude(message.content[2], { type: "file", mediaType: "image/png", data: "AAAA" })
    })
  )
})
