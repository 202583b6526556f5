/**
 * How far a log was told. An entry is named by its number, and a text that may still grow also by how much of it was told,
 * so that whoever comes back gets what is missing to the character.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { isDelta } from "./Delta.ts"
import type { Entry } from "./Session.ts"

/** `length` counts the UTF-16 units of a text entry; it is 0 for every other entry. */
export interface Position {
  readonly seq: number
  readonly length: number
}

/** `42`, or `42.180` for the first 180 units of a text. */
export const format = ({ length, seq }: Position): string => (length === 0 ? `${seq}` : `${seq}.${length}`)

const Written = Schema.String.check(Schema.isPattern(/^(0|[1-9]\d{0,15})(\.[1-9]\d{0,14})?$/))
const isWritten = Schema.is(Written)

export const parse = (text: string): Option.Option<Position> => {
  if (!isWritten(text)) return Option.none()
  const [seq, length] = text.split(".")
  return Option.some({ seq: Number(seq), length: Number(length ?? 0) })
}

/** An entry with its number. Of a text, the first `offset` units may have been left out. */
export interface NumberedEntry {
  readonly seq: number
  readonly entry: Entry
  readonly offset?: number
}

/** Where a log is when the entry is its last one. */
export const positionOf = ({ entry, offset = 0, seq }: NumberedEntry): Position => ({
  seq,
  length: isDelta(entry) ? offset + entry.text.length : 0
})

export const isSame = (one: Position | undefined, other: Position | undefined): boolean =>
  one?.seq === other?.seq && one?.length === other?.length

export const isBeyond = (one: Position, other: Position | undefined): boolean =>
  other === undefined || one.seq > other.seq || (one.seq === other.seq && one.length > other.length)

/** What of the entry comes after one position and not after the other; undefined if nothing does. */
export const between = (
  numbered: NumberedEntry,
  after: Position | undefined,
  upTo: Position | undefined
): NumberedEntry | undefined => {
  const { entry, offset = 0, seq } = numbered
  if (seq < (after?.seq ?? 0) || seq > (upTo?.seq ?? seq)) return undefined
  if (!isDelta(entry)) return seq === after?.seq ? undefined : numbered
  const start = seq === after?.seq ? Math.max(after.length - offset, 0) : 0
  const end = seq === upTo?.seq ? upTo.length - offset : entry.text.length
  if (start >= end) return undefined
  return { seq, entry: { ...entry, text: entry.text.slice(start, end) }, offset: offset + start }
}
