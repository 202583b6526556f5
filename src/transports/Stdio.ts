/** Frames as lines of UTF-8 over a pair of Node streams, such as the process's own input and output. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createWriteStream, fstatSync } from "node:fs"
import type { Readable, Writable } from "node:stream"
import { Frames, type FramesShape } from "./Frames.ts"
import * as Lines from "./Lines.ts"

/**
 * Frames over any two streams, such as those of a child process. `input` is destroyed with the scope, so that an open
 * pipe does not keep the process alive; `output` belongs to the caller. Neither raises an unhandled `error` event, then or
 * later.
 */
export const make = Effect.fnUntraced(function* (
  input: Readable,
  output: Writable
): Effect.fn.Return<FramesShape, never, Scope.Scope> {
  const closed = yield* Deferred.make<void>()
  const sending = new Set<() => void>()
  const close = () => {
    Deferred.doneUnsafe(closed, Effect.void)
    // Node calls no callback of a write that was under way when the stream was destroyed.
    for (const letGo of sending) letGo()
  }
  // Listeners stay for good: a write may still fail after the scope has closed (TR-08).
  output.on("error", close)
  output.on("close", close)
  input.on("error", () => {})
  yield* Effect.addFinalizer(() => Effect.sync(() => input.destroy()))

  const lines: Stream.Stream<Uint8Array> = NodeStream.fromReadable<Uint8Array>({
    evaluate: () => input,
    closeOnDone: false
  }).pipe(Stream.catchCause(() => Stream.empty))

  return {
    incoming: Stream.mapAccumArray(
      lines,
      () => Lines.make(),
      (state, chunks) => [state, chunks.flatMap(state.push)],
      { onHalt: (state) => state.end() }
    ),
    // The callback comes when the system took the bytes, or failed to: a slow reader holds the writer back.
    send: (frames) =>
      Effect.callback((resume) => {
        const done = () => {
          sending.delete(done)
          resume(Effect.void)
        }
        if (Deferred.isDoneUnsafe(closed) || !output.writable) return done()
        sending.add(done)
        output.write(`${frames.join("\n")}\n`, done)
      }),
    closed: Deferred.await(closed),
    disconnect: (reason) =>
      Effect.andThen(
        Effect.logWarning(`The connection is ended: ${reason}`),
        Effect.sync(() => {
          close()
          input.destroy()
          output.destroy()
        })
      )
  }
})

/** Node writes to a file behind `process.stdout` while the whole process waits. */
const standardOutput = (): Writable =>
  fstatSync(1).isFile() ? createWriteStream("", { fd: 1, autoClose: false }) : process.stdout

/** The process's own input and output. Nothing else may read the one or write to the other (TR-02). */
export const layer: Layer.Layer<Frames> = Layer.effect(
  Frames,
  Effect.suspend(() => make(process.stdin, standardOutput()))
)
