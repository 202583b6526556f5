/** A reader that was cut off goes on where it was: nothing is lost and nothing comes twice. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { InboxEvent } from "../../../src/transports/inbox/Event.ts"
import { agentLayer } from "../../support/agents.ts"
import { echo } from "../../support/fakeTools.ts"
import { type Client, firstOf, inbox, textOf, typesOf } from "./support.ts"

const chunks = Array.from({ length: 40 }, (_, index) => `piece ${index}; `)

/** Slow enough for readers to come and go meanwhile. */
const slowly = chunks.flatMap((text, index) => [{ text }, ...(index % 2 === 0 ? [{ delayMs: 5 }] : [])])

const script = [
  {
    when: "long",
    parts: [{ thought: "Hm." }, ...slowly, { tool: { name: "read", input: { value: "a.ts" } } }]
  },
  { when: "long", parts: [...slowly, { text: "The end." }] },
  { when: "flood", again: true, parts: [{ text: "x".repeat(3_000), chunk: 1 }] },
  { when: "hang", again: true, parts: [{ text: "Well" }, { hang: true }] },
  { again: true, parts: [{ text: "Fine" }] }
] as const

const layer = () => agentLayer({ script, tools: { read: echo } })

const isDone = ({ type }: InboxEvent) => type === "done"

/** What a reader shows: pieces of one message as one, whatever they were cut into, and no ids. */
const shown = (events: ReadonlyArray<InboxEvent>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let last: string | undefined
  for (const event of events) {
    if (event.type === "text" || event.type === "thought") {
      if (last === event.type) lines.push(`${lines.pop()}${event.text}`)
      else lines.push(`${event.type} ${event.text}`)
    } else {
      const { id: _, sessionId: __, ts: ___, ...body } = event
      lines.push(JSON.stringify(body))
    }
    last = event.type
  }
  return lines
}

/** The same without what no log has: who posted it, that a turn runs, and why it ended. */
const logged = (events: ReadonlyArray<InboxEvent>): ReadonlyArray<string> =>
  shown(events.filter(({ type }) => type !== "typing")).map((line) =>
    line.replace(/,"(local|stopReason)":\w+|,"stopReason":"\w+"/, "")
  )

/** A conversation that the store knows, and the id of its last event. */
const begun = Effect.fnUntraced(function* (place: Client) {
  const events = yield* (yield* place.say("Hi")).all
  const { id, sessionId } = events.at(-1) ?? assert.fail("nothing")
  return { sessionId, since: id }
})

/** Reads a conversation through several connections, each cut after so many events. */
const readInPieces = Effect.fnUntraced(function* (
  places: ReadonlyArray<Client>,
  sessionId: string,
  first: ReadonlyArray<InboxEvent>,
  cuts: ReadonlyArray<number>
) {
  const events = [...first]
  for (const [index, cut] of cuts.entries()) {
    if (isDone(events.at(-1) ?? assert.fail("nothing"))) return events
    const place = places[index % places.length] ?? assert.fail("no place")
    yield* Effect.scoped(
      Effect.gen(function* () {
        const since = events.at(-1)?.id
        const reader = yield* index % 2 === 0
          ? place.follow(sessionId, undefined, since === undefined ? {} : { "last-event-id": since })
          : place.follow(sessionId, since)
        let left = cut
        events.push(...(yield* reader.until((event) => isDone(event) || --left <= 0)))
      })
    )
  }
  if (isDone(events.at(-1) ?? assert.fail("nothing"))) return events
  const last = places[0] ?? assert.fail("no place")
  const reader = yield* last.follow(sessionId, events.at(-1)?.id)
  return [...events, ...(yield* reader.until(isDone))]
})

const Cuts = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 }))).check(Schema.isMaxLength(6))

