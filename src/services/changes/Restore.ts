/**
 * Brings files back to earlier versions: all of them or none. Everything is prepared beside the files, each is replaced
 * in one step, and a step that fails takes the ones before it back.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import { type FileVersion, isSameVersion, typeOf } from "../../domain/session/Changes.ts"
import type { NetChange } from "../../domain/session/NetChanges.ts"
import { systemText } from "../files/SystemText.ts"
import { hashOf } from "./Blobs.ts"
import type { Capture } from "./Capture.ts"
import { removeFolder } from "./RemoveFolder.ts"

/** Why a file could not be brought back. `reason` is for a person. */
export class RestoreFailed extends Schema.TaggedError<RestoreFailed>()("RestoreFailed", {
  path: Schema.String,
  reason: Schema.String
}) {}

/** A change to take back, and the bytes that its file or link had, read when they are needed. */
export interface Restoration extends Pick<NetChange, "path" | "before" | "after"> {
  readonly bytes: Effect.Effect<Option.Option<Uint8Array>>
}

const CHANGED = "it changes at this moment: wait until nothing writes into it and undo again"

const isType = (version: FileVersion | null, type: ReturnType<typeof typeOf>): boolean =>
  version !== null && typeOf(version) === type

const isLeaf = (version: FileVersion | null): version is FileVersion => version !== null && !isType(version, "folder")

