import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Memory from "../../src/transports/Memory.ts"

const read = (end: Memory.MemoryEnd) =>
  Stream.runCollect(Stream.map(end.incoming, (frame) => (frame._tag === "Text" ? frame.text : "")))

describe("Memory.pair", () => {
  it.effect("carries frames both ways, in order", () =>
    Effect.gen(function* () {
      const { agent, editor } = yield* Memory.pair
      yield* agent.send(["a", "b"])
      yield* agent.send(["c"])
      yield* editor.send(["x"])
      yield* agent.end
      yield* editor.end
      assert.deepStrictEqual([...(yield* read(editor))], ["a", "b", "c"])
      assert.deepStrictEqual([...(yield* read(agent))], ["x"])
    })
  )

  it.effect("is bounded: a send waits for the reader, and loses nothing", () =>
    Effect.gen(function* () {
      const { agent, editor } = yield* Memory.pair
      const frames = Array.from({ length: 1000 }, (_, at) => String(at))
      const sending = yield* Effect.forkChild(Effect.andThen(agent.send(frames), agent.end), { startImmediately: true })
      assert.isUndefined(sending.pollUnsafe())
      assert.deepStrictEqual([...(yield* read(editor))], frames)
      yield* Fiber.join(sending)
    })
  )

  it.effect("end is one way: the other side reads the rest and can still answer", () =>
    Effect.gen(function* () {
      const { agent, editor } = yield* Memory.pair
      yield* editor.send(["last"])
      yield* editor.end
      yield* editor.closed
      assert.deepStrictEqual([...(yield* read(agent))], ["last"])
      yield* agent.send(["answer"])
      yield* agent.end
      assert.deepStrictEqual([...(yield* read(editor))], ["answer"])
      yield* editor.send(["lost"])
    })
  )

  it.effect("close breaks the pipe of the other side, also one that waits", () =>
    Effect.gen(function* () {
      const { agent, editor } = yield* Memory.pair
      const waiting = yield* Effect.forkChild(agent.send(Array.from({ length: 300 }, String)), {
        startImmediately: true
      })
      yield* editor.close
      yield* Fiber.join(waiting)
      yield* agent.closed
      yield* agent.send(["lost"])
      assert.deepStrictEqual([...(yield* read(agent))], [])
      assert.deepStrictEqual([...(yield* read(editor))], [])
    })
  )
})
