/**
 * A page of a file of any size: what comes before it is counted, not kept (F93), as long as that does not take too long.
 * A NUL ends it at once, so that nobody reads through the holes of a sparse file. UTF-8 only.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { addText, emptyPage, endPage, type Page, type PageLimits } from "../../domain/text/Lines.ts"
import { FileFailed } from "../ClientFS.ts"
import { binary as binaryFile, failure } from "./DiskFile.ts"

const CHUNK = 256 * 1024

/** For what comes before the page. */
const PATIENCE = Duration.seconds(20)

/** In bytes: enough to tell what kind of file it is. */
const HEAD = 4_096
const NEWLINE = 10

interface State {
  /** Lines that still have to end before the page begins. */
  readonly before: number
  readonly page: Page
  readonly seen: boolean
  /** A NUL came, in the page or before it. */
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

const tooFar = (path: string, line: number) =>
  Effect.fail(
    new FileFailed({
      reason: "too_large",
      path,
      message: `${path} is so large that line ${line} was not reached within ${Duration.toSeconds(PATIENCE)} s: use a command such as sed -n '${line},+100p' or tail`
    })
  )

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
    if (bytes.subarray(0, start).includes(0)) return { ...state, before, binary: true }
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
    Effect.mapError((error) => failure(path, error)),
    Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => tooFar(path, first) })
  )
  const { binary, page, seen } = Option.getOrElse(last, () => start)
  if (binary || page.lines.some((line) => line.includes("\0"))) {
    const [head, { size }] = yield* Effect.mapError(
      Effect.all([Stream.runCollect(fs.stream(path, { bytesToRead: HEAD })), fs.stat(path)]),
      (error) => failure(path, error)
    )
    return yield* binaryFile(path, Buffer.concat(head), Number(size))
  }
  return seen ? endPage(addText(page, decoder.decode())) : undefined
})
