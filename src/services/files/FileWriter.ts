/**
 * Changes files on the disk, several of them as one: each is replaced by a new file beside it in one step, and if one of
 * them fails, the others become again what they were.
 *
 * A replaced file keeps its permissions and, where that is allowed, its owner; rights to run as somebody else (setuid) it
 * loses, as it does when anybody else writes to it. Of a file with several hard links the other names keep the old text:
 * they can lie outside of the workspace, where nobody allowed a change.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import { clip } from "../../domain/text/Clip.ts"
import { FileFailed } from "../ClientFS.ts"
import { failure } from "./DiskFile.ts"
import { systemText } from "./SystemText.ts"
import { uniqueName } from "./FileLock.ts"

/** `path` is a real path; null: the file goes. `like` is an existing file whose permissions a new file takes. */
export interface FileState {
  readonly path: string
  readonly bytes: Uint8Array | null
  readonly like?: string
  readonly executable?: boolean
}

export interface FileWriter {
  /** All or nothing. Makes parent folders. A failure names what could not become again what it was. */
  readonly apply: (states: ReadonlyArray<FileState>) => Effect.Effect<void, FileFailed>
}

interface Step {
  readonly state: FileState
  readonly like: Option.Option<FileSystem.File.Info>
}

interface Permissions {
  readonly mode: number | undefined
  readonly owner: Option.Option<readonly [uid: number, gid: number]>
}

const PERMISSIONS = 0o777
const NEW_FILE = 0o666

/** Files that a failure names. */
const NAMED = 20

/** Whoever may read may run. */
const runnable = (mode: number, executable: boolean): number =>
  executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111

const permissionsOf = (info: Option.Option<FileSystem.File.Info>): Permissions => ({
  mode: Option.getOrUndefined(Option.map(info, ({ mode }) => mode & PERMISSIONS)),
  owner: Option.flatMap(info, ({ gid, uid }) => Option.all([uid, gid]))
})

