/** Any script of a model, any outcome of its tools, stopped at any moment: what is told, kept and seen fits together. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Prompt from "effect/ai/Prompt"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { empty, fold, foldAll } from "../../src/domain/session/SessionState.ts"
import { isFinal } from "../../src/domain/Tool.ts"
import type { ScriptPart, ScriptStep } from "../../src/services/models/script/Script.ts"
import { PermissionBroker } from "../../src/services/PermissionBroker.ts"
import { type FakeTool, fakeTools } from "../support/fakeTools.ts"
import { nothingAsked, scripted } from "../support/models.ts"
import { runTurn } from "../support/turns.ts"
import { makeSession } from "../support/turnSession.ts"

const Tool = Schema.Struct({
  name: Schema.Literals(["read", "grep", "write", "nothing"]),
  value: Schema.Literals(["ok", "fail", "die", "never", "slow", "deny"]),
  id: Schema.Literals(["0", "1"])
})

const Part = Schema.Union([
  Schema.Struct({ text: Schema.Literals(["a", "bc", "def"]) }),
  Schema.Struct({ thought: Schema.Literals(["x", "yz"]) }),
  Schema.Struct({ tool: Tool }),
  Schema.Struct({ tool: Tool })
])

const Step = Schema.Struct({
  parts: Schema.Array(Part),
  end: Schema.Literals(["stop", "stop", "stop", "length", "content-filter", "pause", "refused", "broken", "hang"])
})

const Script = Schema.Struct({
  steps: Schema.Array(Step),
  /** The turn is interrupted at this event; never, if it has fewer. */
  stopAt: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 })),
  maxRequests: Schema.Literals([1, 2, 10])
})

const toStep = ({ end, parts }: typeof Step.Type): ScriptStep => {
  const told = parts.map((part): ScriptPart => {
    if (!("tool" in part)) return part
    const { id, name, value } = part.tool
    return { tool: { name, id, input: { value } } }
  })
  switch (end) {
    case "stop":
      return { parts: told }
    case "refused":
      return { parts: [...told, { error: { status: 400, message: "REFUSED" } }] }
    case "broken":
      return { parts: [...told, { error: { message: "BROKEN" } }] }
    case "hang":
      return { parts: [...told, { hang: true }] }
    default:
      return { parts: [...told, { finish: end }] }
  }
}

const outcomes = (value: string): ReturnType<FakeTool["run"]> => {
  if (value === "die") return Effect.die("dead")
  if (value === "never") return Effect.never
  const outcome = {
    status: value === "fail" ? "failed" : "completed",
    text: value,
    content: [{ type: "content", content: { type: "text", text: value } }]
  } as const
  return value === "slow" ? Effect.as(Effect.yieldNow, outcome) : Effect.succeed(outcome)
}

const shared: FakeTool = { run: outcomes }
const tools = fakeTools({ read: shared, grep: shared, write: { ...shared, concurrency: "exclusive" } })

const broker = Layer.succeed(PermissionBroker, {
  decide: ({ call }) => {
    const isDenied = JSON.stringify(call.patch.rawInput).includes("deny")
    return Effect.succeed(isDenied ? { _tag: "Denied", reason: "no" } : { _tag: "Allowed" })
  },
  readable: () => Effect.succeedNone
})

/** Seconds after which a turn that has not ended is stopped, wherever it is. */
const PATIENCE = 10

/** Runs the script, and stops it as its owner would. */
const play = Effect.fnUntraced(function* ({ maxRequests, steps, stopAt }: typeof Script.Type) {
  const asked = nothingAsked()
  const { changed, until } = asked.signal
  let ended = false
  let count = 0
  const recorded = makeSession({
    onEvent: () =>
      Effect.sync(() => {
        count += 1
        changed()
      })
  })
  const turn = yield* Effect.forkChild(
    Effect.ensuring(
      runTurn(recorded.session, "go", { models: scripted(steps.map(toStep), asked), tools, broker, maxRequests }),
      Effect.sync(() => {
        ended = true
        changed()
      })
    )
  )
  const done = () => ended || count >= stopAt
  yield* until(() => asked.prompts.length > 0)
  yield* Effect.raceFirst(until(done), Effect.repeat(TestClock.adjust("1 second"), { times: PATIENCE }))
  yield* Fiber.interrupt(turn)
  const exit = yield* Fiber.await(turn)
  yield* recorded.session.settle("Stopped.")
  return { ...recorded, asked, outcome: exit._tag === "Success" ? exit.value : undefined }
})

type Played = Effect.Success<ReturnType<typeof play>>

const holds = (name: string, property: (played: Played, script: typeof Script.Type) => void) =>
  it.effect.prop(name, [Script], ([script]) => Effect.map(play(script), (played) => property(played, script)), {
    arbitrary: { runs: 60, size: 30 },
    timeout: 60_000
  })

