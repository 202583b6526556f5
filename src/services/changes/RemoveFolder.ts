/** Removes a folder that is empty, and only then: the service for files removes either files or whole trees. */
import { rmdir } from "node:fs/promises"
import * as Effect from "effect/Effect"
import { systemError, type PlatformError } from "effect/PlatformError"

const isFull = (cause: unknown): boolean => cause instanceof Error && /ENOTEMPTY|EEXIST/.test(cause.message)

/** Whether it was empty, and is gone. */
export const removeFolder = (path: string): Effect.Effect<boolean, PlatformError> =>
  Effect.tryPromise(() => rmdir(path)).pipe(
    Effect.as(true),
    Effect.catch(({ cause }) =>
      isFull(cause)
        ? Effect.succeed(false)
        : Effect.fail(
            systemError({ _tag: "Unknown", module: "FileSystem", method: "rmdir", pathOrDescriptor: path, cause })
          )
    )
  )
