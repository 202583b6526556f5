/**
 * Versions of files by their content, in the session's folder. Nobody but the user may read them, and they go with the
 * session.
 */
import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import { uniqueName } from "../files/FileLock.ts"

/** In bytes: what is larger is not kept. */
export const FILE_LIMIT = 64 * 1024 * 1024

/** In bytes: what one session keeps of all files together. */
export const SESSION_LIMIT = 512 * 1024 * 1024

/** Sessions of which it is remembered how much they keep. */
const REMEMBERED = 64

const NAME = /^[0-9a-f]{64}$/

export const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

export interface Blobs {
  /** Where the versions of a session are. `scratch` is the session's folder. */
  readonly folder: (scratch: string) => string
  /** Whether the session has room for so many bytes more. */
  readonly hasRoom: (scratch: string, size: number) => Effect.Effect<boolean>
  /** Keeps the bytes, and gives their hash. */
  readonly keep: (scratch: string, bytes: Uint8Array) => Effect.Effect<string, PlatformError>
  /** None when they are not kept, or are not any more what they were. */
  readonly read: (scratch: string, hash: string) => Effect.Effect<Option.Option<Uint8Array>>
  /** Gives one session what another has. */
  readonly inherit: (from: string, to: string) => Effect.Effect<void>
}

export const makeBlobs = (fs: FileSystem.FileSystem, paths: Path.Path): Blobs => {
  const folder = (scratch: string) => paths.join(scratch, "changes")
  const pathOf = (scratch: string, hash: string) => paths.join(folder(scratch), hash)
  const used = new Map<string, number>()

  /** Those that were asked for last; the others are counted again when they are. */
  const remember = (scratch: string, sum: number) => {
    used.delete(scratch)
    used.set(scratch, sum)
    const [oldest] = used.keys()
    if (used.size > REMEMBERED && oldest !== undefined) used.delete(oldest)
    return sum
  }

  const namesIn = (scratch: string) =>
    Effect.map(
      Effect.orElseSucceed(fs.readDirectory(folder(scratch)), (): ReadonlyArray<string> => []),
      (names) => names.filter((name) => NAME.test(name))
    )

  /** What an earlier process kept counts too. */
  const usedBy = Effect.fnUntraced(function* (scratch: string) {
    const known = used.get(scratch)
    if (known !== undefined) return remember(scratch, known)
    const names = yield* namesIn(scratch)
    const sizes = yield* Effect.forEach(names, (name) =>
      Effect.orElseSucceed(
        Effect.map(fs.stat(pathOf(scratch, name)), ({ size }) => Number(size)),
        () => 0
      )
    )
    return remember(
      scratch,
      sizes.reduce((total, size) => total + size, 0)
    )
  })

  const keep = Effect.fnUntraced(function* (scratch: string, bytes: Uint8Array) {
    const hash = hashOf(bytes)
    const path = pathOf(scratch, hash)
    if (yield* fs.exists(path)) return hash
    // Before it is among those that are counted.
    const sum = yield* usedBy(scratch)
    yield* fs.makeDirectory(folder(scratch), { recursive: true, mode: 0o700 })
    const temporary = `${path}.${yield* uniqueName}`
    yield* Effect.onError(
      Effect.andThen(fs.writeFile(temporary, bytes, { flag: "wx", mode: 0o600 }), fs.rename(temporary, path)),
      () => Effect.ignore(fs.remove(temporary, { force: true }))
    )
    remember(scratch, (used.get(scratch) ?? sum) + bytes.length)
    return hash
  })

  return {
    folder,
    hasRoom: (scratch, size) => Effect.map(usedBy(scratch), (sum) => sum + size <= SESSION_LIMIT),
    keep,
    read: (scratch, hash) =>
      NAME.test(hash)
        ? Effect.map(Effect.option(fs.readFile(pathOf(scratch, hash))), (bytes) =>
            Option.filter(bytes, (read) => hashOf(read) === hash)
          )
        : Effect.succeedNone,
    inherit: Effect.fnUntraced(function* (from, to) {
      const names = yield* namesIn(from)
      if (names.length === 0) return
      yield* Effect.ignore(fs.makeDirectory(folder(to), { recursive: true, mode: 0o700 }))
      // Nobody writes into a version, so two sessions can share it.
      yield* Effect.forEach(
        names,
        (name) =>
          fs.link(pathOf(from, name), pathOf(to, name)).pipe(
            Effect.catch(() => fs.copyFile(pathOf(from, name), pathOf(to, name))),
            Effect.ignore
          ),
        { discard: true }
      )
      used.delete(to)
    })
  }
}
