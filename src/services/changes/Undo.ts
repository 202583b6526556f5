/** Takes back what the last turn changed, if nothing of anybody else would be lost. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import { type FileVersion, isSameVersion, typeOf } from "../../domain/session/Changes.ts"
import { type Net, type NetChange, netOf } from "../../domain/session/NetChanges.ts"
import { userMessage } from "../../domain/session/ContextMessage.ts"
import type { SessionState } from "../../domain/session/SessionState.ts"
import { type Undone, undoneMessage } from "../../domain/session/Undo.ts"
import { text } from "../../domain/Content.ts"
import type { ChangesShape, UndoResult } from "../Changes.ts"
import type { Blobs } from "./Blobs.ts"
import type { BeginCapture, Capture, Captured } from "./Capture.ts"
import { makeRestore, type Restoration } from "./Restore.ts"

interface Refusal {
  readonly path: string
  readonly reason: string
}

const isFolder = (version: FileVersion | null): boolean => version !== null && typeOf(version) === "folder"

const whatOf = ({ after, before }: NetChange): Undone =>
  before === null ? "removed" : after === null || isFolder(after) ? "recreated" : "restored"

const describeMissed = (net: Net): ReadonlyArray<string> =>
  net.missed.map(
    ({ missed, path }) => `Only a part of the turn was recorded; the rest stays as it is. ${path}: ${missed}.`
  )

const IGNORED =
  "Of what commands did, files that .gitignore names and the repository's own records (commits, branches, the index) stay as they are."

export const makeUndo = (
  fs: FileSystem.FileSystem,
  paths: Path.Path,
  blobs: Blobs,
  begin: BeginCapture
): ChangesShape["undo"] => {
  const restore = makeRestore(fs, paths, begin)

  /** Without the folders that a file of the turn is in: they go and come with it. */
  const told = (all: ReadonlyArray<NetChange>): ReadonlyArray<NetChange> => {
    const sorted = all.map(({ path }) => `${path}/`).toSorted((one, other) => (one < other ? -1 : 1))
    const outer = new Set(sorted.filter((path, index) => sorted[index + 1]?.startsWith(path)))
    return all.filter(({ after, before, path }) => !(isFolder(after) && before === null && outer.has(`${path}/`)))
  }

  /** A folder with something of somebody else in it stays. */
  const isDone = Effect.fnUntraced(function* ({ after, before, path }: NetChange, capture: Capture) {
    return before !== null || !isFolder(after) || (yield* capture.look(path)) === null
  })

  return Effect.fn("Changes.undo")(function* ({ cwd, scratch }, state: SessionState, log) {
    const last = state.changes.findLast(({ changes }) => {
      const { files, missed } = netOf(changes)
      return files.length > 0 || missed.length > 0
    })
    if (last === undefined) return { _tag: "Nothing" } satisfies UndoResult
    const net = netOf(last.changes)

    const reasonFor = ({ after, before, mixed }: NetChange, current: Captured): string | undefined => {
      const earlier =
        before === null
          ? "It was not there before the turn"
          : isFolder(before)
            ? "Before the turn it was a folder"
            : `What it was before the turn is kept in ${paths.join(blobs.folder(scratch), before.hash)}`
      const advice = `${earlier}: make it that by hand, or put back what the turn left, and undo again.`
      if (current !== null && "missed" in current)
        return `It cannot be compared with what the turn left: ${current.missed}.`
      if (!isSameVersion(current, after)) {
        const what =
          after === null ? "Somebody made it since." : current === null ? "It is gone since." : "It has changed since."
        // Whether a folder is still empty shows when it is removed; one that is gone needs nothing.
        return isFolder(after) && (current === null || isFolder(current)) ? undefined : `${what} ${advice}`
      }
      return mixed ? `Somebody else changed it in the middle of the turn. ${advice}` : undefined
    }

    const capture = begin()
    const refused: Array<Refusal> = []
    const wanted: Array<NetChange> = []
    const restorations: Array<Restoration> = []
    for (const change of net.files) {
      const { after, before, path } = change
      const current = yield* capture.look(path)
      const isMissed = current !== null && "missed" in current
      if (!isMissed && isSameVersion(current, before)) continue
      const reason = reasonFor(change, current)
      if (reason !== undefined) {
        refused.push({ path, reason })
        continue
      }
      const bytes = before === null || isFolder(before) ? Effect.succeedNone : blobs.read(scratch, before.hash)
      if (before !== null && !isFolder(before) && Option.isNone(yield* bytes)) {
        const where = "A session that was forked to another folder has to be undone where it came from."
        refused.push({ path, reason: `What it was before the turn is not kept any more. ${where}` })
        continue
      }
      wanted.push(change)
      restorations.push({ path, before, after, bytes })
    }
    if (refused.length > 0) return { _tag: "Refused", reasons: refused } satisfies UndoResult

    return yield* restore(restorations).pipe(
      Effect.andThen(
        Effect.gen(function* () {
          const now = begin()
          const done = yield* Effect.filter(wanted, (change) => isDone(change, now))
          const files = told(done).map((change) => ({ path: change.path, what: whatOf(change) }))
          yield* log({ _tag: "ChangesUndone", turn: last.turn, count: last.changes.length })
          if (files.length > 0) {
            yield* log({ _tag: "ContextAppended", messages: [userMessage([text(undoneMessage(files, cwd))])] })
          }
          const kept = `What the files held until now is kept in ${blobs.folder(scratch)} until the session is deleted.`
          const notes = [
            ...describeMissed(net),
            ...(net.byCommand ? [IGNORED] : []),
            ...(files.length > 0 ? [kept] : [])
          ]
          return { _tag: "Undone", files, notes } satisfies UndoResult
        })
      ),
      Effect.catchTag("RestoreFailed", ({ path, reason, stranded }) =>
        Effect.succeed({
          _tag: "Refused",
          reasons: [{ path, reason }, ...stranded],
          ...(stranded.length > 0 ? { isHalf: true } : {})
        } satisfies UndoResult)
      ),
      Effect.uninterruptible
    )
  })
}
