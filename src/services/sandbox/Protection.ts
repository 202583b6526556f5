/** How one name is kept as it is, by what it is: something, a link, or nothing yet. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { Place } from "../../domain/sandbox/Bubblewrap.ts"

/** A name that no mount can hold: it must stay the link that it is, or stay absent. */
export interface Watched {
  readonly path: string
  readonly link: string | undefined
}

export interface Protection {
  readonly places: ReadonlyArray<Place>
  readonly watched: ReadonlyArray<Watched>
}

export const none: Protection = { places: [], watched: [] }

export const both = (all: ReadonlyArray<Protection>): Protection => ({
  places: all.flatMap(({ places }) => places),
  watched: all.flatMap(({ watched }) => watched)
})

/** Names that are looked at at a time. */
export const CONCURRENT = 16

export interface Protector {
  /** The place of this treatment that a name is by its real path; none if it is not there. */
  readonly placeOf: (name: string, treatment: Place["treatment"]) => Effect.Effect<ReadonlyArray<Place>>
  /** What is there is read-only. A name that is absent is watched only if it `matters`. */
  readonly protect: (name: string, matters: boolean) => Effect.Effect<Protection>
}

export const makeProtector = (fs: FileSystem.FileSystem): Protector => {
  const placeOf = Effect.fnUntraced(
    function* (name: string, treatment: Place["treatment"]): Effect.fn.Return<ReadonlyArray<Place>, unknown> {
      const path = yield* fs.realPath(name)
      const { type } = yield* fs.stat(path)
      return [{ path, type: type === "Directory" ? "folder" : "file", treatment }]
    },
    Effect.orElseSucceed((): ReadonlyArray<Place> => [])
  )

  const protect = Effect.fnUntraced(function* (name: string, matters: boolean): Effect.fn.Return<Protection> {
    const places = yield* placeOf(name, "readable")
    if (places.some(({ path }) => path === name)) return { places, watched: [] }
    const link = Option.getOrUndefined(yield* Effect.option(fs.readLink(name)))
    return { places, watched: link !== undefined || (matters && places.length === 0) ? [{ path: name, link }] : [] }
  })

  return { placeOf, protect }
}
