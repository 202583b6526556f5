/** Questions to the client and what counts as an answer: conformance §11 and §12, with real lines in between. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Schema from "effect/Schema"
import { MessageId, SessionId, ToolCallId } from "../../../../src/domain/Ids.ts"
import type { Elicitation, ElicitationAnswer } from "../../../../src/domain/Elicitation.ts"
import type { Answer, Question } from "../../../../src/domain/permission/Permission.ts"
import { type FakeAgent, makeFakeAgent } from "../../../support/FakeAgent.ts"
import { makeOpenWire, type Wire } from "../../../support/Wire.ts"

type Json = Schema.Json

const sessionId = SessionId.make("s-1")

const question: Question = {
  sessionId,
  call: {
    id: ToolCallId.make("t-1"),
    patch: {
      title: "Run ls",
      kind: "execute",
      status: "pending",
      rawInput: { command: "ls" },
      content: [],
      locations: []
    }
  },
  options: [
    { id: "yes", name: "Allow", kind: "allow_once" },
    { id: "always", name: "Always", kind: "allow_always" },
    { id: "no", name: "Reject", kind: "reject_once" }
  ]
}

const editorOf = (fake: FakeAgent) => fake.connections[0]?.editor ?? assert.fail("nobody is connected")

const open = Effect.fnUntraced(function* (capabilities?: Json) {
  const fake = makeFakeAgent()
  const wire = yield* makeOpenWire(fake.agent, capabilities)
  return { wire, editor: editorOf(fake) }
})

/** Waits for the request of the agent, answers it, and gives its params. */
const answer = Effect.fnUntraced(function* (wire: Wire, reply: Readonly<Record<string, Json>>) {
  const asked = yield* wire.next
  yield* wire.send({ jsonrpc: "2.0", id: asked["id"] ?? null, ...reply })
  return asked
})

describe("a permission question", () => {
  it.effect("PRM-01: shows the call and the options", () =>
    Effect.gen(function* () {
      const { wire, editor } = yield* open()
      const asking = yield* Effect.forkChild(editor.ask(question))
      const asked = yield* answer(wire, { result: { outcome: { outcome: "selected", optionId: "yes" } } })
      assert.strictEqual(asked["method"], "session/request_permission")
      assert.deepStrictEqual(asked["params"], {
        sessionId: "s-1",
        toolCall: { toolCallId: "t-1", ...question.call.patch },
        options: [
          { optionId: "yes", name: "Allow", kind: "allow_once" },
          { optionId: "always", name: "Always", kind: "allow_always" },
          { optionId: "no", name: "Reject", kind: "reject_once" }
        ]
      })
      assert.deepStrictEqual(yield* Fiber.join(asking), { _tag: "Selected", optionId: "yes" })
    })
  )

  const notOffered = "The editor chose an option that was not offered"
  const notUnderstood = "The editor's answer was not understood"
  const replies: ReadonlyArray<readonly [what: string, reply: Schema.JsonObject, expected: Answer]> = [
    [
      "an offered option",
      { result: { outcome: { outcome: "selected", optionId: "no" } } },
      { _tag: "Selected", optionId: "no" }
    ],
    [
      "a rejection with what the user wants instead",
      { result: { outcome: { outcome: "selected", optionId: "no" }, _meta: { followup_message: "use rg" } } },
      { _tag: "Selected", optionId: "no", message: "use rg" }
    ],
    ["cancelled", { result: { outcome: { outcome: "cancelled" } } }, { _tag: "Cancelled" }],
    [
      "an option that was not offered",
      { result: { outcome: { outcome: "selected", optionId: "YES" } } },
      { _tag: "Unanswered", reason: notOffered }
    ],
    [
      "an unknown outcome",
      { result: { outcome: { outcome: "_later" } } },
      { _tag: "Unanswered", reason: notUnderstood }
    ],
    ["no option", { result: { outcome: { outcome: "selected" } } }, { _tag: "Unanswered", reason: notUnderstood }],
    [
      "an option that is no string",
      { result: { outcome: { outcome: "selected", optionId: 1 } } },
      { _tag: "Unanswered", reason: notUnderstood }
    ],
    ["nothing", { result: null }, { _tag: "Unanswered", reason: notUnderstood }],
    ["a bare option", { result: { outcome: "yes" } }, { _tag: "Unanswered", reason: notUnderstood }],
    ["a list", { result: [] }, { _tag: "Unanswered", reason: notUnderstood }],
    [
      "an error",
      { error: { code: -32603, message: "no window" } },
      { _tag: "Unanswered", reason: "The editor could not ask: no window" }
    ],
    [
      "an error of a client that does not know the method",
      { error: { code: -32601, message: "Method not found" } },
      { _tag: "Unanswered", reason: "The editor could not ask: Method not found" }
    ]
  ]
  for (const [what, reply, expected] of replies) {
    it.effect(`PRM-03, CAN-06: answered with ${what}`, () =>
      Effect.gen(function* () {
        const { wire, editor } = yield* open()
        const asking = yield* Effect.forkChild(editor.ask(question))
        yield* answer(wire, reply)
        assert.deepStrictEqual(yield* Fiber.join(asking), expected)
      })
    )
  }

  it.effect("PRM-07: several are open at once, and are answered in any order", () =>
    Effect.gen(function* () {
      const { wire, editor } = yield* open()
      const asking = yield* Effect.forkChild(
        Effect.forEach(
          ["a", "b"],
          (call) => editor.ask({ ...question, call: { ...question.call, id: ToolCallId.make(call) } }),
          {
            concurrency: "unbounded"
          }
        )
      )
      const first = yield* wire.next
      const second = yield* wire.next
      yield* wire.send({
        jsonrpc: "2.0",
        id: second["id"] ?? null,
        result: { outcome: { outcome: "selected", optionId: "no" } }
      })
      yield* wire.send({
        jsonrpc: "2.0",
        id: first["id"] ?? null,
        result: { outcome: { outcome: "selected", optionId: "yes" } }
      })
      assert.deepStrictEqual(yield* Fiber.join(asking), [
        { _tag: "Selected", optionId: "yes" },
        { _tag: "Selected", optionId: "no" }
      ])
    })
  )

  it.effect("CAN-08: interrupted, it is withdrawn", () =>
    Effect.gen(function* () {
      const { wire, editor } = yield* open()
      const asking = yield* Effect.forkChild(editor.ask(question))
      const asked = yield* wire.next
      yield* Fiber.interrupt(asking)
      const withdrawn = yield* wire.next
      assert.deepStrictEqual(withdrawn, {
        jsonrpc: "2.0",
        method: "$/cancel_request",
        params: { requestId: asked["id"] ?? null }
      })
    })
  )
})

