import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { InvalidInput } from "../../src/domain/Failure.ts"
import { MessageId, ToolCallId } from "../../src/domain/Ids.ts"
import type { Answer } from "../../src/domain/permission/Permission.ts"
import { Agent, type AgentConnection } from "../../src/services/Agent.ts"
import type { Editor } from "../../src/services/Editor.ts"
import * as ScriptedEditor from "../../src/testing/ScriptedEditor.ts"
import * as Memory from "../../src/transports/Memory.ts"
import { makeFakeAgent } from "../support/FakeAgent.ts"

const messageId = MessageId.make("m-1")
const callId = ToolCallId.make("t-1")

const connect = (
  overrides: (editor: Editor) => Partial<AgentConnection>,
  options: Partial<ScriptedEditor.EditorOptions> = {}
) => Effect.provideService(ScriptedEditor.connect({ cwd: "/w", ...options }), Agent, makeFakeAgent(overrides).agent)

/** An agent whose turns ask one question and keep the answer. */
const asking = (answers: Array<Answer>) => (editor: Editor) => ({
  prompt: Effect.fnUntraced(function* (sessionId: Parameters<AgentConnection["prompt"]>[0]) {
    const call = { id: callId, patch: { title: "Run ls" } }
    const options = [
      { id: "always", name: "Always", kind: "allow_always" },
      { id: "yes", name: "Allow", kind: "allow_once" },
      { id: "no", name: "Reject", kind: "reject_once" }
    ] as const
    answers.push(yield* editor.ask({ sessionId, call, options }))
    return { stopReason: "end_turn" as const }
  })
})

/** An agent that answers `initialize` and `session/new` with what it is given. */
const raw = Effect.fnUntraced(function* (...results: ReadonlyArray<Schema.Json>) {
  const { agent, editor } = yield* Memory.pair
  const left = [...results]
  yield* Effect.forkScoped(
    Stream.runForEach(agent.incoming, (frame) => {
      const { id } = JSON.parse(frame._tag === "Text" ? frame.text : "{}")
      const result = left.shift()
      return result === undefined ? agent.close : agent.send([JSON.stringify({ jsonrpc: "2.0", id, result })])
    })
  )
  return editor
})

