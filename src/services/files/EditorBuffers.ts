/**
 * Asks an editor what it shows. An editor is a program of others: what it answers is believed only where it can be true,
 * and one that does not answer is left alone for a while, since each question would make a turn wait.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { SessionId } from "../../domain/Ids.ts"
import { countLines, lineStart } from "../../domain/text/Lines.ts"
import { toUnix } from "../../domain/text/LineEnding.ts"
import type { LineRange } from "../ClientFS.ts"
import type { Editor } from "../Editor.ts"
import { clip } from "../../domain/text/Clip.ts"

/** `text` is undefined where the disk counts. `notice`: why, where that is no ordinary answer. */
export interface Buffer {
  readonly text: string | undefined
  readonly notice?: string
}

export interface EditorBuffers {
  readonly ask: (editor: Editor, session: SessionId, path: string, range?: LineRange) => Effect.Effect<Buffer>
  /** Whether a file has these lines there, or a text is the whole of it since the editor paid no heed to the range. */
  readonly isPartOf: (whole: string, part: string, range: LineRange) => boolean
  /** The answer if it has no more lines than were wanted. */
  readonly keepsTo: (range: LineRange, buffer: Buffer) => Buffer
}

const PATIENCE = Duration.seconds(5)

/** How long an editor that did not answer is not asked again. */
const REST = Duration.minutes(1)

/** In characters: no file that a person edits is longer. */
const LENGTH_LIMIT = 50 * 1024 * 1024

const sequel = "Files are read from the disk, without changes that are not saved."
const silent = `The editor did not say within ${Duration.toSeconds(PATIENCE)} s what it shows. ${sequel}`
const failing = (message: string) =>
  `The editor could not say what it shows (${clip(message.replaceAll(/\s+/g, " ").trim(), 200)}). ${sequel}`
const senseless = `What the editor showed for a file is no text of a file, and was not believed. ${sequel}`
const unheeding =
  "The editor gives whole files where lines were asked for, and was not believed. They come from the disk."

/** Told when the text of one file came for another. */
export const misplaced =
  "What the editor showed for a file belongs to another one, or to no folder that there is, and was not believed. " +
  "That file is read from the disk."

const linesOf = (text: string, { limit, line }: LineRange): string => {
  const start = lineStart(text, line)
  if (start === undefined) return ""
  const rest = text.slice(start)
  return rest.slice(0, lineStart(rest, limit + 1))
}

const withoutEnd = (text: string): string => toUnix(text).replace(/\n$/, "")

export const makeEditorBuffers = (): EditorBuffers => {
  const resting = new WeakMap<Editor, number>()

  const ask = Effect.fnUntraced(function* (editor: Editor, session: SessionId, path: string, range?: LineRange) {
    if (!editor.capabilities.readTextFile) return { text: undefined } satisfies Buffer
    const now = yield* Clock.currentTimeMillis
    const notBefore = resting.get(editor)
    if (notBefore !== undefined && now < notBefore) return { text: undefined, notice: silent } satisfies Buffer
    const rest = Effect.map(Clock.currentTimeMillis, (time) => {
      resting.set(editor, time + Duration.toMillis(REST))
      return { text: undefined, notice: silent } satisfies Buffer
    })
    return yield* editor.readTextFile(session, path, range).pipe(
      Effect.map((text): Buffer => {
        const isText = text.length <= LENGTH_LIMIT && !text.includes("\0") && text.isWellFormed()
        return isText ? { text } : { text: undefined, notice: senseless }
      }),
      Effect.catch(({ message, notFound }) =>
        Effect.succeed<Buffer>({ text: undefined, ...(notFound ? {} : { notice: failing(message) }) })
      ),
      Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => rest })
    )
  })

  return {
    ask,
    isPartOf: (whole, part, range) =>
      withoutEnd(linesOf(toUnix(whole), range)) === withoutEnd(part) || withoutEnd(whole) === withoutEnd(part),
    keepsTo: (range, buffer) =>
      buffer.text === undefined || countLines(toUnix(buffer.text)) <= range.limit
        ? buffer
        : { text: undefined, notice: unheeding }
  }
}
