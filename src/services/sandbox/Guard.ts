/**
 * Puts aside what a confined command makes under a name that it must not make, and that no mount can keep it from. It
 * looks at the end of a command, and now and then before, so that nothing of the kind lies there for long.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { Watched } from "./Protection.ts"

const LOOK_EVERY = Duration.millis(500)

/** What one command may make of it before it is ended. */
const MOST = 5

export interface Guard {
  /** Returns when the command is not to go on. */
  readonly watch: Effect.Effect<void>
  /** Looks for the last time, and tells for the person what was put aside; empty if nothing was. */
  readonly finish: Effect.Effect<string>
}

export const makeGuard = (fs: FileSystem.FileSystem, watched: ReadonlyArray<Watched>): Guard => {
  const found: Array<readonly [path: string, aside: string]> = []

  const look = Effect.fnUntraced(function* ({ link, path }: Watched) {
    if (link !== undefined) {
      const now = yield* Effect.option(fs.readLink(path))
      if (Option.isSome(now) && now.value === link) return
    }
    const aside = `${path}.put-aside-${(yield* Clock.currentTimeMillis).toString(36)}`
    const isMoved = yield* Effect.isSuccess(fs.rename(path, aside))
    if (isMoved) found.push([path, aside])
    if (link !== undefined) yield* Effect.ignore(fs.symlink(link, path))
  })

  const lookAtAll = Effect.forEach(watched, look, { discard: true })

  return {
    watch:
      watched.length === 0
        ? Effect.never
        : Effect.sleep(LOOK_EVERY).pipe(
            Effect.andThen(lookAtAll),
            Effect.repeat({ until: () => found.length >= MOST }),
            Effect.asVoid
          ),
    finish: Effect.map(lookAtAll, () =>
      found
        .slice(0, MOST)
        .map(([path, aside]) => `\n[${path} decides what runs outside of the sandbox; it was put aside as ${aside}]\n`)
        .join("")
    )
  }
}
