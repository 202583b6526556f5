import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { isDelta, MAX_CHUNK, merge } from "../../src/domain/session/Delta.ts"
import * as Replay from "../../src/domain/session/Replay.ts"
import type { Entry } from "../../src/domain/session/Session.ts"
import { empty, fold, foldAll, repair } from "../../src/domain/session/SessionState.ts"
import { isFinal } from "../../src/domain/Tool.ts"
import { logs, split, textsOf, tornLogs } from "../support/logs.ts"

const options = { arbitrary: { runs: 200 } }

const since = (log: ReadonlyArray<Entry>, tag: Entry["_tag"]) =>
  log.slice(log.findLastIndex(({ _tag }) => _tag === tag))

/** The context that a torn log has to lead to, read off the log instead of folded. */
const expectedContext = (log: ReadonlyArray<Entry>) => {
  const written = log.flatMap((entry) => (entry._tag === "ContextAppended" ? entry.messages : []))
  const turn = log.some(({ _tag }) => _tag === "TurnStarted") ? since(log, "TurnStarted") : []
  if (turn.some(({ _tag }) => _tag === "TurnEnded")) return written
  const unread = turn.some(({ _tag }) => _tag === "ContextAppended")
    ? []
    : turn.flatMap((entry) => (entry._tag === "UserMessage" ? [{ role: "user", content: entry.content }] : []))
  const rest = turn.some(({ _tag }) => _tag === "ContextAppended") ? since(turn, "ContextAppended") : turn
  const text = rest.flatMap((entry) => (entry._tag === "TextDelta" ? [entry.text] : [])).join("")
  return [...written, ...unread, ...(text === "" ? [] : [{ role: "assistant", content: [{ type: "text", text }] }])]
}

const statuses = (log: ReadonlyArray<Entry>) => {
  const calls = new Map<string, Array<string>>()
  for (const entry of log) {
    if (entry._tag === "ToolCallStarted") calls.set(entry.call.id, [entry.call.status])
    if (entry._tag === "ToolCallUpdated") calls.get(entry.id)?.push(entry.patch.status ?? "unchanged")
  }
  return calls
}

describe("the fold of a log", () => {
  it.effect.prop(
    "is the same however the log was cut into appends",
    [logs, Schema.Array(Schema.Natural)],
    ([log, sizes]) =>
      Effect.sync(() => {
        const pieces = split(log, sizes).reduce(foldAll, empty)
        assert.deepStrictEqual(pieces, foldAll(empty, log))
        assert.deepStrictEqual(pieces, log.reduce(fold, empty))
      }),
    options
  )

  it.effect.prop(
    "leaves nothing to repair after whole turns",
    [logs],
    ([log]) =>
      Effect.sync(() => {
        assert.deepStrictEqual(repair(foldAll(empty, log)), [])
      }),
    options
  )

  it.effect.prop(
    "has nothing open after a repair, wherever the log was torn",
    [tornLogs],
    ([log]) =>
      Effect.sync(() => {
        const closing = repair(foldAll(empty, log))
        const state = foldAll(empty, [...log, ...closing])
        assert.strictEqual(state.openCalls.size, 0)
        assert.isFalse(state.turnOpen)
        assert.deepStrictEqual(state.unreadPrompts, [])
        assert.strictEqual(state.uncommitted, "")
        assert.deepStrictEqual(repair(state), [])
        assert.deepStrictEqual(state.context, expectedContext(log))
      }),
    options
  )

  it.effect.prop(
    "brings every call to one final status, after which nothing comes",
    [tornLogs],
    ([log]) =>
      Effect.sync(() => {
        for (const [id, seen] of statuses([...log, ...repair(foldAll(empty, log))])) {
          const final = seen.filter((status) => status === "completed" || status === "failed")
          assert.lengthOf(final, 1, id)
          assert.strictEqual(seen.at(-1), final[0], id)
        }
      }),
    options
  )

  it.effect.prop(
    "keeps what a torn log already meant",
    [tornLogs],
    ([log]) =>
      Effect.sync(() => {
        const before = foldAll(empty, log)
        const after = foldAll(before, repair(before))
        for (const key of ["plan", "title", "usage", "settings", "grants"] as const) {
          assert.deepStrictEqual(after[key], before[key], key)
        }
        assert.deepStrictEqual(after.context.slice(0, before.context.length), before.context)
      }),
    options
  )
})

describe("the replay of a log", () => {
  it.effect.prop(
    "tells every text, and every other event in order",
    [tornLogs],
    ([log]) =>
      Effect.sync(() => {
        const told = Replay.replay(log)
        assert.deepStrictEqual(textsOf(told), textsOf(log))
        const kept = new Set(["UserMessage", "ToolCallStarted", "ToolCallUpdated", "PlanUpdated", "InfoUpdated"])
        assert.deepStrictEqual<ReadonlyArray<Entry>>(
          told.filter(({ _tag }) => kept.has(_tag)),
          log.filter(({ _tag }) => kept.has(_tag))
        )
        assert.deepStrictEqual<ReadonlyArray<Entry>>(
          told.filter(({ _tag }) => _tag === "UsageUpdated"),
          log.filter(({ _tag }) => _tag === "UsageUpdated").slice(-1)
        )
      }),
    options
  )

  it.effect.prop(
    "has no neighbours left to join, and no chunk above the limit",
    [tornLogs],
    ([log]) =>
      Effect.sync(() => {
        const told = Replay.replay(log)
        for (const [index, event] of told.entries()) {
          const next = told[index + 1]
          if (!isDelta(event) || next === undefined) continue
          assert.isUndefined(merge(event, next))
          assert.isAtMost(event.text.length, MAX_CHUNK)
        }
      }),
    options
  )

  it.effect.prop(
    "is the same in a stream",
    [tornLogs],
    ([log]) =>
      Effect.gen(function* () {
        const streamed = Stream.fromIterable(log.map((entry, seq) => ({ seq, entry }))).pipe(
          Stream.mapAccum(() => Replay.emptyBuffer, Replay.step, { onHalt: Replay.flush }),
          Stream.map(({ event }) => event)
        )
        assert.deepStrictEqual(yield* Stream.runCollect(streamed), Replay.replay(log))
      }),
    options
  )

  it.effect.prop(
    "announces every call before its updates",
    [tornLogs],
    ([log]) =>
      Effect.sync(() => {
        const announced = new Set<string>()
        for (const event of Replay.replay([...log, ...repair(foldAll(empty, log))])) {
          if (event._tag === "ToolCallStarted") {
            assert.isFalse(announced.has(event.call.id) || isFinal(event.call.status))
            announced.add(event.call.id)
          }
          if (event._tag === "ToolCallUpdated") assert.isTrue(announced.has(event.id))
        }
      }),
    options
  )
})
