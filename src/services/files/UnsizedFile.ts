/** Files that have no size and may have no end, as the system makes them up under `/proc`. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"

/** Asked for beyond the limit: some such files give whole pages only. */
const PAGE = 4096

/** What the file gives; none if that is more than `limit` bytes. */
export const readUnsized = (
  fs: FileSystem.FileSystem,
  path: string,
  limit: number
): Effect.Effect<Option.Option<Uint8Array>, PlatformError> =>
  Effect.map(Stream.runCollect(fs.stream(path, { bytesToRead: limit + PAGE })), (chunks) => {
    const bytes = Buffer.concat(chunks)
    return bytes.length > limit ? Option.none() : Option.some(bytes)
  })
