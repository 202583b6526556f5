/** What an editor saw live and what it sees after a load are the same (design §4), whatever was done in between. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { noCapabilities } from "../../src/domain/Capability.ts"
import { text } from "../../src/domain/Content.ts"
import { toUpdates, type Update } from "../../src/transports/acp/v1/Updates.ts"
import { agentLayer, connect, place } from "../support/agents.ts"
import { behaviours, models, tools } from "../support/behaviour.ts"
import { type FakeEditor, makeEditor } from "../support/editor.ts"
import { sharedStore } from "../support/stores.ts"

const Prompt = Schema.Struct({
  behaviour: Schema.Literals(behaviours),
  /** What every question of the turn is answered with. */
  answer: Schema.Literals(["allow_once", "allow_always", "reject_once"]),
  /** Events after which the turn is cancelled; most have fewer. */
  cancelAt: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 25 })),
  mode: Schema.Literals(["ask", "ask", "accept-edits", "plan"])
})

/** Updates as a reader of the finished conversation understands them. */
const normalForm = (updates: ReadonlyArray<Update>) => {
  const items: Array<Record<string, unknown>> = []
  const calls = new Map<string, Record<string, unknown>>()
  let usage: unknown
  for (const update of updates) {
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk": {
        const { content, messageId, sessionUpdate } = update
        const last = items.at(-1)
        if (content.type !== "text") items.push({ ...update })
        else if (last?.["messageId"] === messageId && last?.["sessionUpdate"] === sessionUpdate)
          last["text"] += content.text
        else items.push({ sessionUpdate, messageId, text: content.text })
        break
      }
      case "tool_call": {
        const item = { ...update }
        items.push(item)
        calls.set(update.toolCallId, item)
        break
      }
      case "tool_call_update": {
        const { sessionUpdate: _, ...changes } = update
        const call = calls.get(update.toolCallId)
        assert.isDefined(call)
        Object.assign(call ?? {}, changes)
        break
      }
      case "plan":
      case "session_info_update":
        items.push({ ...update })
        break
      case "usage_update":
        usage = update
        break
      default:
        // The present state of the session, which is no part of the conversation.
        break
    }
  }
  return { items, usage }
}

const seen = (fake: Pick<FakeEditor, "events">) =>
  normalForm(fake.events.flatMap(([, event]) => toUpdates(event, noCapabilities)))

/** One prompt to its end: its questions are answered, and it is cancelled when it has told enough or says no more. */
const play = Effect.fnUntraced(function* (
  one: Effect.Success<ReturnType<typeof connect>>,
  watcher: FakeEditor,
  id: Parameters<typeof one.prompt>[0],
  { answer, behaviour, cancelAt, mode }: typeof Prompt.Type,
  index: number
) {
  yield* one.setMode(id, mode)
  const from = watcher.events.length
  const answered = one.questions.length
  const prompt = yield* Effect.forkChild(one.prompt(id, [text(`p${index} ${behaviour}`)]), { startImmediately: true })
  const answering = yield* Effect.forkChild(
    Effect.gen(function* () {
      for (let question = answered; ; question++) {
        yield* one.until(() => one.questions.length > question)
        yield* one.questions[question]?.choose(answer) ?? Effect.void
      }
    })
  )
  yield* Effect.raceAllFirst([
    Fiber.await(prompt),
    watcher.until(() => watcher.events.length - from >= cancelAt),
    Effect.repeat(TestClock.adjust("1 second"), { times: 10 })
  ])
  yield* one.cancel(id)
  yield* Fiber.join(prompt)
  yield* Fiber.interrupt(answering)
})

describe("a conversation", () => {
  it.effect.prop(
    "is the same live and after a load, in this process and in the next one",
    [Schema.Array(Prompt)],
    ([prompts]) =>
      Effect.gen(function* () {
        const { layer: store } = yield* sharedStore
        const process = Layer.fresh(agentLayer({ models, tools, store, tasks: true }))
        const watcher = makeEditor()
        const [id, again] = yield* Effect.gen(function* () {
          const one = yield* connect()
          const { id } = yield* one.open
          yield* (yield* connect(watcher)).resumeSession(id, place(), {})
          for (const [index, prompt] of prompts.entries()) yield* play(one, watcher, id, prompt, index)
          const again = yield* connect()
          yield* again.loadSession(id, place(), {})
          return [id, again] as const
        }).pipe(Effect.scoped, Effect.provide(process))
        assert.deepStrictEqual(seen(again), seen(watcher))
        if (prompts.length === 0) return
        const later = yield* Effect.gen(function* () {
          const later = yield* connect()
          yield* later.loadSession(id, place(), {})
          return later
        }).pipe(Effect.scoped, Effect.provide(process))
        assert.deepStrictEqual(seen(later), seen(watcher))
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 60, size: 20 }, timeout: 60_000 }
  )
})
