/** Text files on the disk: read whole, replaced whole. Messages are for the person or the model that named the file. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Random from "effect/Random"
import { decode, encode, type Encoding } from "../../domain/text/Encoding.ts"
import { fingerprint } from "../../domain/text/Fingerprint.ts"
import { fileKind } from "../../domain/text/FileKind.ts"
import { FileFailed } from "../ClientFS.ts"
import { systemText } from "./SystemText.ts"
import { readUnsized } from "./UnsizedFile.ts"

/** In bytes: larger files are read by pages only. */
const SIZE_LIMIT = 50 * 1024 * 1024

/** The stamp of a file that is not there. */
export const ABSENT = "absent"

export interface DiskText {
  readonly text: string
  readonly encoding: Encoding
  readonly stamp: string
}

/** Names the version of a file by its content, so that touching it or writing the same again changes nothing. */
export const stampOf = (text: string, encoding: Encoding): string => fingerprint(encode(text, encoding))

const reasons: Readonly<Record<string, FileFailed["reason"]>> = {
  NotFound: "not_found",
  PermissionDenied: "denied"
}

const causes: Readonly<Record<string, string>> = {
  not_found: "does not exist",
  denied: "may not be accessed: its permissions or those of its folder forbid it"
}

export const failure = (path: string, error: PlatformError): FileFailed => {
  const text = systemText(error)
  const reason = text.startsWith("ENOTDIR") ? "not_found" : (reasons[error.reason._tag] ?? "io")
  return new FileFailed({ reason, path, message: `${path} ${causes[reason] ?? `could not be used: ${text}`}` })
}

const binary = (path: string, bytes: Uint8Array): FileFailed => {
  const kind = fileKind(bytes)
  return new FileFailed({
    reason: "binary",
    path,
    message:
      kind !== undefined
        ? `${path} is ${kind}, not a text file`
        : bytes.includes(0)
          ? `${path} is a binary file, not text`
          : `${path} is text in an encoding other than UTF-8 and UTF-16, or damaged. It is left untouched; convert it to UTF-8 first (iconv)`
  })
}

const tooLarge = (path: string, size: string): FileFailed =>
  new FileFailed({
    reason: "too_large",
    path,
    message: `${path} has ${size} than the ${SIZE_LIMIT} that can be handled whole`
  })

export interface DiskFiles {
  readonly read: (path: string) => Effect.Effect<DiskText, FileFailed>
  /** The stamp of what is there now, or `ABSENT`. */
  readonly stamp: (path: string) => Effect.Effect<string, FileFailed>
  /** `path` is a real path. Replaces the file in one step where the folder allows it; makes parent folders. */
  readonly write: (path: string, bytes: Uint8Array) => Effect.Effect<void, FileFailed>
  /** The encoding of what is there now; UTF-8 for a new file. */
  readonly encodingOf: (path: string) => Effect.Effect<Encoding, FileFailed>
}

export const makeDiskFiles = (fs: FileSystem.FileSystem, paths: Path.Path): DiskFiles => {
  const readBytes = Effect.fnUntraced(function* (path: string) {
    const info = yield* Effect.mapError(fs.stat(path), (error) => failure(path, error))
    if (info.type === "Directory") {
      return yield* new FileFailed({ reason: "is_directory", path, message: `${path} is a folder, not a file` })
    }
    if (info.type !== "File") {
      return yield* new FileFailed({ reason: "io", path, message: `${path} is not a regular file but a ${info.type}` })
    }
    if (info.size > SIZE_LIMIT) return yield* tooLarge(path, `${info.size} bytes, more`)
    const bytes = yield* Effect.mapError(
      info.size > 0 ? Effect.asSome(fs.readFile(path)) : readUnsized(fs, path, SIZE_LIMIT),
      (error) => failure(path, error)
    )
    return Option.isSome(bytes) ? bytes.value : yield* tooLarge(path, "more bytes")
  })

  const read = Effect.fnUntraced(function* (path: string) {
    const bytes = yield* readBytes(path)
    const decoded = decode(bytes)
    if (Option.isNone(decoded)) return yield* binary(path, bytes)
    return { ...decoded.value, stamp: fingerprint(bytes) }
  })

  const present = Effect.fnUntraced(function* (path: string) {
    const info = yield* Effect.option(fs.stat(path))
    if (Option.isSome(info)) {
      yield* Effect.mapError(fs.access(path, { writable: true }), (error) => failure(path, error))
    }
    return info
  })

  /** A new file beside the old one takes its place, with its mode and, where that is allowed, its owner. */
  const replace = Effect.fnUntraced(function* (
    path: string,
    bytes: Uint8Array,
    old: Option.Option<FileSystem.File.Info>
  ) {
    const suffix = (yield* Random.nextIntBetween(0, 2 ** 48)).toString(36)
    const temporary = paths.join(paths.dirname(path), `.${paths.basename(path).slice(0, 200)}.${suffix}.tmp`)
    yield* Effect.onError(
      Effect.gen(function* () {
        yield* fs.writeFile(temporary, bytes, { flag: "wx" })
        if (Option.isSome(old)) {
          const { mode, uid, gid } = old.value
          yield* Effect.ignore(
            fs.chown(
              temporary,
              Option.getOrElse(uid, () => -1),
              Option.getOrElse(gid, () => -1)
            )
          )
          yield* fs.chmod(temporary, mode & 0o7777)
        }
        yield* fs.rename(temporary, path)
      }),
      () => Effect.ignore(fs.remove(temporary, { force: true }))
    )
  })

  const write = Effect.fnUntraced(function* (path: string, bytes: Uint8Array) {
    const old = yield* present(path)
    yield* fs.makeDirectory(paths.dirname(path), { recursive: true }).pipe(
      Effect.andThen(replace(path, bytes, old)),
      // A file that is a mount of its own, or whose folder takes no new files, can only be written in place.
      Effect.catchIf(
        ({ reason }) => Option.isSome(old) && (reason._tag === "Busy" || reason._tag === "PermissionDenied"),
        () => fs.writeFile(path, bytes)
      ),
      Effect.mapError((error) => failure(path, error))
    )
  })

  const unlessAbsent = <A>(effect: Effect.Effect<A, FileFailed>, absent: A): Effect.Effect<A, FileFailed> =>
    Effect.catchIf(
      effect,
      ({ reason }) => reason === "not_found",
      () => Effect.succeed(absent)
    )

  return {
    read,
    write,
    stamp: (path) => unlessAbsent(Effect.map(readBytes(path), fingerprint), ABSENT),
    encodingOf: (path) =>
      unlessAbsent(
        Effect.map(read(path), ({ encoding }) => encoding),
        "utf-8"
      )
  }
}