const decode = (context: ReadonlyArray<Schema.Json>) => context as unknown as ReadonlyArray<Prompt.MessageEncoded>

const partsOf = (context: ReadonlyArray<Schema.Json>) =>
  decode(context).flatMap((message) => (typeof message.content === "string" ? [] : [...message.content]))

describe("a turn", () => {
  holds("announces each call once, and brings it to exactly one end", ({ events, state }) => {
    const calls = new Map<string, string>()
    for (const event of events) {
      if (event._tag === "ToolCallStarted") {
        assert.isFalse(calls.has(event.call.id))
        calls.set(event.call.id, event.call.status)
      }
      if (event._tag === "ToolCallUpdated") {
        const before = calls.get(event.id)
        const after = event.patch.status ?? before ?? ""
        assert.include(["pending", "in_progress"], before)
        if (after === "in_progress") assert.strictEqual(before, "pending")
        calls.set(event.id, after)
      }
    }
    for (const status of calls.values()) assert.isTrue(status === "completed" || status === "failed")
    assert.strictEqual(state().openCalls.size, 0)
  })

  holds("keeps for the model the text that was told, and nothing else", ({ events, outcome, state }) => {
    const said = events.filter((event) => event._tag === "TextDelta")
    // The last message of a refusal is the error, also of one that was interrupted when it had told that.
    const error = said.at(-1)?.text.startsWith("The ") === true ? said.at(-1) : undefined
    if (outcome !== undefined) assert.strictEqual(error?.text, outcome.error?.message)
    const told = said.filter((event) => event !== error)
    const kept = decode(state().context).map(({ content, role }) => {
      if (role !== "assistant") return ""
      return typeof content === "string"
        ? content
        : content.map((part) => (part.type === "text" ? part.text : "")).join("")
    })
    if (state().context.length === 0) assert.include(error?.text, "left out of the conversation")
    else assert.strictEqual(kept.join(""), told.map(({ text }) => text).join(""))
  })

  holds("tells the model the same outcome of a call as the editor", ({ events, state }) => {
    const ends = new Map<string, string>()
    for (const event of events) {
      if (event._tag === "ToolCallUpdated" && event.patch.status !== undefined && isFinal(event.patch.status)) {
        ends.set(event.id, event.patch.status)
      }
    }
    const called = new Set<string>()
    const known = new Set<string>()
    for (const { content } of decode(state().context)) assert.isAtLeast(content.length, 1, "a message says nothing")
    for (const part of partsOf(state().context)) {
      if (part.type === "tool-call") called.add(part.id)
      if (part.type !== "tool-result") continue
      known.add(part.id)
      assert.isTrue(called.has(part.id), "a result before its call")
      assert.strictEqual(ends.get(part.id), part.isFailure ? "failed" : "completed")
    }
    for (const [id, status] of ends) {
      if (status === "completed") assert.isTrue(known.has(id), "the model does not know of a call that was done")
    }
  })

  holds("is the same read from its log", ({ entries, state }) => {
    assert.deepStrictEqual(foldAll(fold(empty, { _tag: "TurnStarted" }), entries), state())
  })

  holds("sends no request in which a call lacks its result, and none too many", ({ asked }, { maxRequests }) => {
    // The same request again, after a failure, is not another one.
    assert.isAtMost(new Set(asked.prompts.map((messages) => messages.length)).size, maxRequests)
    assert.strictEqual(asked.open, 0)
    for (const messages of asked.prompts) {
      let open: ReadonlySet<string> = new Set()
      for (const message of messages) {
        if (message.role === "tool") {
          const answered = new Set(message.content.flatMap((part) => (part.type === "tool-result" ? [part.id] : [])))
          open = new Set([...open].filter((id) => !answered.has(id)))
          continue
        }
        assert.strictEqual(open.size, 0)
        if (message.role === "assistant") {
          open = new Set(message.content.flatMap((part) => (part.type === "tool-call" ? [part.id] : [])))
        }
      }
      assert.strictEqual(open.size, 0)
    }
  })

  holds("has an end that fits its last request", ({ asked, events, outcome }, { steps }) => {
    if (outcome === undefined) return
    const usages = events.filter((event) => event._tag === "UsageUpdated").length
    assert.strictEqual(outcome.usage?.inputTokens, usages * 100)
    const last = steps[asked.prompts.length - 1]
    const end = last?.end ?? "refused"
    const goesOn =
      end === "pause" || (last?.parts.some((part) => "tool" in part) && (end === "stop" || end === "length"))
    if (goesOn === true) assert.strictEqual(outcome.stopReason, "max_turn_requests")
    else if (end === "stop") assert.strictEqual(outcome.stopReason, "end_turn")
    else if (end === "length") assert.strictEqual(outcome.stopReason, "max_tokens")
    else assert.strictEqual(outcome.stopReason, "refusal")
  })
})
