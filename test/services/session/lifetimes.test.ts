/** When a session comes to life, and when it and all that it started are gone. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { text } from "../../../src/domain/Content.ts"
import type { SessionId } from "../../../src/domain/Ids.ts"
import { Sessions } from "../../../src/services/Sessions.ts"
import { SessionStore } from "../../../src/services/SessionStore.ts"
import type { ScriptStep } from "../../../src/services/models/script/Script.ts"
import { agentLayer, connect, place } from "../../support/agents.ts"
import { completed, type FakeTool } from "../../support/fakeTools.ts"
import { countingFibers } from "../../support/fibers.ts"
import { nothingAsked } from "../../support/models.ts"
import { fakeServers, server } from "../../support/servers.ts"
import { sharedStore } from "../../support/stores.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const script: ReadonlyArray<ScriptStep> = [
  { when: "hang", again: true, parts: [{ text: "Well" }, { hang: true }] },
  { when: "write", again: true, parts: [{ tool: { name: "write", input: {} } }] },
  { when: "read", again: true, parts: [{ tool: { name: "read", input: {} } }] },
  { again: true, parts: [{ text: "Fine: " }, { echo: true }] }
]

const write: FakeTool = {
  access: { _tag: "Edit", paths: ["/a"], outside: [] },
  run: () => Effect.succeed(completed("written"))
}

describe("opening", () => {
  it.effect("of one session many times at once brings it to life once", () =>
    Effect.gen(function* () {
      const { store } = yield* sharedStore
      let opened = 0
      const layer = Layer.succeed(SessionStore, {
        ...store,
        record: (id) =>
          Effect.tap(store.record(id), () =>
            Effect.sync(() => {
              opened += 1
            })
          )
      })
      yield* Effect.gen(function* () {
        const { closeSession, loadSession, open, prompt, told } = yield* connect()
        const { id, say } = yield* open
        yield* say("One")
        yield* closeSession(id)
        const from = told(id).length
        yield* Effect.forEach(Array.from({ length: 20 }), () => loadSession(id, place(), {}), {
          concurrency: "unbounded"
        })
        assert.strictEqual(opened, 1)
        assert.lengthOf(told(id), from + 20 * 5)
        yield* prompt(id, [text("Two")])
        assert.lengthOf(told(id), from + 20 * 5 + 3)
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, store: layer })))
    })
  )

  it.effect("of a session that is being closed is not undone by the last one who held the old one", () =>
    Effect.gen(function* () {
      const stopping = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const read: FakeTool = {
        run: () =>
          Effect.onInterrupt(Effect.never, () =>
            Effect.andThen(Deferred.succeed(stopping, undefined), Deferred.await(stopped))
          )
      }
      yield* Effect.gen(function* () {
        const sessions = yield* Sessions
        const connection = yield* Scope.make()
        const { closeSession, open, until } = yield* Scope.provide(connect(), connection)
        const { id, say, told } = yield* open
        yield* say("One")
        const reading = yield* fork(say("read"))
        yield* until(() => told().includes("in_progress"))
        const closing = yield* fork(closeSession(id))
        yield* Deferred.await(stopping)
        const opening = yield* fork(sessions.open(id))
        const leaving = yield* fork(Scope.close(connection, Exit.void))
        yield* Deferred.succeed(stopped, undefined)
        yield* Fiber.joinAll([reading, closing, leaving])
        assert.isTrue(sessions.isLive(yield* Fiber.join(opening)))
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, tools: { read } })))
    })
  )

  it.effect("of a session whose last holder is just leaving keeps it alive", () =>
    Effect.gen(function* () {
      const { open } = yield* connect()
      const { id, say } = yield* open
      yield* say("One")
      const sessions = yield* Sessions
      const first = yield* Scope.make()
      const fresh = yield* Scope.provide(sessions.fork(id, "/"), first)
      // Both are on their way before either holds the lock.
      const [, again] = yield* Effect.all([Scope.close(first, Exit.void), sessions.open(fresh.id)], {
        concurrency: "unbounded"
      })
      assert.isTrue(sessions.isLive(again))
    }).pipe(Effect.scoped, Effect.provide(agentLayer({ script })))
  )

  it.effect("of a session that is being closed waits for its end", () =>
    Effect.gen(function* () {
      const stopping = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const read: FakeTool = {
        run: () =>
          Effect.onInterrupt(Effect.never, () =>
            Effect.andThen(Deferred.succeed(stopping, undefined), Deferred.await(stopped))
          )
      }
      yield* Effect.gen(function* () {
        const { closeSession, loadSession, open, prompt, until } = yield* connect()
        const { id, say, told } = yield* open
        const reading = yield* fork(say("read"))
        yield* until(() => told().includes("in_progress"))
        const closing = yield* fork(closeSession(id))
        yield* Deferred.await(stopping)
        const loading = yield* fork(loadSession(id, place(), {}))
        yield* Effect.yieldNow
        assert.isUndefined(loading.pollUnsafe())
        yield* Deferred.succeed(stopped, undefined)
        assert.strictEqual((yield* Fiber.join(reading)).stopReason, "cancelled")
        yield* Fiber.join(closing)
        yield* Fiber.join(loading)
        assert.strictEqual((yield* prompt(id, [text("Two")])).stopReason, "end_turn")
      }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, tools: { read } })))
    })
  )
})

describe("the end of a connection", () => {
  /** Sessions at work in every way there is. */
  const busy = Effect.gen(function* () {
    const { newSession, open, prompt, questions, told, until, untilSaid } = yield* connect()
    const outcomes: Array<string> = []
    const start = (id: SessionId, words: string) =>
      fork(
        Effect.onExit(prompt(id, [text(words)]), (exit) =>
          Effect.sync(() => outcomes.push(Exit.isSuccess(exit) ? exit.value.stopReason : "interrupted"))
        )
      )
    const hanging = yield* open
    yield* start(hanging.id, "hang")
    yield* start(hanging.id, "waits")
    yield* untilSaid("Well")
    const asking = yield* open
    yield* start(asking.id, "write")
    yield* until(() => questions.length === 1)
    const reading = yield* newSession(place({ mcpServers: [server("one")] }), {})
    yield* start(reading.sessionId, "read")
    yield* until(() => told(reading.sessionId).includes("in_progress"))
    const connecting = yield* newSession(place({ mcpServers: [server("slow")] }), {})
    yield* start(connecting.sessionId, "Hi")
    yield* open
    return { outcomes, questions }
  })

  it.effect("cancels what runs and what waits, and leaves nothing alive", () =>
    countingFibers((live) =>
      Effect.gen(function* () {
        const asked = nothingAsked()
        const { alive, layer } = fakeServers()
        let reading = 0
        const read: FakeTool = {
          run: () =>
            Effect.ensuring(
              Effect.suspend(() => {
                reading += 1
                return Effect.never
              }),
              Effect.sync(() => {
                reading -= 1
              })
            )
        }
        yield* Effect.gen(function* () {
          const { open } = yield* connect()
          const { say } = yield* open
          yield* say("opens the store and loads what is loaded once")
          yield* TestClock.adjust("1 minute")
          const before = live()
          const scope = yield* Scope.make()
          const { outcomes, questions } = yield* Scope.provide(busy, scope)
          assert.isAbove(live(), before + 5)
          assert.deepStrictEqual([asked.open, reading, alive], [1, 1, ["one"]])
          yield* Scope.close(scope, Exit.void)
          assert.deepStrictEqual(outcomes.toSorted(), ["cancelled", "cancelled", "cancelled", "cancelled", "cancelled"])
          assert.isTrue(questions[0]?.withdrawn)
          assert.deepStrictEqual([asked.open, reading, alive], [0, 0, []])
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(live(), before)
          // And the others do not notice.
          assert.strictEqual((yield* say("Still there?")).stopReason, "end_turn")
        }).pipe(Effect.scoped, Effect.provide(agentLayer({ script, tools: { read, write }, mcp: layer, asked })))
      })
    )
  )

  it.effect("by the end of the agent does so too", () =>
    countingFibers((live) =>
      Effect.gen(function* () {
        const asked = nothingAsked()
        const { alive, layer } = fakeServers()
        const before = live()
        const read: FakeTool = { run: () => Effect.never }
        const process = yield* Scope.make()
        const context = yield* Layer.buildWithScope(
          agentLayer({ script, tools: { read, write }, mcp: layer, asked }),
          process
        )
        const connection = yield* Scope.make()
        yield* Effect.provideContext(Scope.provide(busy, connection), context)
        assert.isTrue(Context.isContext(context))
        yield* Scope.close(process, Exit.void)
        yield* Scope.close(connection, Exit.void)
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual([asked.open, alive], [0, []])
        assert.strictEqual(live(), before)
      })
    )
  )
})
