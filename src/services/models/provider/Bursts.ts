/** Deltas that arrived together become one: whoever handles them has the work of one. */
import type * as Response from "effect/ai/Response"
import type { NonEmptyReadonlyArray } from "effect/Array"

type Part = Response.StreamPartEncoded
type Delta = Extract<Part, { readonly delta: string }>

/** Characters beyond which nothing is added to a delta. */
const FULL = 2048

const isDelta = (part: Part): part is Delta =>
  part.type === "text-delta" || part.type === "reasoning-delta" || part.type === "tool-params-delta"

const extend = (part: Delta, text: string): Delta => ({ ...part, delta: part.delta + text })

/**
 * Joins neighbours of one block among parts that came at once. The delta that follows the start of its block stays by
 * itself, so that the beginning is seen as soon as possible.
 */
export const mergeBurst = (parts: NonEmptyReadonlyArray<Part>): NonEmptyReadonlyArray<Part> => {
  let last: Part = parts[0]
  let growing = isDelta(last)
  const merged: [Part, ...Array<Part>] = [last]
  for (const part of parts.slice(1)) {
    if (growing && isDelta(part) && isDelta(last) && part.type === last.type && part.id === last.id) {
      const grown = extend(last, part.delta)
      last = grown
      merged[merged.length - 1] = grown
      growing = grown.delta.length < FULL
    } else {
      growing = isDelta(part) && !last.type.endsWith("-start")
      last = part
      merged.push(part)
    }
  }
  return merged
}
