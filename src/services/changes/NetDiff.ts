/** What a session changed, first to last, in bounded size. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import { showPath } from "../../domain/files/Paths.ts"
import { type FileVersion, isSameVersion, typeOf } from "../../domain/session/Changes.ts"
import { netOf } from "../../domain/session/NetChanges.ts"
import type { SessionState } from "../../domain/session/SessionState.ts"
import { gitDiff } from "../../domain/text/GitDiff.ts"
import type { ChangesShape, DiffResult } from "../Changes.ts"
import type { Workspace } from "../Workspace.ts"
import type { Blobs } from "./Blobs.ts"

/** Files that are told of, and characters of the whole diff and of one file's. */
const FILES = 1_000
const LENGTH = 400_000
const FILE_LENGTH = 100_000

/** In bytes: a larger file is told of without its lines. */
const FILE_SIZE = 2 * 1024 * 1024

type DiffFile = DiffResult["files"][number]

const statusOf = (before: FileVersion | null, after: FileVersion | null): DiffFile["status"] =>
  before === null ? "added" : after === null ? "deleted" : "modified"

/** The name that git has for a file of these bytes. */
const gitIdOf = (bytes: Uint8Array): string =>
  createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex")

/** A folder has no lines. */
const withoutFolder = (version: FileVersion | null): FileVersion | null =>
  version !== null && typeOf(version) === "folder" ? null : version

export const makeNetDiff = (blobs: Blobs): ChangesShape["diff"] =>
  Effect.fn("Changes.diff")(function* ({ cwd, scratch }: Workspace, state: SessionState) {
    const sideOf = Effect.fnUntraced(function* (version: FileVersion | null) {
      if (version === null) return null
      const bytes = version.size > FILE_SIZE ? Option.none() : yield* blobs.read(scratch, version.hash)
      const id = Option.match(bytes, { onNone: () => version.hash, onSome: gitIdOf })
      return { mode: version.mode, bytes: Option.getOrUndefined(bytes), id }
    })
    const changed = netOf(state.changes.flatMap(({ changes }) => changes))
      .files.map(({ after, before, path }) => ({ path, before: withoutFolder(before), after: withoutFolder(after) }))
      .filter(({ after, before }) => !isSameVersion(before, after))
      .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    const files: Array<DiffFile> = []
    let diff = ""
    let truncated = changed.length > FILES
    for (const { after, before, path } of changed.slice(0, FILES)) {
      const shown = showPath(cwd, path)
      const file = gitDiff({ path: shown, before: yield* sideOf(before), after: yield* sideOf(after) })
      const { added, removed } = file
      files.push({ path, status: statusOf(before, after), added, removed })
      if (file.text.length > FILE_LENGTH || diff.length + file.text.length > LENGTH) truncated = true
      else diff += file.text
    }
    return { diff, files, truncated } satisfies DiffResult
  })
