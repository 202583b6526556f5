/** An answer that is a stream of server-sent events. */
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { Failure } from "../../domain/Failure.ts"
import type { Told } from "./Feed.ts"

/** How often something is said while nothing happens, so that no one on the way takes the connection for dead. */
const KEEP_ALIVE = "15 seconds"

/** Events of one write. */
const AT_ONCE = 8

/** Browsers connect again after a second. */
const OPENING = "retry: 1000\n\n"

const render = ({ id, json }: Told): string => `id: ${id}\ndata: ${json}\n\n`

/** Ends with the events, or with `closing`. What fails on the way ends it as well: the reader connects again and is told. */
export const respond = (
  events: Stream.Stream<Told, Failure>,
  closing: Effect.Effect<void>
): HttpServerResponse.HttpServerResponse => {
  const told = events.pipe(
    // Few at a time are written out, since what is written out waits for the reader.
    Stream.chunks,
    Stream.flatMap((some) => Stream.fromIterable(some, { chunkSize: AT_ONCE })),
    Stream.map(render),
    Stream.catch(({ message }) => Stream.fromEffectDrain(Effect.logWarning(`A stream of events ended: ${message}`)))
  )
  const silence = Stream.map(Stream.drop(Stream.tick(KEEP_ALIVE), 1), () => ":\n\n")
  const text = Stream.concat(Stream.succeed(OPENING), Stream.merge(told, silence, { haltStrategy: "left" }))
  return HttpServerResponse.stream(Stream.encodeText(Stream.interruptWhen(text, closing)), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-cache", "x-accel-buffering": "no" }
  })
}
