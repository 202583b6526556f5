/** A page of a file of any size: what comes before it is counted, not kept (F93). UTF-8 only. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { addText, emptyPage, endPage, type Page, type PageLimits } from "../../domain/text/Lines.ts"
import { FileFailed } from "../ClientFS.ts"
import { failure } from "./DiskFile.ts"

const CHUNK = 256 * 1024
const NEWLINE = 10

interface State {
  /** Lines that still have to end before the page begins. */
  readonly before: number
  readonly page: Page
  readonly seen: boolean
  /** The page holds a NUL. */
  readonly binary: boolean
}

/** Where the rest begins after `lines` line ends, and how many of them are still to come. */
const skip = (bytes: Uint8Array, lines: number): readonly [start: number, left: number] => {
  let start = 0
  let left = lines
  while (left > 0) {
    const end = bytes.indexOf(NEWLINE, start)
    if (end === -1) return [bytes.length, left]
    start = end + 1
    left--
  }
  return [start, 0]
}

/** Undefined when the file has no line `first`. */
export const readLargeFile = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  path: string,
  first: number,
  limits: PageLimits
) {
  const decoder = new TextDecoder()
  const add = (state: State, bytes: Uint8Array): State => {
    const [start, before] = skip(bytes, state.before)
    if (before > 0) return { ...state, before }
    const rest = bytes.subarray(start)
    const page = addText(state.page, decoder.decode(rest, { stream: true }))
    return { before, page, seen: state.seen || rest.length > 0, binary: !page.full && rest.includes(0) }
  }
  const start: State = { before: first - 1, page: emptyPage(limits), seen: false, binary: false }
  const last = yield* fs.stream(path, { chunkSize: CHUNK }).pipe(
    Stream.mapAccum(
      () => start,
      (state, bytes) => {
        const next = add(state, bytes)
        return [next, [next]]
      }
    ),
    // Bytes that are no text may go on without a line end.
    Stream.takeUntil(({ binary, page }) => page.full || binary),
    Stream.runLast,
    Effect.mapError((error) => failure(path, error))
  )
  const { binary, page, seen } = Option.getOrElse(last, () => start)
  if (binary || page.lines.some((line) => line.includes("\0"))) {
    return yield* new FileFailed({ reason: "binary", path, message: `${path} is a binary file, not text` })
  }
  return seen ? endPage(addText(page, decoder.decode())) : undefined
})
