/** The transport of the official SDK's client over one end of the linked pair, with a tap on both directions. */
import type { AnyMessage, Stream as SdkStream } from "@agentclientprotocol/sdk"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { MemoryEnd } from "../../src/transports/Memory.ts"
import { makeOracle } from "./Schema.ts"

export interface Tapped {
  readonly stream: SdkStream
  /** What the oracle found wrong with the lines of the agent. */
  readonly problems: ReadonlyArray<string>
}

export const sdkStream = Effect.fnUntraced(function* (end: MemoryEnd) {
  const oracle = makeOracle()
  const problems: Array<string> = []
  const outgoing = yield* Queue.unbounded<string>()
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(outgoing), (line) => end.send([line]))))
  const readable = yield* Stream.toReadableStreamEffect(
    Stream.map(end.incoming, (frame): AnyMessage => {
      const line = frame._tag === "Text" ? frame.text : "too long"
      problems.push(...oracle.received(line))
      return JSON.parse(line)
    })
  )
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      const line = JSON.stringify(message)
      oracle.sent(line)
      Queue.offerUnsafe(outgoing, line)
    }
  })
  const tapped: Tapped = { stream: { readable, writable }, problems }
  return tapped
})