describe("a reader that was cut off", () => {
  it.live.prop(
    "gets each event once, with the same id, wherever it was cut in the turn",
    [Cuts],
    ([cuts]) =>
      Effect.gen(function* () {
        const place = yield* inbox()
        const { sessionId, since } = yield* begun(place)
        const witness = yield* place.say("long", { sessionId })
        const first = yield* (yield* place.follow(sessionId, since)).take(1)
        const events = yield* readInPieces([place], sessionId, first, cuts)
        const whole = yield* witness.all
        assert.strictEqual(textOf(whole), `${chunks.join("").repeat(2)}The end.`)
        assert.deepStrictEqual(events, whole)
      }).pipe(Effect.provide(layer())),
    { arbitrary: { runs: 8 } }
  )

  it.live.prop(
    "gets what it missed out of the log where another process goes on",
    [Cuts],
    ([cuts]) =>
      Effect.gen(function* () {
        const one = yield* inbox()
        const two = yield* inbox()
        const { sessionId, since } = yield* begun(one)
        const witness = yield* one.say("long", { sessionId })
        const first = yield* (yield* one.follow(sessionId, since)).take(2)
        // Each inbox knows the ids of its own events only: what one told, the other has to find in the log.
        const events = yield* readInPieces([two, one], sessionId, first, cuts)
        const whole = yield* witness.all
        assert.deepStrictEqual(logged(events), logged(whole))
        const ids = events.map(({ id }) => id)
        assert.strictEqual(new Set(ids).size, ids.length)
      }).pipe(Effect.provide(layer())),
    { arbitrary: { runs: 8 } }
  )

  it.live("is led through the log when more was told meanwhile than is kept", () =>
    Effect.gen(function* () {
      const { follow, post, say } = yield* inbox()
      const reader = yield* say("flood")
      const first = yield* reader.take(3)
      const { id, sessionId } = first.at(-1) ?? assert.fail("nothing")
      yield* reader.cut
      for (let turn = 0; turn < 3; turn++) yield* post("/v1/chat", { message: "flood", sessionId, stream: false })
      for (let turn = 0; turn < 700; turn++) yield* post("/v1/chat", { message: "Hi", sessionId, stream: false })
      const rest = yield* (yield* follow(sessionId, id)).until(isDone)
      const whole = [...first, ...rest]
      assert.strictEqual(textOf(whole).replaceAll("x", "").length, 700 * 4)
      assert.strictEqual(textOf(whole).replaceAll("Fine", "").length, 4 * 3_000)
      assert.strictEqual(whole.filter(({ type }) => type === "user").length, 704)
    }).pipe(Effect.provide(layer()))
  )

  it.live("learns of a turn that ended while it was away, once", () =>
    Effect.gen(function* () {
      const one = yield* inbox()
      const two = yield* inbox()
      const events = yield* (yield* one.say("Hi")).all
      const { sessionId } = firstOf(events)
      const [, typing, text] = events
      const rest = yield* two.follow(sessionId, text?.id)
      const done = yield* rest.next
      assert.deepOwnInclude(done, { type: "done" })
      // The place of that very event is known as well.
      const after = yield* one.follow(sessionId, done?.id)
      yield* one.post("/v1/chat", { message: "More", sessionId, stream: false })
      assert.deepStrictEqual(typesOf(yield* after.take(4)), ["user", "typing", "text", "done"])
      const more = yield* two.follow(sessionId, typing?.id)
      assert.deepStrictEqual(typesOf(yield* more.until(isDone)), ["text", "user", "text", "done"])
    }).pipe(Effect.provide(layer()))
  )

  it.live("follows all conversations without naming one, and catches up with the one it was in", () =>
    Effect.gen(function* () {
      const { follow, post, say } = yield* inbox()
      const all = yield* follow()
      const one = yield* (yield* say("One")).all
      const two = yield* (yield* say("Two")).all
      assert.deepStrictEqual(yield* all.take(8), [...one, ...two])
      const again = yield* follow(undefined, one.at(-1)?.id)
      assert.deepStrictEqual(yield* again.take(4), two)
      const other = yield* inbox()
      const late = yield* other.follow(undefined, one[1]?.id)
      assert.deepStrictEqual(typesOf(yield* late.take(2)), ["text", "done"])
      yield* post("/v1/chat", { message: "Three", stream: false })
      assert.strictEqual((yield* again.take(4))[0]?.type, "user")
    }).pipe(Effect.provide(layer()))
  )

  it.live("gets everything anew if its last id means nothing", () =>
    Effect.gen(function* () {
      const { follow, say } = yield* inbox()
      const events = yield* (yield* say("One")).all
      const { sessionId } = firstOf(events)
      for (const since of ["nonsense", "a:b:c:d", `${sessionId}:99999:text:x`, `${sessionId}:0.x:text:y`]) {
        const told = yield* (yield* follow(sessionId, since)).until(isDone)
        assert.deepStrictEqual(typesOf(told), ["user", "text", "done"], since)
      }
    }).pipe(Effect.provide(layer()))
  )

  it.live("follows a turn that another process of the agent began, and can stop it", () =>
    Effect.gen(function* () {
      const one = yield* inbox()
      const { sessionId, since } = yield* begun(one)
      const reader = yield* one.say("hang", { sessionId })
      yield* reader.until(({ type }) => type === "text")
      const two = yield* inbox()
      const late = yield* two.follow(sessionId, since)
      assert.deepStrictEqual(typesOf(yield* late.take(3)), ["user", "text", "typing"])
      yield* two.post("/v1/chat/stop", { sessionId })
      assert.deepOwnInclude(yield* late.next, { type: "done", stopReason: "cancelled" })
      assert.deepOwnInclude((yield* reader.all).at(-1), { type: "done", stopReason: "cancelled" })
    }).pipe(Effect.provide(layer()))
  )
})
