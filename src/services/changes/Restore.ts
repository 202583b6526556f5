/**
 * Brings files back to earlier versions: all of them or none. Everything is prepared beside the files, each is replaced
 * in one step, and a step that fails takes the ones before it back. Where even that fails nothing is lost: what a file
 * held stays beside it, and is named.
 */
import * as Cause from "effect/Cause"
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
import type { BeginCapture, Captured } from "./Capture.ts"
import { makeLink, readTarget } from "./LinkTarget.ts"
import { removeFolder } from "./RemoveFolder.ts"

const Problem = Schema.Struct({ path: Schema.String, reason: Schema.String })
type Problem = typeof Problem.Type

/**
 * Why a file could not be brought back. `reason` is for a person. `stranded` are those that could not become again what
 * they were before, either; the reason of each names the copy of what it held. Without any, nothing has changed.
 */
export class RestoreFailed extends Schema.TaggedError<RestoreFailed>()("RestoreFailed", {
  ...Problem.fields,
  stranded: Schema.Array(Problem).pipe(Schema.withConstructorDefault(Effect.succeed([])))
}) {}

/** A change to take back, and the bytes that its file or link had, read when they are needed. */
export interface Restoration extends Pick<NetChange, "path" | "before" | "after"> {
  readonly bytes: Effect.Effect<Option.Option<Uint8Array>>
}

/** Takes one step back. `copy` is where meanwhile is what the path held. */
interface WayBack {
  readonly path: string
  readonly go: Effect.Effect<void, PlatformError>
  /** What the path is to be again, where there is no copy. */
  readonly expected: FileVersion | null
  readonly copy?: string
}

const CHANGED = "it changes at this moment: wait until nothing writes into it and undo again"

const isType = (version: FileVersion | null, type: ReturnType<typeof typeOf>): boolean =>
  version !== null && typeOf(version) === type

const isLeaf = (version: FileVersion | null): version is FileVersion => version !== null && !isType(version, "folder")

const isSame = (one: Captured, other: Captured): boolean =>
  (one === null || !("missed" in one)) && (other === null || !("missed" in other)) && isSameVersion(one, other)

