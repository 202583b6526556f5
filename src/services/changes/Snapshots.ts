/** What a folder holds at a moment, and what came of it since: for commands, which change whatever they like. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import { type FileChange, type FileVersion, isSameVersion } from "../../domain/session/Changes.ts"
import { FILE_LIMIT } from "./Blobs.ts"
import { type Captured, TOO_LARGE } from "./Capture.ts"
import type { ContentId, Contents } from "./Contents.ts"
import { foldersOf, makeInnermost, newFolders } from "./Folders.ts"
import type { Repository } from "./Git.ts"
import type { List } from "./Listing.ts"
import { makeRealFolders } from "./RealFolders.ts"
import { type Stat, statAll } from "./Stat.ts"
import type { Unaffordable } from "./Unaffordable.ts"

/** Files of one command whose versions are kept. */
const CHANGES_LIMIT = 5_000

/** Milliseconds that the clock of a file system may be behind, or that may pass between two of its ticks. */
const SLACK = 20

interface Known extends Stat {
  readonly id: ContentId
}

/** `takenAt` is in milliseconds since 1970. */
export interface Snapshot {
  readonly root: string
  readonly takenAt: number
  readonly files: ReadonlyMap<string, Known>
  /** What has a name that is not UTF-8, as `Listing` has it. */
  readonly odd: ReadonlyMap<string, string>
  /** The folders that the files are in, the root among them. */
  readonly folders: ReadonlyMap<string, Stat>
  readonly repositories: ReadonlyArray<Repository>
}

export interface Snapshots {
  /** `earlier` saves reading what has not changed since. `root` is a real path, `now` in milliseconds since 1970. */
  readonly take: (
    scratch: string,
    root: string,
    now: number,
    earlier: Snapshot | undefined
  ) => Effect.Effect<Snapshot, Unaffordable>
  /** What became of the files between two snapshots of one folder, and the folders that were made. */
  readonly compare: (
    scratch: string,
    before: Snapshot,
    after: Snapshot
  ) => Effect.Effect<ReadonlyArray<FileChange>, Unaffordable>
}

const MOVED = "it is older than the command, and was not among the files that are looked after"
const ODD = "its name is not UTF-8, so that it could not be recorded, and is left as the command left it"
const UNREADABLE = "it could not be read"
const LOST = "its bytes could not be kept"

/** Keys whose values differ, or that only one of them has. */
const differing = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  [...new Set([...one.keys(), ...other.keys()])].filter((key) => one.get(key) !== other.get(key))

/** Every repository once. */
const merged = (...all: ReadonlyArray<ReadonlyArray<Repository>>): ReadonlyArray<Repository> => [
  ...new Map(all.flat().map((repository) => [repository.objects, repository])).values()
]