describe("a file of the editor", () => {
  const readable: Json = { fs: { readTextFile: true, writeTextFile: false } }

  it.effect("FS-01: its text is what the client answers", () =>
    Effect.gen(function* () {
      const { wire, editor } = yield* open(readable)
      const reading = yield* Effect.forkChild(editor.readTextFile(sessionId, "/w/a.txt"))
      const asked = yield* answer(wire, { result: { content: "unsaved\r\n" } })
      assert.deepStrictEqual(
        [asked["method"], asked["params"]],
        ["fs/read_text_file", { sessionId: "s-1", path: "/w/a.txt" }]
      )
      assert.strictEqual(yield* Fiber.join(reading), "unsaved\r\n")
    })
  )

  const replies: ReadonlyArray<readonly [what: string, reply: Schema.JsonObject, notFound: boolean]> = [
    ["no such file", { error: { code: -32002, message: "no such file" } }, true],
    ["an error", { error: { code: -32603, message: "busy" } }, false],
    ["no text", { result: {} }, false],
    ["nothing", { result: null }, false]
  ]
  for (const [what, reply, notFound] of replies) {
    it.effect(`FS-04: answered with ${what}`, () =>
      Effect.gen(function* () {
        const { wire, editor } = yield* open(readable)
        const reading = yield* Effect.forkChild(Effect.flip(editor.readTextFile(sessionId, "/w/a.txt")))
        yield* answer(wire, reply)
        const failure = yield* Fiber.join(reading)
        assert.deepStrictEqual([failure._tag, failure.notFound], ["EditorFailed", notFound])
      })
    )
  }

  for (const capabilities of [{}, { fs: { writeTextFile: true } }, { fs: { readTextFile: "yes" } }]) {
    it.effect(`FS-01, FS-03: a client with ${JSON.stringify(capabilities)} is not asked`, () =>
      Effect.gen(function* () {
        const { wire, editor } = yield* open(capabilities)
        const failure = yield* Effect.flip(editor.readTextFile(sessionId, "/w/a.txt"))
        assert.strictEqual(failure._tag, "EditorFailed")
        yield* wire.request("logout")
        assert.deepStrictEqual(
          wire.seen.filter(({ method }) => method !== undefined),
          []
        )
      })
    )
  }
})

