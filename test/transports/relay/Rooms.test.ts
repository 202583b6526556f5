import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Rooms from "../../../src/transports/relay/Rooms.ts"

/** Leaves a link in a room; the scope takes it away. */
const enter = Effect.fnUntraced(function* <A>(rooms: Rooms.Rooms<A>, room: string, instance: string, link: A) {
  const scope = yield* Scope.make()
  yield* Scope.provide(rooms.enter(room, instance, link), scope)
  return { leave: Scope.close(scope, Exit.void) }
})

/** A client that keeps its link until it leaves. */
const client = Effect.fnUntraced(function* (rooms: Rooms.Rooms<string>, room = "room") {
  const gone = yield* Deferred.make<void>()
  let link: string | undefined
  const fiber = yield* Effect.forkChild(
    rooms.join(room, Deferred.await(gone), (given) => {
      link = given
      return Deferred.await(gone)
    }),
    { startImmediately: true }
  )
  return {
    link: () => link,
    leave: Effect.andThen(Deferred.succeed(gone, undefined), Fiber.join(fiber)),
    outcome: Fiber.join(fiber)
  }
})

describe("Rooms", () => {
  it.effect("gives each client a link of its own, the oldest first", () =>
    Effect.gen(function* () {
      const rooms = Rooms.make<string>()
      yield* enter(rooms, "room", "agent", "one")
      yield* enter(rooms, "room", "agent", "two")
      const [first, second] = [yield* client(rooms), yield* client(rooms)]
      assert.deepStrictEqual([first.link(), second.link()], ["one", "two"])
      assert.strictEqual(yield* first.leave, "joined")
    })
  )

  it.effect("lets clients wait for an agent, in their order, and gives up after 10 seconds", () =>
    Effect.gen(function* () {
      const rooms = Rooms.make<string>()
      const [first, second] = [yield* client(rooms), yield* client(rooms)]
      assert.deepStrictEqual([first.link(), second.link()], [undefined, undefined])
      const lonely = yield* client(rooms, "other")
      yield* enter(rooms, "room", "agent", "one")
      yield* Effect.yieldNow
      assert.deepStrictEqual([first.link(), second.link()], ["one", undefined])
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(second.link())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* second.outcome, "busy")
      assert.strictEqual(yield* lonely.outcome, "nobody")
    })
  )

  it.effect("keeps rooms apart", () =>
    Effect.gen(function* () {
      const rooms = Rooms.make<string>()
      yield* enter(rooms, "one", "agent", "link")
      assert.isUndefined((yield* client(rooms, "other")).link())
    })
  )

  it.effect("belongs to one agent at a time, until its last link is gone", () =>
    Effect.gen(function* () {
      const rooms = Rooms.make<string>()
      const { leave } = yield* enter(rooms, "room", "first", "one")
      const refused = yield* Effect.flip(enter(rooms, "room", "second", "two"))
      assert.isTrue(refused.taken)
      assert.strictEqual(rooms.refusal("room", "second")?.taken, true)
      assert.isUndefined(rooms.refusal("room", "first"))
      const joined = yield* client(rooms)
      assert.isTrue((yield* Effect.flip(enter(rooms, "room", "second", "two"))).taken)
      yield* joined.leave
      yield* leave
      yield* enter(rooms, "room", "second", "two")
      assert.strictEqual((yield* client(rooms)).link(), "two")
    })
  )

  it.effect("gives no link of an agent that has left", () =>
    Effect.gen(function* () {
      const rooms = Rooms.make<string>()
      const { leave } = yield* enter(rooms, "room", "agent", "one")
      yield* leave
      assert.isUndefined((yield* client(rooms)).link())
    })
  )

  it.effect("gives on a link whose client left in the moment in which it came", () =>
    Effect.gen(function* () {
      const rooms = Rooms.make<string>()
      const gone = yield* Deferred.make<void>()
      const leaver = yield* Effect.forkChild(
        rooms.join("room", Deferred.await(gone), () => Effect.die("it had left")),
        { startImmediately: true }
      )
      const next = yield* client(rooms)
      // Both in one step: the link is given to the leaver, and the leaver ends before it can take it.
      yield* Effect.all([Fiber.interrupt(leaver), enter(rooms, "room", "agent", "one")])
      yield* Effect.yieldNow
      assert.strictEqual(next.link(), "one")
    })
  )

  it.effect("outlives a client of the agent that was there before", () =>
    Effect.gen(function* () {
      const rooms = Rooms.make<string>()
      const before = yield* enter(rooms, "room", "agent", "before")
      const old = yield* client(rooms)
      yield* before.leave
      yield* enter(rooms, "room", "agent", "now")
      yield* old.leave
      assert.strictEqual((yield* client(rooms)).link(), "now")
    })
  )

  it.effect("is bounded: agents, links, spare links and waiting clients", () =>
    Effect.gen(function* () {
      const rooms = Rooms.make<string>({ rooms: 2, links: 3, spares: 2, waiting: 3, waitingInRoom: 2 })
      yield* enter(rooms, "a", "agent", "1")
      yield* enter(rooms, "a", "agent", "2")
      assert.match((yield* Effect.flip(enter(rooms, "a", "agent", "3"))).message, /spare/)
      yield* client(rooms, "a")
      yield* enter(rooms, "a", "agent", "3")
      yield* client(rooms, "a")
      assert.match((yield* Effect.flip(enter(rooms, "a", "agent", "4"))).message, /limit of 3 links/)
      yield* enter(rooms, "b", "agent", "1")
      assert.match((yield* Effect.flip(enter(rooms, "c", "agent", "1"))).message, /limit of 2 agents/)
      const waiting = [yield* client(rooms, "x"), yield* client(rooms, "x"), yield* client(rooms, "y")]
      assert.strictEqual(yield* (yield* client(rooms, "x")).outcome, "crowded")
      assert.strictEqual(yield* (yield* client(rooms, "z")).outcome, "crowded")
      for (const one of waiting) assert.strictEqual(yield* one.leave, "nobody")
      assert.isUndefined((yield* client(rooms, "z")).link())
    })
  )

  it.effect("says of a room with an agent that it is busy, however many wait: their token is no guess", () =>
    Effect.gen(function* () {
      const rooms = Rooms.make<string>({ waitingInRoom: 1 })
      yield* enter(rooms, "room", "agent", "one")
      yield* client(rooms)
      yield* client(rooms)
      assert.strictEqual(yield* (yield* client(rooms)).outcome, "busy")
    })
  )

  const Step = Schema.Union([
    Schema.TaggedStruct("Enter", {}),
    Schema.TaggedStruct("Join", {}),
    Schema.TaggedStruct("AgentLeaves", { at: Schema.Natural }),
    Schema.TaggedStruct("ClientLeaves", { at: Schema.Natural }),
    Schema.TaggedStruct("Wait", {})
  ])

  it.effect.prop(
    "whatever comes and goes in whatever order: no link is given twice, and none waits beside a waiting client",
    [Schema.Array(Step)],
    ([steps]) =>
      Effect.gen(function* () {
        const rooms = Rooms.make<string>({ spares: 1_000, links: 1_000, waiting: 1_000, waitingInRoom: 1_000 })
        const links: Array<{ readonly name: string; readonly leave: Effect.Effect<void>; isOpen: boolean }> = []
        const clients: Array<Effect.Success<ReturnType<typeof client>> & { isHere: boolean }> = []
        for (const [index, step] of steps.entries()) {
          switch (step._tag) {
            case "Enter": {
              const name = `link ${index}`
              links.push({ name, ...(yield* enter(rooms, "room", "agent", name)), isOpen: true })
              break
            }
            case "Join":
              clients.push({ ...(yield* client(rooms)), isHere: true })
              break
            case "AgentLeaves": {
              const link = links[step.at % links.length]
              if (link?.isOpen) yield* link.leave
              if (link !== undefined) link.isOpen = false
              break
            }
            case "ClientLeaves": {
              const one = clients[step.at % clients.length]
              if (one?.isHere) yield* one.leave
              if (one !== undefined) one.isHere = false
              break
            }
            case "Wait":
              yield* TestClock.adjust("1 second")
          }
          yield* Effect.yieldNow
          const given = clients.flatMap((one) => one.link() ?? [])
          assert.strictEqual(new Set(given).size, given.length)
          const spare = links.some(({ isOpen, name }) => isOpen && !given.includes(name))
          const waits = clients.some((one) => one.isHere && one.link() === undefined)
          // The last wait may be over by now.
          if (step._tag !== "Wait" && !steps.some(({ _tag }) => _tag === "Wait")) assert.isFalse(spare && waits)
        }
      })
  )
})