export const makeRestore = (fs: FileSystem.FileSystem, paths: Path.Path, capture: Capture) => {
  const explained = <A>(path: string, effect: Effect.Effect<A, PlatformError>) =>
    Effect.mapError(effect, (error) => new RestoreFailed({ path, reason: systemText(error) }))

  const isAbsent = (path: string) => Effect.map(capture.look(path), (found) => found === null)

  const checkReal = Effect.fnUntraced(function* (path: string) {
    if (!(yield* capture.isReal(path))) {
      return yield* new RestoreFailed({ path, reason: "a link leads to its folder now, to somewhere else" })
    }
  })

  /** The nearest folder on the way to a path that stays: on the same file system as whatever is put there. */
  const placeFor = Effect.fnUntraced(function* (path: string, leaving: ReadonlySet<string>) {
    let folder = paths.dirname(path)
    const isFolder = (at: string) =>
      Effect.orElseSucceed(
        Effect.map(fs.lstat(at), ({ type }) => type === "Directory"),
        () => false
      )
    while (folder !== paths.dirname(folder) && (leaving.has(folder) || !(yield* isFolder(folder)))) {
      folder = paths.dirname(folder)
    }
    return folder
  })

  /** The same name every time, so that what a crash left behind is cleared by the next undo. */
  const beside = (folder: string, path: string, end: string) =>
    paths.join(folder, `.super-pi-undo-${hashOf(new TextEncoder().encode(path)).slice(0, 16)}.${end}`)

  /** In one step, where the file is no mount of its own. */
  const replace = (from: string, to: string) =>
    Effect.catchIf(
      fs.rename(from, to),
      ({ reason }) => reason._tag === "Busy",
      () => Effect.andThen(fs.copyFile(from, to), fs.remove(from))
    )

  return Effect.fnUntraced(function* (restorations: ReadonlyArray<Restoration>): Effect.fn.Return<void, RestoreFailed> {
    /** What takes back the steps so far, and what is left to be cleared when all is done. */
    const back: Array<Effect.Effect<void, PlatformError>> = []
    const litter: Array<string> = []
    const staged = new Map<string, string>()
    const checks: Array<Effect.Effect<void, RestoreFailed>> = []
    const leaving = new Set(restorations.filter(({ after }) => isType(after, "folder")).map(({ path }) => path))

    const clear = (path: string) => Effect.ignore(fs.remove(path, { force: true }))

    /** The new content, complete and with its permissions, where it only has to be renamed. */
    const stage = Effect.fnUntraced(function* ({ before, bytes, path }: Restoration) {
      if (!isLeaf(before)) return
      const loaded = yield* bytes
      if (Option.isNone(loaded)) return yield* new RestoreFailed({ path, reason: "what it was is not kept any more" })
      const target = beside(yield* placeFor(path, leaving), path, "new")
      yield* clear(target)
      litter.push(target)
      staged.set(path, target)
      if (isType(before, "link")) {
        return yield* explained(path, fs.symlink(new TextDecoder().decode(loaded.value), target))
      }
      const write = Effect.gen(function* () {
        yield* fs.writeFile(target, loaded.value, { flag: "wx", mode: 0o600 })
        const now = yield* Effect.option(fs.lstat(path))
        if (Option.isSome(now)) {
          const { gid, uid } = now.value
          const [owner, group] = [Option.getOrElse(uid, () => -1), Option.getOrElse(gid, () => -1)]
          yield* Effect.ignore(fs.chown(target, owner, group))
        }
        yield* fs.chmod(target, before.mode & 0o7777)
      })
      yield* explained(path, write)
    })

    /** Sets aside what is there, under a name from which it can come back, to be checked when all is done. */
    const setAside = Effect.fnUntraced(function* ({ after, path }: Restoration, isReplaced: boolean) {
      yield* checkReal(path)
      const aside = beside(yield* placeFor(path, leaving), path, "old")
      yield* explained(path, clear(aside))
      if (isReplaced) {
        // Some file systems have no second names for one file.
        yield* explained(
          path,
          Effect.catch(fs.link(path, aside), () => fs.copyFile(path, aside))
        )
      } else yield* explained(path, fs.rename(path, aside))
      back.push(replace(aside, path))
      litter.push(aside)
      const check = Effect.flatMap(capture.look(aside), (found) =>
        found !== null && !("missed" in found) && isSameVersion(found, after)
          ? Effect.void
          : Effect.fail(new RestoreFailed({ path, reason: CHANGED }))
      )
      checks.push(check)
    })

    const dropFolder = Effect.fnUntraced(function* ({ after, before, path }: Restoration) {
      if (yield* isAbsent(path)) return
      yield* checkReal(path)
      if (yield* explained(path, removeFolder(path))) {
        back.push(Effect.ignore(fs.makeDirectory(path, { mode: (after?.mode ?? 0o777) & 0o7777 })))
      } else if (isLeaf(before)) {
        return yield* new RestoreFailed({
          path,
          reason: "it is a folder with other files now: move them and undo again"
        })
      }
    })

    const makeFolder = Effect.fnUntraced(function* (path: string, mode = 0o777) {
      const missing: Array<string> = []
      for (let at = path; at !== paths.dirname(at) && (yield* isAbsent(at)); at = paths.dirname(at)) missing.push(at)
      for (const folder of missing.toReversed()) {
        yield* explained(folder, fs.makeDirectory(folder, { mode: folder === path ? mode & 0o7777 : 0o777 }))
        back.push(Effect.asVoid(removeFolder(folder)))
      }
    })

    const putBack = Effect.fnUntraced(function* (restoration: Restoration) {
      const { after, before, path } = restoration
      const source = staged.get(path)
      if (source === undefined) return
      yield* makeFolder(paths.dirname(path))
      yield* checkReal(path)
      if (isType(before, "file") && isType(after, "file")) {
        yield* setAside(restoration, true)
        return yield* explained(path, replace(source, path))
      }
      if (isLeaf(after)) yield* setAside(restoration, false)
      // Unlike renaming, this never replaces what somebody else put there at this moment.
      const make = isType(before, "link")
        ? Effect.flatMap(fs.readLink(source), (target) => fs.symlink(target, path))
        : Effect.catchIf(
            fs.link(source, path),
            ({ reason }) => reason._tag !== "AlreadyExists",
            () => fs.rename(source, path)
          )
      yield* explained(path, make)
      back.push(clear(path))
    })

    const all = Effect.gen(function* () {
      for (const restoration of restorations) yield* stage(restoration)
      const deepestFirst = restorations.toSorted((one, other) => other.path.length - one.path.length)
      for (const restoration of deepestFirst) {
        if (isLeaf(restoration.after) && !isLeaf(restoration.before)) yield* setAside(restoration, false)
      }
      for (const restoration of deepestFirst) {
        if (isType(restoration.after, "folder")) yield* dropFolder(restoration)
      }
      for (const restoration of deepestFirst.toReversed()) {
        if (isType(restoration.before, "folder")) yield* makeFolder(restoration.path, restoration.before?.mode)
      }
      for (const restoration of deepestFirst.toReversed()) yield* putBack(restoration)
      yield* Effect.all(checks, { discard: true })
    })

    yield* Effect.uninterruptible(
      all.pipe(
        Effect.onError(() => Effect.forEach(back.toReversed(), (step) => Effect.ignore(step), { discard: true })),
        Effect.ensuring(Effect.suspend(() => Effect.forEach(litter, clear, { discard: true })))
      )
    )
  })
}
