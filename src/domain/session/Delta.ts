/** Pieces of one streamed message. Neighbours can be joined without changing what is told. */
import type { StoredEvent } from "../Event.ts"
import type { Entry } from "./Session.ts"

export type Delta = Extract<StoredEvent, { readonly _tag: "TextDelta" | "ThoughtDelta" }>

/** Characters of a joined piece; one that was longer when it came stays whole. */
export const MAX_CHUNK = 65_536

export const isDelta = (entry: Entry): entry is Delta => entry._tag === "TextDelta" || entry._tag === "ThoughtDelta"

/** Both as one piece, if they belong to the same message and fit. */
export const merge = (one: Delta, next: Entry): Delta | undefined =>
  one._tag === next._tag && one.messageId === next.messageId && one.text.length + next.text.length <= MAX_CHUNK
    ? { ...one, text: one.text + next.text }
    : undefined
