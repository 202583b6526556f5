/** A database in a file of the agent's own: made for its owner alone, and opened by the first operation. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Scope from "effect/Scope"

/** Makes the folder (0700) and the file (0600): what people and models wrote is nobody else's to read. */
export const prepare = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<void, PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  yield* fs.makeDirectory(paths.dirname(file), { recursive: true, mode: 0o700 })
  yield* Effect.scoped(fs.open(file, { flag: "a", mode: 0o600 }))
})

/**
 * Opens when it is first asked, and again after a failure: what a failed attempt opened is closed at once, and what succeeded
 * stays open for as long as the scope.
 */
export const openOnce = Effect.fnUntraced(function* <A, E>(
  open: Effect.Effect<A, E, Scope.Scope>
): Effect.fn.Return<Effect.Effect<A, E>, never, Scope.Scope> {
  const scope = yield* Effect.scope
  return yield* Scope.fork(scope).pipe(
    Effect.flatMap((own) =>
      Effect.onError(Scope.provide(open, own), (cause) => Scope.close(own, Exit.failCause(cause)))
    ),
    Effect.uninterruptible,
    Effect.cachedWithTTL((exit) => (Exit.isSuccess(exit) ? "Infinity" : "0 millis"))
  )
})