export const makeFileWriter = (fs: FileSystem.FileSystem, paths: Path.Path): FileWriter => {
  const infoOf = (path: string) => Effect.option(fs.stat(path))

  const fill = Effect.fnUntraced(function* (
    temporary: string,
    bytes: Uint8Array,
    { mode, owner }: Permissions,
    executable: boolean | undefined
  ) {
    // Nobody else can read it before it has the permissions of the old one.
    const file = yield* fs.open(temporary, { flag: "wx", mode: mode === undefined ? NEW_FILE : 0o600 })
    yield* file.writeAll(bytes)
    if (Option.isSome(owner)) yield* Effect.ignore(fs.chown(temporary, ...owner.value))
    const wanted = mode ?? (executable === undefined ? undefined : (yield* file.stat).mode & PERMISSIONS)
    if (wanted !== undefined) {
      yield* fs.chmod(temporary, executable === undefined ? wanted : runnable(wanted, executable))
    }
    yield* file.sync
  }, Effect.scoped)

  const put = Effect.fnUntraced(function* (
    path: string,
    bytes: Uint8Array,
    permissions: Permissions,
    executable?: boolean
  ) {
    const temporary = paths.join(paths.dirname(path), `.${clip(paths.basename(path), 60)}.${yield* uniqueName}.tmp`)
    yield* fill(temporary, bytes, permissions, executable).pipe(
      Effect.andThen(fs.rename(temporary, path)),
      Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))
    )
  })

  /** For a file that is a mount of its own, or whose folder takes no new files. */
  const overwrite = Effect.fnUntraced(function* (path: string, bytes: Uint8Array, old: FileSystem.File.Info) {
    if (Option.exists(old.nlink, (links) => links > 1n)) {
      return yield* new FileFailed({
        reason: "denied",
        path,
        message: `${path} has other names (hard links) that would change too, since its folder takes no new files. It is left as it was`
      })
    }
    const before = yield* fs.readFile(path)
    yield* Effect.catch(fs.writeFile(path, bytes), (error) =>
      Effect.matchEffect(fs.writeFile(path, before), {
        onSuccess: () => Effect.fail(error),
        onFailure: (second) =>
          Effect.fail(
            new FileFailed({
              reason: "io",
              path,
              message: `${path} could not be written (${systemText(error)}), nor could its text be put back (${systemText(second)}): it may hold only a part of either`
            })
          )
      })
    )
  })

  const replace = Effect.fnUntraced(function* (state: FileState & { bytes: Uint8Array }, like: Step["like"]) {
    const { bytes, executable, path } = state
    const old = yield* infoOf(path)
    if (Option.isSome(old)) yield* fs.access(path, { writable: true })
    yield* Effect.catchIf(
      put(path, bytes, permissionsOf(Option.orElse(old, () => like)), executable),
      ({ reason }) => Option.isSome(old) && (reason._tag === "Busy" || reason._tag === "PermissionDenied"),
      (error) => (Option.isSome(old) ? overwrite(path, bytes, old.value) : Effect.fail(error))
    )
  })

  /** Those that were not there, the innermost first. */
  const makeFolders = Effect.fnUntraced(function* (folder: string) {
    const missing: Array<string> = []
    for (let at = folder; !(yield* fs.exists(at)); at = paths.dirname(at)) missing.push(at)
    if (missing.length > 0) yield* fs.makeDirectory(folder, { recursive: true })
    return missing
  })

  /** Only while they are empty: others may use them by now. */
  const removeFolders = (folders: ReadonlyArray<string>) =>
    Effect.forEach(
      folders,
      (folder) =>
        Effect.flatMap(fs.readDirectory(folder), (names) =>
          names.length === 0 ? fs.remove(folder, { recursive: true }) : Effect.void
        ),
      { discard: true }
    )

  interface WayBack {
    readonly path: string
    readonly go: Effect.Effect<unknown, PlatformError>
  }

  const former = Effect.fnUntraced(function* (path: string) {
    const info = yield* infoOf(path)
    const before = Option.isNone(info) ? undefined : yield* fs.readFile(path)
    return {
      path,
      go: before === undefined ? fs.remove(path, { force: true }) : put(path, before, permissionsOf(info))
    } satisfies WayBack
  })

  /** One step alone leaves nothing to bring back but the folders that it made. */
  const step = Effect.fnUntraced(
    function* ({ like, state }: Step, back: Array<WayBack>, isAlone: boolean) {
      const { bytes, path } = state
      const restore = isAlone ? undefined : yield* former(path)
      if (bytes === null) yield* fs.remove(path)
      else {
        const made = yield* makeFolders(paths.dirname(path))
        if (made.length > 0) back.push({ path: paths.dirname(path), go: removeFolders(made) })
        yield* replace({ ...state, bytes }, like)
      }
      if (restore !== undefined) back.push(restore)
    },
    Effect.uninterruptible,
    (effect, { state: { path } }) =>
      Effect.catchTag(effect, "PlatformError", (error) => Effect.fail(failure(path, error)))
  )

  /** What could not be brought back, and why. */
  const undo = Effect.fnUntraced(function* (back: ReadonlyArray<WayBack>) {
    const left: Array<string> = []
    for (const { go, path } of back.toReversed()) {
      yield* Effect.catch(go, (error) => Effect.sync(() => left.push(`${path} (${systemText(error)})`)))
    }
    if (left.length > 0) yield* Effect.logError("Files could not be brought back", left)
    return left
  })

  const withLeft = (failed: FileFailed, left: ReadonlyArray<string>): FileFailed => {
    if (left.length === 0) return failed
    const more = left.length > NAMED ? ` and ${left.length - NAMED} more` : ""
    const { notice, path, reason } = failed
    return new FileFailed({
      reason,
      path,
      ...(notice === undefined ? {} : { notice }),
      message: `${failed.message}. Not all could become again what it was; look at ${left.slice(0, NAMED).join(", ")}${more}`
    })
  }

  return {
    apply: Effect.fnUntraced(function* (states) {
      // What goes makes room for what comes. Whose permissions count is looked up while it is there.
      const goingFirst = states.toSorted((one, other) => Number(one.bytes !== null) - Number(other.bytes !== null))
      const steps = yield* Effect.forEach(goingFirst, (state) =>
        Effect.map(state.like === undefined ? Effect.succeedNone : infoOf(state.like), (like): Step => ({
          state,
          like
        }))
      )
      const back: Array<WayBack> = []
      yield* Effect.forEach(steps, (each) => step(each, back, steps.length === 1), { discard: true }).pipe(
        Effect.onError((cause) => (Cause.hasFails(cause) ? Effect.void : undo(back))),
        Effect.catch((failed) =>
          Effect.uninterruptible(Effect.flatMap(undo(back), (left) => Effect.fail(withLeft(failed, left))))
        )
      )
    })
  }
}
