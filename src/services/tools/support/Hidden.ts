/** What deny rules hide from whoever looks below a folder: left out as if it were not there, and told as a number. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Search, SearchFailed, SearchScope } from "../../files/search/Search.ts"
import type { Readable } from "../../PermissionBroker.ts"
import type { Place } from "./Places.ts"

/** Hidden files are counted up to here. */
const LIMIT = 1_000

/** A test for what lies below a place, by its path from there. Both names of the place count, as they do for the call. */
export const shownBelow =
  ({ path, real }: Place, readable: Option.Option<Readable>) =>
  (relative: string): boolean =>
    Option.isNone(readable) || [path, real].every((name) => readable.value(`${name}/${relative}`))

export const hiddenNote = (count: number, more = false): ReadonlyArray<string> => {
  if (count === 0) return []
  const files = count === 1 && !more ? "1 file is" : `${more ? "more than " : ""}${count} files are`
  return [`(${files} hidden by a deny rule)`]
}

/**
 * The note for a search. All hidden files of the scope count, whatever was searched for, so that no number of them tells
 * what is in one.
 */
export const noteHidden = (
  search: Search,
  scope: SearchScope,
  place: Place,
  readable: Option.Option<Readable>
): Effect.Effect<ReadonlyArray<string>, SearchFailed> => {
  if (Option.isNone(readable)) return Effect.succeed([])
  const isShown = shownBelow(place, readable)
  return Effect.map(
    search.files(scope, (relative) => !isShown(relative), LIMIT),
    ({ items, more }) => hiddenNote(items.length, more)
  )
}
