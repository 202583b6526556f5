/** Takes the first frame of a connection and leaves the rest to whom it is for. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { FramesShape } from "../Frames.ts"

/** How long the other side may take for its first frame. */
export const patience = "10 seconds"

export interface Opened {
  /** Absent when the connection ended without one, or with one that was too long. */
  readonly first: string | undefined
  /** The connection without that frame. */
  readonly frames: FramesShape
}

/** None when nothing came in time. */
export const open = Effect.fnUntraced(function* (
  frames: FramesShape
): Effect.fn.Return<Option.Option<Opened>, never, Scope.Scope> {
  const pull = yield* Stream.toPull(frames.incoming)
  const chunk = yield* pull.pipe(
    Pull.catchDone(() => Effect.succeed([])),
    Effect.timeoutOption(patience)
  )
  return Option.map(chunk, ([first, ...others]) => ({
    first: first?._tag === "Text" ? first.text : undefined,
    frames: {
      ...frames,
      incoming: Stream.concat(Stream.fromIterable(others), Stream.fromPull(Effect.succeed(pull)))
    }
  }))
})
