/** What became of an undo, for a person and for the model. */
import { showPath } from "../files/Paths.ts"

export type Undone = "restored" | "removed" | "recreated"

/** All of it or nothing, unless it says otherwise. Paths are absolute; reasons and notes are for a person. */
export type UndoResult =
  | {
      readonly _tag: "Undone"
      readonly files: ReadonlyArray<{ readonly path: string; readonly what: Undone }>
      /** What the turn did that was not kept, and so stays. */
      readonly notes: ReadonlyArray<string>
    }
  | {
      readonly _tag: "Refused"
      readonly reasons: ReadonlyArray<{ readonly path: string; readonly reason: string }>
      /** It failed on its way, and not everything could become again what it was; the reasons say what and where. */
      readonly isHalf?: boolean
    }
  | { readonly _tag: "Nothing" }

/** Files that a text names; the rest is a number. */
const NAMED = 100

const named = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length <= NAMED ? lines : [...lines.slice(0, NAMED), `- and ${lines.length - NAMED} more`]

/** For a person, as Markdown. Paths below `cwd` are told from there; default: they stay absolute. */
export const describeUndo = (result: UndoResult, cwd?: string): string => {
  const show = (path: string) => (cwd === undefined ? path : showPath(cwd, path))
  switch (result._tag) {
    case "Nothing":
      return "There is nothing to undo: no turn of this session changed a file, or all of it was taken back."
    case "Undone":
      return [
        result.files.length === 0 ? "The undo changed no file." : "The last turn's changes are taken back:",
        ...named(result.files.map(({ path, what }) => `- ${what} ${show(path)}`)),
        ...result.notes.map((note) => `\n${note}`)
      ].join("\n")
    case "Refused":
      return [
        result.isHalf === true
          ? "The undo failed on its way, and not all of it could be taken back:"
          : "Nothing was undone, since something would be lost:",
        ...named(result.reasons.map(({ path, reason }) => `- ${show(path)}: ${reason}`))
      ].join("\n")
  }
}

/** For the model, which would go on as if its changes were there. */
export const undoneMessage = (files: Extract<UndoResult, { _tag: "Undone" }>["files"], cwd: string): string =>
  [
    "[The user took back what the last turn changed in files. They are again what they were before it:",
    ...named(files.map(({ path, what }) => `- ${what} ${showPath(cwd, path)}`)),
    "Read a file again before you change it, and do not repeat those changes unless asked to.]"
  ].join("\n")
