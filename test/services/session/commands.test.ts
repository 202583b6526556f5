/** Slash commands that take long, and a cancel meanwhile: what only reads ends at once, what changes files is never cut. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { Changes } from "../../../src/services/Changes.ts"
import { agentLayer, connect } from "../../support/agents.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

/** A command that has begun, and ends when it is let go. */
const makeSlow = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const go = yield* Deferred.make<void>()
  return { begun, go, wait: Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(go)) }
})

const changesLike = (wait: Effect.Effect<void>) =>
  Layer.succeed(Changes, {
    recording: (_workspace, _record, _paths, change) => change,
    recordingAll: (_workspace, _record, change) => change,
    undo: () => Effect.as(wait, { _tag: "Undone", files: [{ path: "/a", what: "restored" }], notes: [] } as const),
    diff: () => Effect.as(wait, { diff: "", files: [], truncated: false }),
    inherit: () => Effect.void
  })

const changesOf = (wait: Effect.Effect<void>) => agentLayer({ changes: changesLike(wait) })

describe("a cancel", () => {
  it.effect("ends a command that only reads at once", () =>
    Effect.gen(function* () {
      const { begun, wait } = yield* makeSlow
      yield* Effect.gen(function* () {
        const { cancel, say, told } = yield* (yield* connect()).open
        const prompt = yield* fork(say("/diff"))
        yield* Deferred.await(begun)
        yield* cancel
        assert.strictEqual((yield* Fiber.join(prompt)).stopReason, "cancelled")
        assert.deepStrictEqual(
          told().filter((line) => line.startsWith("text")),
          []
        )
        assert.strictEqual((yield* say("/mcp")).stopReason, "end_turn")
      }).pipe(Effect.provide(changesOf(wait)))
    })
  )

  it.effect("lets an undo come to its end, which says what became of it", () =>
    Effect.gen(function* () {
      const { begun, go, wait } = yield* makeSlow
      yield* Effect.gen(function* () {
        const { cancel, say, told } = yield* (yield* connect()).open
        const prompt = yield* fork(say("/undo"))
        yield* Deferred.await(begun)
        yield* cancel
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.await(prompt)
        assert.match(told().join("\n"), /^text The last turn.s changes are taken back:/m)
      }).pipe(Effect.provide(changesOf(wait)))
    })
  )
})
