/** Text files on the disk, read whole. Messages are for the person or the model that named the file. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import { clip } from "../../domain/text/Clip.ts"
import { decode, encode, type Encoding } from "../../domain/text/Encoding.ts"
import { fingerprint } from "../../domain/text/Fingerprint.ts"
import { fileKind } from "../../domain/text/FileKind.ts"
import { FileFailed } from "../ClientFS.ts"
import { systemText } from "./SystemText.ts"
import { readUnsized } from "./UnsizedFile.ts"

/** In bytes: larger files are read by pages only. */
const SIZE_LIMIT = 50 * 1024 * 1024

/** Files that the system makes up may hold their reader until something happens. */
const PATIENCE = Duration.seconds(5)

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

/** Characters of a name that is too long. */
const SHOWN = 100

const shorten = (path: string): string => `${clip(path, SHOWN)}…`.toWellFormed()

export const failure = (path: string, error: PlatformError): FileFailed => {
  const text = systemText(error)
  if (text.startsWith("ENOTDIR")) {
    const message = `${path} does not exist: a part of its path is a file and no folder`
    return new FileFailed({ reason: "not_found", path, message })
  }
  const reason = reasons[error.reason._tag] ?? "io"
  if (text.startsWith("ENAMETOOLONG")) {
    return new FileFailed({ reason, path, message: `${shorten(path)} is too long for the name of a file: shorten it` })
  }
  return new FileFailed({ reason, path, message: `${path} ${causes[reason] ?? `could not be used: ${text}`}` })
}

/** In bytes, as people read it. */
export const sizeOf = (bytes: number): string =>
  bytes < 10_000
    ? `${bytes} bytes`
    : bytes < 10_000_000
      ? `${Math.round(bytes / 1000)} kB`
      : `${Math.round(bytes / 1e6)} MB`

/** Why a file that begins with these bytes is no text, and what can be done. `length` is that of the file. */
export const binary = (path: string, bytes: Uint8Array, length = bytes.length): FileFailed => {
  const kind = fileKind(bytes)
  const size = sizeOf(length)
  return new FileFailed({
    reason: "binary",
    path,
    message:
      kind !== undefined
        ? `${path} is ${kind} (${size}), not a text file`
        : bytes.includes(0)
          ? `${path} is a binary file (${size}), not text`
          : `${path} is text in an encoding other than UTF-8, UTF-16 and Windows-1252, or damaged. It is left untouched; convert it to UTF-8 first (iconv)`
  })
}

const tooLarge = (path: string, size: string): FileFailed =>
  new FileFailed({
    reason: "too_large",
    path,
    message: `${path} has ${size} than the ${SIZE_LIMIT} that can be handled whole`
  })

const stuck = (path: string) =>
  Effect.fail(
    new FileFailed({
      reason: "io",
      path,
      message: `${path} gave nothing for ${Duration.toSeconds(PATIENCE)} s: it seems to be no file with a content of its own`
    })
  )

export interface DiskFiles {
  readonly read: (path: string) => Effect.Effect<DiskText, FileFailed>
  /** The stamp of what is there now, or `ABSENT`. */
  readonly stamp: (path: string) => Effect.Effect<string, FileFailed>
  /** The encoding of what is there now; UTF-8 for a new file. */
  readonly encodingOf: (path: string) => Effect.Effect<Encoding, FileFailed>
}

export const makeDiskFiles = (fs: FileSystem.FileSystem): DiskFiles => {
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
    ).pipe(Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => stuck(path) }))
    return Option.isSome(bytes) ? bytes.value : yield* tooLarge(path, "more bytes")
  })

  const read = Effect.fnUntraced(function* (path: string) {
    const bytes = yield* readBytes(path)
    const decoded = decode(bytes)
    if (Option.isNone(decoded)) return yield* binary(path, bytes)
    return { ...decoded.value, stamp: fingerprint(bytes) }
  })

  const unlessAbsent = <A>(effect: Effect.Effect<A, FileFailed>, absent: A): Effect.Effect<A, FileFailed> =>
    Effect.catchIf(
      effect,
      ({ reason }) => reason === "not_found",
      () => Effect.succeed(absent)
    )

  return {
    read,
    stamp: (path) => unlessAbsent(Effect.map(readBytes(path), fingerprint), ABSENT),
    encodingOf: (path) =>
      unlessAbsent(
        Effect.map(read(path), ({ encoding }) => encoding),
        "utf-8"
      )
  }
}
