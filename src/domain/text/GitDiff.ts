/** Changes of files in the format of `git diff`, which `git apply` takes back in. */
import * as Option from "effect/Option"
import * as TextDiff from "effect/TextDiff"
import { decode } from "./Encoding.ts"
import { gitQuote } from "./GitQuote.ts"

/**
 * What a path had or has. `mode` is the type and the permissions; `bytes` undefined: they are not known. `id` is the name
 * that git has for such content.
 */
export interface DiffSide {
  readonly mode: number
  readonly bytes: Uint8Array | undefined
  readonly id: string
}

/** `path` is as it is to be shown; null where there is nothing. */
export interface DiffInput {
  readonly path: string
  readonly before: DiffSide | null
  readonly after: DiffSide | null
}

export interface FileDiff {
  readonly text: string
  readonly added: number
  readonly removed: number
}

/** Lines that may differ before a change is told as a whole: to find the shortest way takes ever longer. */
const EDITS_LIMIT = 2_000

/** As long as git writes them where nobody asked for more. */
const ID_LENGTH = 7

/** Git knows whether a file may be run, and nothing else of its permissions. */
const modeOf = ({ mode }: DiffSide): string =>
  (mode & 0o170000) === 0o120000 ? "120000" : (mode & 0o111) === 0 ? "100644" : "100755"

/** As git judges it: UTF-8 or something like it. A byte order mark is a part of the text. */
const textOf = (side: DiffSide | null): string | undefined => {
  if (side === null) return ""
  if (side.bytes === undefined) return undefined
  const decoded = Option.getOrUndefined(decode(side.bytes))
  if (decoded === undefined || !decoded.encoding.startsWith("utf-8")) return undefined
  return decoded.encoding === "utf-8-bom" ? `\ufeff${decoded.text}` : decoded.text
}

const count = (edits: ReadonlyArray<TextDiff.Edit<string>>, tag: "Insert" | "Delete"): number =>
  edits.reduce((sum, edit) => (edit._tag === tag ? sum + edit.items.length : sum), 0)

export const gitDiff = ({ after, before, path }: DiffInput): FileDiff => {
  const [old, current] = [gitQuote(`a/${path}`), gitQuote(`b/${path}`)]
  const head = [`diff --git ${old} ${current}`]
  if (before === null && after !== null) head.push(`new file mode ${modeOf(after)}`)
  else if (after === null && before !== null) head.push(`deleted file mode ${modeOf(before)}`)
  else if (before !== null && after !== null && modeOf(before) !== modeOf(after)) {
    head.push(`old mode ${modeOf(before)}`, `new mode ${modeOf(after)}`)
  }
  const names = [before === null ? "/dev/null" : old, after === null ? "/dev/null" : current] as const
  const [oldText, newText] = [textOf(before), textOf(after)]
  if (oldText === undefined || newText === undefined) {
    // Without this line git takes the next file's head for this one's, and the whole patch for damaged.
    if (before !== null && after !== null) {
      const ids = [before, after].map(({ id }) => id.slice(0, ID_LENGTH)).join("..")
      head.push(modeOf(before) === modeOf(after) ? `index ${ids} ${modeOf(after)}` : `index ${ids}`)
    }
    const text = [...head, `Binary files ${names[0]} and ${names[1]} differ`, ""].join("\n")
    return { text, added: 0, removed: 0 }
  }
  const edits = TextDiff.lines(oldText, newText, { maxEdits: EDITS_LIMIT })
  // A name with spaces ends with a tab, so that readers know where it ends.
  const [fromFile = "", toFile = ""] = names.map((name) =>
    name.includes(" ") && !name.startsWith('"') ? `${name}\t` : name
  )
  return {
    text: `${head.join("\n")}\n${TextDiff.unified(edits, { fromFile, toFile })}`,
    added: count(edits, "Insert"),
    removed: count(edits, "Delete")
  }
}
