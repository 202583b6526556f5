/** What a path names at this moment: bytes and not text, a link as a link. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import { type FileVersion, typeOf } from "../../domain/session/Changes.ts"
import { systemText } from "../files/SystemText.ts"
import { readTarget } from "./LinkTarget.ts"
import { makeRealFolders } from "./RealFolders.ts"
import { type Blobs, FILE_LIMIT, hashOf } from "./Blobs.ts"

/** A version that is not kept. `missed` is the reason, for a person. */
export interface Unkept {
  readonly missed: string
}

export type Captured = FileVersion | Unkept | null

export interface Capture {
  /** The version, null when there is nothing or a link on the way to it; the bytes are not kept. */
  readonly look: (path: string) => Effect.Effect<Captured>
  /** The same, and keeps the bytes in the session's folder. */
  readonly keep: (scratch: string, path: string) => Effect.Effect<Captured>
  /** Whether the folder of the path is there, and no link leads to it. */
  readonly isReal: (path: string) => Effect.Effect<boolean>
}

/** For one act, such as an undo: it remembers where it was, and is not to be used after anybody else had a turn. */
export type BeginCapture = () => Capture

const NO_ROOM = "the session keeps as much of earlier versions as it may"

const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`

export const TOO_LARGE = `it is larger than ${megabytes(FILE_LIMIT)}`

export const makeCapture = (fs: FileSystem.FileSystem, paths: Path.Path, blobs: Blobs) => (): Capture => {
  const folders = makeRealFolders(fs, paths)
  const isReal = (path: string) => folders.has(paths.dirname(path))

  const capture = (keep: (bytes: Uint8Array) => Effect.Effect<string | Unkept, PlatformError>) =>
    Effect.fnUntraced(
      function* (path: string): Effect.fn.Return<Captured, PlatformError> {
        if (!(yield* isReal(path))) return null
        const info = yield* fs.lstat(path)
        const { mode } = info
        switch (typeOf(info)) {
          case "folder":
            return { hash: "", mode, size: 0 }
          case "link": {
            const bytes = yield* readTarget(path)
            const hash = yield* keep(bytes)
            return typeof hash === "string" ? { hash, mode, size: bytes.length } : hash
          }
          case "file": {
            if (info.size > FILE_LIMIT) return { missed: TOO_LARGE }
            const bytes = yield* fs.readFile(path)
            const hash = yield* keep(bytes)
            return typeof hash === "string" ? { hash, mode, size: bytes.length } : hash
          }
          case "other":
            return { missed: "it is neither a file nor a link nor a folder" }
        }
      },
      Effect.catch((error) =>
        error.reason._tag === "NotFound" || systemText(error).startsWith("ENOTDIR")
          ? Effect.succeed(null)
          : Effect.succeed({ missed: `it could not be read: ${systemText(error)}` } satisfies Unkept)
      )
    )

  return {
    isReal,
    look: capture((bytes) => Effect.sync(() => hashOf(bytes))),
    keep: (scratch, path) =>
      capture(
        Effect.fnUntraced(function* (bytes) {
          if (!(yield* blobs.hasRoom(scratch, bytes.length))) return { missed: NO_ROOM } satisfies Unkept
          return yield* blobs.keep(scratch, bytes)
        })
      )(path)
  }
}
