/** All of standard input as one small text: a key, or a value. More is refused before it fills the memory. */
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { failed } from "./Explained.ts"

/** In bytes. */
const LARGEST = 1024 * 1024

export const inputText = Stdio.Stdio.use(({ stdin }) => {
  let size = 0
  return stdin.pipe(
    Stream.mapError(() => failed("Standard input cannot be read")),
    Stream.tap((bytes) => {
      size += bytes.length
      return size > LARGEST
        ? Effect.fail(failed(`Standard input has more than ${LARGEST} bytes, which is no value`))
        : Effect.void
    }),
    Stream.decodeText(),
    Stream.mkString
  )
})
