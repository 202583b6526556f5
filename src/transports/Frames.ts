/** A transport: text frames in, text frames out. One frame is one JSON-RPC message. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

/** The longest message in either direction, in bytes of UTF-8: editors drop the connection past it (TR-04). */
export const maxFrameBytes = 32 * 1024 * 1024

/** A frame that came in, or the news that one was longer than the limit and was thrown away. */
export type Frame =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "TooLong"; readonly bytes: number }

/** What a transport gives. To write one, provide these four. */
export interface FramesShape {
  /** Frames as they come; ends when the other side ends. Chunks are what arrived together. */
  readonly incoming: Stream.Stream<Frame>
  /** Writes frames, in order, as one write; waits until it is written. Fails never: a broken pipe completes `closed`. */
  readonly send: (frames: ReadonlyArray<string>) => Effect.Effect<void>
  /** Done when nothing can be sent any more. */
  readonly closed: Effect.Effect<void>
  /**
   * Ends the connection at once and tells the other side why, as far as the transport can. What waits to be written is
   * lost, both directions end, and `closed` is done. Harmless when it has ended already.
   */
  readonly disconnect: (reason: string) => Effect.Effect<void>
}

/** The transport of one connection. */
export class Frames extends Context.Service<Frames, FramesShape>()("super-pi/Frames") {}