describe("what an editor is told", () => {
  it.effect("says where the log has it, of what is kept", () =>
    Effect.gen(function* () {
      const { editor, wire } = yield* open()
      const delta = { _tag: "TextDelta", messageId: MessageId.make("m"), text: "Hi" } as const
      yield* editor.emit(sessionId, delta, { seq: 4, length: 2 })
      assert.deepStrictEqual((yield* wire.next)["params"], {
        sessionId: "s-1",
        update: { sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text: "Hi" } },
        _meta: { superPi: { entry: "4.2" } }
      })
      yield* editor.emit(sessionId, { _tag: "CommandsChanged", commands: [] })
      assert.doesNotHaveAnyKeys((yield* wire.next)["params"], ["_meta"])
    })
  )

  it.effect("is told by an extension that somebody else's turn began and ended", () =>
    Effect.gen(function* () {
      const { editor, wire } = yield* open()
      yield* editor.emit(sessionId, { _tag: "ActivityChanged", state: "working" })
      yield* editor.emit(sessionId, { _tag: "ActivityChanged", state: "idle", outcome: { stopReason: "end_turn" } })
      const told = [yield* wire.next, yield* wire.next].map(({ method, params }) => [method, params])
      assert.deepStrictEqual(told, [
        ["_superpi/session/activity", { sessionId: "s-1", state: "working" }],
        ["_superpi/session/activity", { sessionId: "s-1", state: "idle", stopReason: "end_turn" }]
      ])
    })
  )
})

describe("a form or a page", () => {
  const form: Elicitation = {
    _tag: "Form",
    sessionId,
    callId: ToolCallId.make("t-1"),
    message: "Which one?",
    schema: {
      properties: { which: { type: "string", enum: ["a", "b"] }, sure: { type: "boolean" } },
      required: ["which"]
    }
  }
  const page: Elicitation = {
    _tag: "Url",
    sessionId,
    message: "Sign in",
    url: "https://example.org/sign-in",
    elicitationId: "e-1"
  }

  it.effect("ELI-02, ELI-03: is asked with its session, its call and a flat schema", () =>
    Effect.gen(function* () {
      const { wire, editor } = yield* open({ elicitation: { form: {} } })
      assert.deepStrictEqual(editor.capabilities.elicitation, { form: true, url: false })
      const asking = yield* Effect.forkChild(editor.elicit(form))
      const asked = yield* answer(wire, { result: { action: "accept", content: { which: "b", sure: true } } })
      assert.strictEqual(asked["method"], "elicitation/create")
      assert.deepStrictEqual(asked["params"], {
        sessionId: "s-1",
        toolCallId: "t-1",
        mode: "form",
        message: "Which one?",
        requestedSchema: { type: "object", ...form.schema }
      })
      assert.deepStrictEqual(yield* Fiber.join(asking), { _tag: "Accepted", content: { which: "b", sure: true } })
    })
  )

  it.effect("ELI-05: a page is named by its address and an id", () =>
    Effect.gen(function* () {
      const { wire, editor } = yield* open({ elicitation: { url: {} } })
      const asking = yield* Effect.forkChild(editor.elicit(page))
      const asked = yield* answer(wire, { result: { action: "accept" } })
      assert.deepStrictEqual(asked["params"], {
        sessionId: "s-1",
        mode: "url",
        message: "Sign in",
        url: "https://example.org/sign-in",
        elicitationId: "e-1"
      })
      assert.deepStrictEqual(yield* Fiber.join(asking), { _tag: "Accepted", content: {} })
    })
  )

  const answers: ReadonlyArray<readonly [reply: Readonly<Record<string, Json>>, tag: ElicitationAnswer["_tag"]]> = [
    [{ result: { action: "decline" } }, "Declined"],
    [{ result: { action: "cancel" } }, "Cancelled"],
    [{ result: { action: "later" } }, "Unanswered"],
    [{ result: {} }, "Unanswered"],
    [{ result: null }, "Unanswered"],
    [{ error: { code: -32603, message: "no" } }, "Unanswered"]
  ]
  for (const [reply, tag] of answers) {
    it.effect(`${JSON.stringify(reply)} is ${tag}`, () =>
      Effect.gen(function* () {
        const { wire, editor } = yield* open({ elicitation: { form: {} } })
        const asking = yield* Effect.forkChild(editor.elicit(form))
        yield* answer(wire, reply)
        assert.strictEqual((yield* Fiber.join(asking))._tag, tag)
      })
    )
  }

  it.effect("a schema that is not flat is never sent", () =>
    Effect.gen(function* () {
      const { editor } = yield* open({ elicitation: { form: {} } })
      const nested: Elicitation = { ...form, schema: { properties: { a: { type: 5 } } } }
      assert.strictEqual((yield* editor.elicit(nested))._tag, "Unanswered")
    })
  )
})
