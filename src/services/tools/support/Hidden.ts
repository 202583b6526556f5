/**
 * What whoever looks below a folder does not see. What deny rules hide is left out as if it were not there, and told as a
 * number; what is private is told by its name, since it can be asked for.
 */
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
  isHidden: (relative: string) => boolean
): Effect.Effect<ReadonlyArray<string>, SearchFailed> =>
  Effect.map(search.files(scope, isHidden, LIMIT), ({ items, more }) => hiddenNote(items.length, more))

/** Private places that are named. */
const MOST_NAMES = 5

/** The note for private places that were left out. */
export const noteClosed = (places: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (places.length === 0) return []
  const rest = places.length - MOST_NAMES
  const names = [...places.slice(0, MOST_NAMES), ...(rest > 0 ? [`${rest} more`] : [])].join(", ")
  return [`(left out as private: ${names}; a call that names one as its path asks the user)`]
}