export const makeRestore = (fs: FileSystem.FileSystem, paths: Path.Path, begin: BeginCapture) => {
  const explained = <A>(path: string, effect: Effect.Effect<A, PlatformError>) =>
    Effect.mapError(effect, (error) => new RestoreFailed({ path, reason: systemText(error) }))

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
    const capture = begin()
    /** What takes back the steps so far, and what is left to be cleared when all is done. */
    const back: Array<WayBack> = []
    const litter = new Set<string>()
    const staged = new Map<string, string>()
    const checks: Array<Effect.Effect<void, RestoreFailed>> = []
    const leaving = new Set(restorations.filter(({ after }) => isType(after, "folder")).map(({ path }) => path))

    const clear = (path: string) => fs.remove(path, { force: true })

    const isAbsent = (path: string) => Effect.map(capture.look(path), (found) => found === null)

    const checkReal = Effect.fnUntraced(function* (path: string) {
      if (!(yield* capture.isReal(path))) {
        return yield* new RestoreFailed({
          path,
          reason: "its folder is not what it was: a link to somewhere else, or something else, is in its place"
        })
      }
    })

    const isFolder = (at: string) =>
      Effect.orElseSucceed(
        Effect.map(fs.lstat(at), ({ type }) => type === "Directory"),
        () => false
      )
    const places = new Map<string, string>()

    /** The nearest folder on the way to a path that stays: on the same file system as whatever is put there. */
    const placeFor = Effect.fnUntraced(function* (path: string) {
      const way: Array<string> = []
      let at = paths.dirname(path)
      while (!places.has(at) && at !== paths.dirname(at) && (leaving.has(at) || !(yield* isFolder(at)))) {
        way.push(at)
        at = paths.dirname(at)
      }
      const place = places.get(at) ?? at
      for (const folder of way) places.set(folder, place)
      return place
    })

    /**
     * A name for what is set aside. One that an undo before this left there is kept, since it may be the only one of its
     * kind, unless the file itself still holds the same.
     */
    const asideOf = Effect.fnUntraced(function* (path: string) {
      const folder = yield* placeFor(path)
      for (let count = 1; ; count++) {
        const name = beside(folder, path, count === 1 ? "old" : `${count}.old`)
        const found = yield* capture.look(name)
        if (found !== null && !isSame(found, yield* capture.look(path))) continue
        yield* explained(path, clear(name))
        return name
      }
    })

    /** The new content, complete and with its permissions, where it only has to be renamed. */
    const stage = Effect.fnUntraced(function* ({ before, bytes, path }: Restoration) {
      if (!isLeaf(before)) return
      const loaded = yield* bytes
      if (Option.isNone(loaded)) return yield* new RestoreFailed({ path, reason: "what it was is not kept any more" })
      const target = beside(yield* placeFor(path), path, "new")
      // The same name every time, so that what a crash left behind does not stay.
      yield* Effect.ignore(clear(target))
      litter.add(target)
      staged.set(path, target)
      if (isType(before, "link")) return yield* explained(path, makeLink(loaded.value, target))
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
      const aside = yield* asideOf(path)
      if (isReplaced) {
        // Some file systems have no second names for one file.
        yield* explained(
          path,
          Effect.catch(fs.link(path, aside), () => fs.copyFile(path, aside))
        )
      } else yield* explained(path, fs.rename(path, aside))
      back.push({ path, go: replace(aside, path), expected: after, copy: aside })
      litter.add(aside)
      const check = Effect.flatMap(capture.look(aside), (found) =>
        isSame(found, after) ? Effect.void : Effect.fail(new RestoreFailed({ path, reason: CHANGED }))
      )
      checks.push(check)
    })

    const dropFolder = Effect.fnUntraced(function* ({ after, before, path }: Restoration) {
      if (yield* isAbsent(path)) return
      yield* checkReal(path)
      if (yield* explained(path, removeFolder(path))) {
        back.push({ path, go: fs.makeDirectory(path, { mode: (after?.mode ?? 0o777) & 0o7777 }), expected: after })
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
        back.push({ path: folder, go: Effect.asVoid(removeFolder(folder)), expected: null })
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
        ? Effect.flatMap(readTarget(source), (target) => makeLink(target, path))
        : Effect.catchIf(
            fs.link(source, path),
            ({ reason }) => reason._tag !== "AlreadyExists",
            () => fs.rename(source, path)
          )
      yield* explained(path, make)
      back.push({ path, go: clear(path), expected: after })
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

    /** Takes every step back that can be, and gives the rest. */
    const goBack = Effect.gen(function* () {
      const failed: Array<readonly [WayBack, PlatformError]> = []
      for (const way of back.toReversed()) {
        yield* Effect.catch(way.go, (error) => Effect.sync(() => failed.push([way, error])))
      }
      const stranded: Array<Problem> = []
      for (const [{ copy, expected, path }, error] of failed) {
        const wanted = copy === undefined ? expected : yield* capture.look(copy)
        // A step that was only begun has nothing to take back.
        if (isSame(yield* capture.look(path), wanted)) continue
        if (copy !== undefined) litter.delete(copy)
        const reason =
          copy === undefined
            ? `It could not become again what it was before this undo (${systemText(error)}): put it right by hand.`
            : `What it held could not be put back (${systemText(error)}) and is kept in ${copy}: move it to its place by hand.`
        stranded.push({ path, reason })
      }
      return stranded
    })

    const tidy = Effect.suspend(() => Effect.forEach(litter, (path) => Effect.ignore(clear(path)), { discard: true }))

    yield* Effect.uninterruptible(
      all.pipe(
        Effect.onError((cause) => (Cause.hasFails(cause) ? Effect.void : goBack)),
        Effect.catch(({ path, reason }) =>
          Effect.flatMap(goBack, (stranded) => Effect.fail(new RestoreFailed({ path, reason, stranded })))
        ),
        Effect.ensuring(tidy)
      )
    )
  })
}
