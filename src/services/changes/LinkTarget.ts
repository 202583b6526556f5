/** Links by the bytes that they hold, which need not be text: the service for files has them decoded. */
import { readlink, symlink } from "node:fs/promises"
import * as Effect from "effect/Effect"
import { type PlatformError, systemError } from "effect/PlatformError"

const failed = (method: string, path: string) => (cause: unknown) =>
  systemError({
    _tag: cause instanceof Error && cause.message.startsWith("ENOENT") ? "NotFound" : "Unknown",
    module: "FileSystem",
    method,
    pathOrDescriptor: path,
    cause
  })

/** What a link leads to, as it is written in it. */
export const readTarget = (path: string): Effect.Effect<Uint8Array, PlatformError> =>
  Effect.tryPromise({
    try: () => readlink(path, { encoding: "buffer" }),
    catch: failed("readLink", path)
  })

/** Makes a link where nothing is. */
export const makeLink = (target: Uint8Array, path: string): Effect.Effect<void, PlatformError> =>
  Effect.tryPromise({ try: () => symlink(Buffer.from(target), path), catch: failed("symlink", path) })
