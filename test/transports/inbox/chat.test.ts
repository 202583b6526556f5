/** Conversations over HTTP: what is posted, told, queued, stopped and asked. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Struct from "effect/Struct"
import { agentLayer } from "../../support/agents.ts"
import { completed, echo } from "../../support/fakeTools.ts"
import { firstOf, inbox, textOf, typesOf } from "./support.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const script = [
  { when: "hang", again: true, parts: [{ text: "Well" }, { hang: true }] },
  { when: "fail", again: true, parts: [{ error: { status: 400, message: "no such thing" } }] },
  {
    when: "look",
    parts: [{ thought: "Hm." }, { text: "Let me see." }, { tool: { name: "read", input: { value: "a.ts" } } }]
  },
  { when: "look", parts: [{ text: "All is well." }] },
  { when: "run", again: true, parts: [{ tool: { name: "bash", input: { value: "ls" } } }] },
  { again: true, parts: [{ text: "You said " }, { echo: true }] }
] as const

describe("chat", () => {
  it.live("tells a turn as events, in the order of the conversation", () =>
    Effect.gen(function* () {
      const { say } = yield* inbox()
      const reader = yield* say("look")
      assert.strictEqual(reader.status, 200)
      assert.include(reader.headers.get("content-type"), "text/event-stream")
      const events = yield* reader.all
      assert.deepStrictEqual(
        events.map((event): object => Struct.omit(event, ["id", "sessionId", "ts"])),
        [
          { type: "user", role: "user", text: "look", local: true },
          { type: "typing" },
          { type: "thought", text: "Hm." },
          { type: "text", role: "assistant", text: "Let me see." },
          {
            type: "tool",
            toolCallId: events.find((event) => event.type === "tool")?.toolCallId ?? "",
            title: "Use read",
            state: "pending"
          },
          ...["pending", "in_progress", "completed"].map((state) => ({
            type: "tool",
            toolCallId: events.find((event) => event.type === "tool")?.toolCallId ?? "",
            title: "read a.ts",
            state
          })),
          { type: "text", role: "assistant", text: "All is well." },
          { type: "done", stopReason: "end_turn" }
        ]
      )
      assert.strictEqual(new Set(events.map(({ id }) => id)).size, events.length)
      assert.strictEqual(new Set(events.map(({ sessionId }) => sessionId)).size, 1)
      assert.isTrue(events.every(({ ts }) => Math.abs(ts - Date.now()) < 60_000))
    }).pipe(Effect.provide(agentLayer({ script, tools: { read: echo } })))
  )

  it.live("answers once with JSON when a script wants that, by stream or by Accept", () =>
    Effect.gen(function* () {
      const { ask, post } = yield* inbox()
      const one = yield* post("/v1/chat", { text: "Hi", stream: false })
      const usage = { inputTokens: 100, outputTokens: 10, thoughtTokens: 0, cachedReadTokens: 0, cachedWriteTokens: 0 }
      assert.strictEqual(one.status, 200)
      assert.deepOwnInclude(one.body, { text: "You said Hi", stopReason: "end_turn", usage })
      const { sessionId } = one.body as { sessionId: string }
      const two = yield* ask("/v1/chat", {
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/json" },
        body: JSON.stringify({ message: "look", sessionId })
      })
      // The messages of a turn stand apart, and its tools are not part of them.
      assert.deepOwnInclude(two.body, { sessionId, text: "Let me see.\n\nAll is well.", stopReason: "end_turn" })
      const failed = yield* post("/v1/chat", { message: "fail", stream: false, sessionId })
      assert.deepOwnInclude(failed.body, { stopReason: "refusal" })
      assert.include((failed.body as { text: string }).text, "no such thing")
    }).pipe(Effect.provide(agentLayer({ script, tools: { read: echo } })))
  )

  it.live("tells an error before the end of a turn that failed", () =>
    Effect.gen(function* () {
      const { say } = yield* inbox()
      const events = yield* (yield* say("fail")).all
      assert.deepStrictEqual(typesOf(events).slice(-2), ["error", "done"])
      const error = events.find((event) => event.type === "error")
      assert.include(error?.text, "no such thing")
      assert.deepOwnInclude(events.at(-1), { stopReason: "refusal" })
    }).pipe(Effect.provide(agentLayer({ script })))
  )

  it.live("queues a prompt behind a running one, whose stop lets it run", () =>
    Effect.gen(function* () {
      const { post, say } = yield* inbox()
      const first = yield* say("hang")
      const { sessionId } = firstOf(yield* first.until(({ type }) => type === "text"))
      const second = yield* say("Next", { sessionId })
      assert.deepStrictEqual((yield* post("/v1/chat/stop", { sessionId })).body, { ok: true, stopped: [sessionId] })
      assert.deepOwnInclude((yield* first.all).at(-1), { type: "done", stopReason: "cancelled" })
      const events = yield* second.all
      assert.deepStrictEqual(typesOf(events), ["user", "typing", "text", "done"])
      assert.strictEqual(textOf(events), "You said Next")
      assert.deepStrictEqual((yield* post("/v1/chat/stop")).body, { ok: true, stopped: [] })
    }).pipe(Effect.provide(agentLayer({ script })))
  )

  it.live("takes only so many prompts at a time, and says when there are more", () =>
    Effect.gen(function* () {
      const { post, say } = yield* inbox()
      const { sessionId } = firstOf(yield* (yield* say("hang")).until(({ type }) => type === "text"))
      for (let count = 0; count < 16; count++) yield* say("Next", { sessionId })
      const refused = yield* post("/v1/chat", { message: "Too much", sessionId })
      assert.strictEqual(refused.status, 409)
      assert.include((refused.body as { error: string }).error, "16 prompts already wait")
    }).pipe(Effect.provide(agentLayer({ script })))
  )

  it.live("goes on without whoever posted the prompt", () =>
    Effect.gen(function* () {
      const { follow, post, say } = yield* inbox()
      const gone = yield* say("hang")
      const { sessionId } = firstOf(yield* gone.until(({ type }) => type === "text"))
      yield* gone.cut
      const watching = yield* follow(sessionId)
      // Out of the log, and then what holds at the moment.
      assert.deepStrictEqual(typesOf(yield* watching.take(3)), ["user", "text", "typing"])
      assert.deepOwnInclude((yield* post("/v1/chat/stop", { sessionId })).body, { stopped: [sessionId] })
      assert.deepOwnInclude(yield* watching.next, { type: "done", stopReason: "cancelled" })
    }).pipe(Effect.provide(agentLayer({ script })))
  )

  it.live("tells two clients of one conversation the same", () =>
    Effect.gen(function* () {
      const { follow, post } = yield* inbox()
      const { body } = yield* post("/v1/chat", { message: "One", stream: false })
      const { sessionId } = body as { sessionId: string }
      const one = yield* follow(sessionId)
      const two = yield* follow(sessionId)
      const isEnd = ({ type }: { type: string }) => type === "done"
      const before = yield* Effect.all([one.until(isEnd), two.until(isEnd)])
      assert.deepStrictEqual(...([typesOf(before[0]), typesOf(before[1])] as const))
      yield* post("/v1/chat", { message: "Two", sessionId, stream: false })
      const [heard, alsoHeard] = yield* Effect.all([one.until(isEnd), two.until(isEnd)])
      assert.deepStrictEqual(heard, alsoHeard)
      assert.deepStrictEqual(typesOf(heard), ["user", "typing", "text", "done"])
    }).pipe(Effect.provide(agentLayer({ script })))
  )

  it.live("asks those who read, and takes the answer of whoever gives it", () =>
    Effect.gen(function* () {
      const { get, post, say } = yield* inbox()
      const reader = yield* say("run")
      const before = yield* reader.until(({ type }) => type === "permission")
      const asked = before.at(-1)
      if (asked?.type !== "permission") return assert.fail("no question")
      assert.strictEqual(asked.title, "bash ls")
      assert.includeDeepMembers(
        [...asked.options],
        [{ optionId: "allow-once", name: "Allow once", kind: "allow_once" }]
      )
      assert.deepStrictEqual((yield* get("/v1/chat/permissions")).body, { permissions: [asked] })
      const path = `/v1/chat/permissions/${encodeURIComponent(asked.id)}`
      const wrong = yield* post(path, { optionId: "perhaps" })
      assert.strictEqual(wrong.status, 400)
      assert.include((wrong.body as { error: string }).error, "allow-once")
      assert.deepStrictEqual((yield* post(path, { optionId: "reject-once" })).body, { ok: true })
      const after = yield* reader.until(({ type }) => type === "permission_closed")
      assert.deepOwnInclude(after.at(-1), { permissionId: asked.id, optionId: "reject-once" })
      const failed = yield* reader.until(({ type }) => type === "tool")
      assert.deepOwnInclude(failed.at(-1), { state: "failed" })
      assert.strictEqual((yield* post(path, { optionId: "allow-once" })).status, 404)
      yield* post("/v1/chat/stop")
    }).pipe(
      Effect.provide(
        agentLayer({
          script,
          tools: {
            bash: {
              run: () => Effect.succeed(completed("ran")),
              access: { _tag: "Execute", command: "make", cwd: "/" }
            }
          }
        })
      )
    )
  )

  it.live("withdraws a question with the turn that asked it", () =>
    Effect.gen(function* () {
      const { get, post, say } = yield* inbox()
      const reader = yield* say("run")
      yield* reader.until(({ type }) => type === "permission")
      const stopping = yield* fork(post("/v1/chat/stop"))
      const rest = yield* reader.all
      yield* Fiber.join(stopping)
      assert.include(typesOf(rest), "permission_closed")
      assert.deepOwnInclude(rest.at(-1), { type: "done", stopReason: "cancelled" })
      assert.deepStrictEqual((yield* get("/v1/chat/permissions")).body, { permissions: [] })
    }).pipe(
      Effect.provide(
        agentLayer({
          script,
          tools: {
            bash: {
              run: () => Effect.succeed(completed("ran")),
              access: { _tag: "Execute", command: "make", cwd: "/" }
            }
          }
        })
      )
    )
  )
})