const isSame = (one: Known | undefined, other: Known | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  (one.key === other.key || (one.id !== undefined && one.id === other.id && one.mode === other.mode))

export const makeSnapshots = (
  fs: FileSystem.FileSystem,
  paths: Path.Path,
  list: List,
  contents: Contents
): Snapshots => {
  /** Files that are not listed any more may still be there; a link may have taken the place of their folder. */
  const stillThere = Effect.fnUntraced(function* (files: ReadonlyArray<string>) {
    const real = makeRealFolders(fs, paths)
    const folders = new Set<string>()
    for (const folder of new Set(files.map((path) => paths.dirname(path)))) {
      if (yield* real.has(folder)) folders.add(folder)
    }
    return yield* statAll(files.filter((path) => folders.has(paths.dirname(path))))
  })

  const take: Snapshots["take"] = Effect.fnUntraced(function* (scratch, root, now, earlier) {
    const listing = yield* list(root)
    const earlierFiles = earlier?.files ?? new Map<string, Known>()
    const unlisted = yield* stillThere([...earlierFiles.keys()].filter((path) => !listing.files.has(path)))
    const files = new Map<string, Known>()
    const unknown = new Map<string, Stat>()
    for (const [path, stat] of [...listing.files, ...unlisted]) {
      const before = earlierFiles.get(path)
      // What changed right before the last look may have changed once more within the same tick of the clock.
      const isSettled = before !== undefined && before.changedAt < (earlier?.takenAt ?? 0) - SLACK
      if (isSettled && before.key === stat.key) files.set(path, before)
      else unknown.set(path, stat)
    }
    const repositories = merged(listing.repositories, earlier?.repositories ?? [])
    const ids = yield* contents.keep(scratch, unknown, repositories)
    for (const [path, stat] of unknown) files.set(path, { ...stat, id: ids.get(path) })
    const folders = yield* statAll(foldersOf(paths, root, files.keys()))
    return { root, takenAt: now, files, odd: listing.odd, folders, repositories }
  })

  /** Files that are not what they were, and what came from where nobody looks. */
  const changesOf = (before: Snapshot, after: Snapshot) => {
    const since = before.takenAt - SLACK
    const inodes = new Set([...before.files.values()].map(({ inode }) => inode))
    const changed: Array<string> = [...before.files.keys()].filter(
      (path) => !isSame(before.files.get(path), after.files.get(path))
    )
    const strange = new Set<string>()
    const movedIn = makeInnermost(
      paths,
      before.root,
      (folder) => !before.folders.has(folder) && (after.folders.get(folder)?.changedAt ?? 0) >= since
    )
    for (const [path, { bornAt, changedAt, inode }] of after.files) {
      if (before.files.has(path)) continue
      if (bornAt === 0 || bornAt >= since || inodes.has(inode)) changed.push(path)
      else if (changedAt >= since) strange.add(path)
      else {
        // Untouched: either its folder came from elsewhere, or only its listing is new.
        const moved = movedIn(path)
        if (moved !== undefined) strange.add(moved)
      }
    }
    return { changed, strange }
  }

  const compare: Snapshots["compare"] = Effect.fnUntraced(function* (scratch, before, after) {
    const { root } = before
    const { changed, strange } = changesOf(before, after)
    if (changed.length > CHANGES_LIMIT) {
      return [
        {
          path: root,
          missed: `the command changed ${changed.length} files, more than the ${CHANGES_LIMIT} that are kept`
        }
      ]
    }
    const sizes = new Map<string, number>()
    for (const path of changed) {
      for (const known of [before.files.get(path), after.files.get(path)]) {
        if (known?.id !== undefined) sizes.set(known.id, known.size)
      }
    }
    const hashes = yield* contents.store(scratch, sizes, after.repositories)
    const versionOf = (known: Known | undefined): Captured => {
      if (known === undefined) return null
      const { id, mode, size } = known
      if (id === undefined) return { missed: size > FILE_LIMIT ? TOO_LARGE : UNREADABLE }
      const hash = hashes.get(id)
      return hash === undefined ? { missed: LOST } : { hash, mode, size }
    }
    const folders = yield* newFolders(fs, paths, {
      before: before.folders,
      after: after.folders,
      since: before.takenAt - SLACK
    })
    const changes: Array<FileChange> = [
      ...[...strange].map((path) => ({ path, missed: MOVED })),
      ...differing(before.odd, after.odd).map((path) => ({ path, missed: ODD }))
    ]
    const put = (path: string, was: Captured, is: Captured) => {
      if (was !== null && "missed" in was) changes.push({ path, missed: was.missed })
      else if (is !== null && "missed" in is) changes.push({ path, missed: is.missed })
      else if (!isSameVersion(was, is)) changes.push({ path, before: was, after: is, byCommand: true })
    }
    for (const path of changed) {
      if (!folders.has(path)) put(path, versionOf(before.files.get(path)), versionOf(after.files.get(path)))
    }
    for (const [path, { mode }] of folders) {
      const folder: FileVersion = { hash: "", mode, size: 0 }
      put(path, versionOf(before.files.get(path)), folder)
    }
    return changes
  })

  return { take, compare }
}