describe("scripted editor", () => {
  it.effect("gathers what a prompt led to, apart from what came before", () =>
    Effect.gen(function* () {
      let prompts = 0
      const seen: Array<string> = []
      const editor = yield* connect(
        ({ emit }) => ({
          prompt: Effect.fnUntraced(function* (id) {
            prompts += 1
            yield* emit(id, { _tag: "ThoughtDelta", messageId, text: "Hm." })
            yield* emit(id, { _tag: "TextDelta", messageId, text: `Answer ` })
            yield* emit(id, { _tag: "TextDelta", messageId, text: `${prompts}` })
            return { stopReason: "refusal", error: { kind: "overloaded", message: "Busy", status: 529 } }
          })
        }),
        { onUpdate: ({ sessionUpdate }) => Effect.sync(() => void seen.push(sessionUpdate)) }
      )
      assert.strictEqual((yield* editor.prompt("One")).text, "Answer 1")
      const turn = yield* editor.prompt([{ type: "text", text: "Two" }])
      const told = ["agent_thought_chunk", "agent_message_chunk", "agent_message_chunk"]
      assert.deepStrictEqual([turn.stopReason, turn.text], ["refusal", "Answer 2"])
      assert.deepStrictEqual(
        turn.updates.map(({ sessionUpdate }) => sessionUpdate),
        told
      )
      assert.deepStrictEqual(turn.meta?.["error"], { kind: "overloaded", message: "Busy", status: 529 })
      assert.deepStrictEqual(seen, [...told, ...told])
      assert.lengthOf(editor.updates, 6)
    })
  )

  for (const [name, answer, expected] of [
    ["dismisses questions unless told", undefined, { _tag: "Cancelled" }],
    ["allows once", ScriptedEditor.allowOnce, { _tag: "Selected", optionId: "yes" }],
    ["rejects once", ScriptedEditor.rejectOnce, { _tag: "Selected", optionId: "no" }]
  ] as const) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const answers: Array<Answer> = []
        const editor = yield* connect(asking(answers), answer === undefined ? {} : { answer })
        yield* editor.prompt("Go")
        assert.deepStrictEqual(answers, [expected])
        assert.deepStrictEqual(
          editor.questions.map(({ answer, question }) => [question.toolCall.title, answer]),
          [["Run ls", "optionId" in expected ? expected.optionId : undefined]]
        )
      })
    )
  }

  it.effect("lends its unsaved texts, and says so only if it has any", () =>
    Effect.gen(function* () {
      const read = ({ capabilities, readTextFile }: Editor) => ({
        prompt: Effect.fnUntraced(function* (id: Parameters<AgentConnection["prompt"]>[0]) {
          assert.isTrue(capabilities.readTextFile)
          assert.strictEqual(yield* readTextFile(id, "/w/a.txt"), "unsaved")
          assert.isTrue((yield* Effect.flip(readTextFile(id, "/w/b.txt"))).notFound)
          return { stopReason: "end_turn" as const }
        }, Effect.orDie)
      })
      const editor = yield* connect(read, { buffers: new Map([["/w/a.txt", "unsaved"]]) })
      assert.strictEqual((yield* editor.prompt("Read")).stopReason, "end_turn")
      const plain = makeFakeAgent()
      yield* Effect.provideService(ScriptedEditor.connect({ cwd: "/w" }), Agent, plain.agent)
      assert.isFalse(plain.connections[0]?.editor.capabilities.readTextFile)
    })
  )

  it.effect("opens the session as it is told to", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      yield* Effect.provideService(
        ScriptedEditor.connect({
          cwd: "/w",
          meta: { harness: "super-pi-planner" },
          mcpServers: [{ name: "one", command: "/bin/one", args: [], env: [] }],
          serve: { ceiling: "ask" }
        }),
        Agent,
        fake.agent
      )
      const opened = fake.intents.find(({ name }) => name === "newSession")
      assert.nestedPropertyVal(opened, "args[0].cwd", "/w")
      assert.nestedPropertyVal(opened, "args[0].mcpServers[0].name", "one")
      assert.nestedPropertyVal(opened, "args[1].harness", "super-pi-planner")
      assert.strictEqual(fake.connections[0]?.options.ceiling, "ask")
    })
  )

  it.effect("cancels by notification, and by interruption of a prompt", () =>
    Effect.gen(function* () {
      const running = yield* Deferred.make<void>()
      const cancelled = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      const editor = yield* connect(() => ({
        cancel: () => Effect.asVoid(Deferred.succeed(cancelled, undefined)),
        prompt: () =>
          Deferred.succeed(running, undefined).pipe(
            Effect.andThen(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
          )
      }))
      const turn = yield* Effect.forkChild(editor.prompt("Go"))
      yield* Deferred.await(running)
      yield* editor.cancel
      yield* Deferred.await(cancelled)
      yield* Fiber.interrupt(turn)
      yield* Deferred.await(interrupted)
    })
  )

  it.effect("fails with what the agent refused, and with the end of the connection", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(
        connect(() => ({ newSession: () => Effect.fail(new InvalidInput({ field: "cwd", message: "No" })) }))
      )
      assert.deepInclude(refused, { _tag: "WireError", code: -32602, message: "cwd: No" })
      const silent = yield* raw({ protocolVersion: 1 })
      assert.propertyVal(yield* Effect.flip(ScriptedEditor.make(silent, { cwd: "/w" })), "_tag", "ConnectionClosed")
    })
  )

  it.effect("takes an agent that breaks the protocol for a defect", () =>
    Effect.gen(function* () {
      const broken = yield* raw({ protocolVersion: 1 }, { session: "s" })
      const exit = yield* Effect.exit(ScriptedEditor.make(broken, { cwd: "/w" }))
      assert.isTrue(exit._tag === "Failure" && Cause.hasDies(exit.cause))
    })
  )
})
