/** What the first message over a WebSocket at `/acp` must be (WS-01). */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as JsonRpc from "../../domain/wire/JsonRpc.ts"
import * as RequestId from "../../domain/wire/RequestId.ts"
import type { Frame, FramesShape } from "../Frames.ts"
import type { WebSocketFramesShape } from "./WebSocketFrames.ts"
import { CloseCode } from "./WebSockets.ts"

/** Why the frame cannot come first; `initialize` if it is what has to. What is no request is answered or left out. */
const judge = (frame: Frame): "initialize" | "other" | { readonly problem: string } => {
  if (frame._tag === "TooLong") return "other"
  const message = JsonRpc.parseBounded(frame.text)
  switch (message._tag) {
    case "Request":
      if (message.method !== "initialize") return { problem: "The first message must be initialize" }
      return message.id === RequestId.nullId ? { problem: "initialize needs an id" } : "initialize"
    case "Notification":
    case "Cancel":
      return { problem: "The first message must be initialize" }
    default:
      return "other"
  }
}

/** The same frames, which end with 1002 when the client begins with anything but `initialize`. */
export const initializeFirst = (frames: WebSocketFramesShape): FramesShape => {
  let begun = false
  const admit = <Some extends ReadonlyArray<Frame>>(some: Some): Effect.Effect<Some> =>
    Effect.suspend(() => {
      for (const frame of some) {
        if (begun) break
        const verdict = judge(frame)
        // What came along is lost with the connection.
        if (typeof verdict === "object") {
          return Effect.andThen(frames.close(CloseCode.ProtocolError, verdict.problem), Effect.never)
        }
        begun = verdict === "initialize"
      }
      return Effect.succeed(some)
    })
  return { ...frames, incoming: Stream.mapArrayEffect(frames.incoming, admit) }
}
