/** Keeps what is too long for the model, and what is no text, in files of the session. They end with it. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { Keep, Kept } from "./McpOutcome.ts"

/** Megabytes that the servers of one session may fill, however often they are connected. */
const MEGABYTES = 256
const MAX_KEPT = MEGABYTES * 1024 * 1024
/** What the smallest file takes on a disk. */
const BLOCK = 4_096

const FULL = `this session keeps at most ${MEGABYTES} MB of results, and that is full; the user can delete some of them in`

export interface Spill {
  /** For one call. */
  readonly of: (callId: string) => Keep
}

/** `folder` is made when something is kept. */
export const make = (fileSystem: FileSystem.FileSystem, path: Path.Path, folder: string): Spill => {
  const keeping = Semaphore.makeUnsafe(1)
  let kept: number | undefined

  const sizeOf = (name: string) =>
    Effect.match(fileSystem.stat(path.join(folder, name)), {
      onFailure: () => 0,
      onSuccess: ({ size }) => Math.max(Number(size), BLOCK)
    })

  /** What lies there: earlier connections of the session left it, and somebody may have taken some of it away. */
  const measured = Effect.fnUntraced(function* () {
    const names = yield* Effect.orElseSucceed(fileSystem.readDirectory(folder), () => [])
    const sizes = yield* Effect.forEach(names, sizeOf)
    return sizes.reduce((sum, size) => sum + size, 0)
  })

  const write = Effect.fnUntraced(function* (
    name: string,
    content: string | Uint8Array
  ): Effect.fn.Return<Kept, PlatformError> {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
    const size = Math.max(bytes.length, BLOCK)
    if (kept === undefined || kept + size > MAX_KEPT) kept = yield* measured()
    if (kept + size > MAX_KEPT) return Result.fail(`${FULL} ${folder}`)
    const file = path.join(folder, name)
    yield* fileSystem.makeDirectory(folder, { recursive: true, mode: 0o700 })
    yield* fileSystem.writeFile(file, bytes, { mode: 0o600 })
    kept += size
    return Result.succeed(file)
  })

  return {
    of: (callId) => {
      let count = 0
      return Effect.fnUntraced(
        function* (ending, content) {
          count += 1
          const name = `${callId.replace(/[^\w-]/g, "_").slice(0, 80)}-${count}.${ending}`
          return yield* keeping.withPermits(1)(write(name, content))
        },
        Effect.catch(({ message, reason }) =>
          Effect.as(
            Effect.logWarning(`A result of an MCP tool could not be kept: ${message}`),
            Result.fail(`the file could not be written (${reason._tag})`)
          )
        )
      )
    }
  }
}
