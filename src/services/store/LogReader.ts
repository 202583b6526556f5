/** Reads a log of any length in pages of bounded size. What no longer decodes is left out with a warning (F52). */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { SessionId } from "../../domain/Ids.ts"
import type { NumberedEntry } from "../../domain/session/Position.ts"
import { Entry } from "../../domain/session/Session.ts"

/** Entries, and bytes of them, that are held at once; a single entry may be larger. */
const MAX_ENTRIES = 512
const MAX_BYTES = 1_048_576

const decodeEntry = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.toCodecJson(Entry)))

interface Size {
  readonly seq: number
  readonly bytes: number
}

/** The last of the entries that fit into one page; the first one always does. */
const lastThatFits = (sizes: ReadonlyArray<Size>): number | undefined => {
  let bytes = 0
  let last: number | undefined
  for (const size of sizes) {
    bytes += size.bytes
    if (last !== undefined && bytes > MAX_BYTES) break
    last = size.seq
  }
  return last
}

/** The entries of a session from a number to the last, also those appended while it reads. */
export const read = (sql: SqlClient, id: SessionId, first: number): Stream.Stream<NumberedEntry, SqlError> => {
  const page = Effect.fnUntraced(function* (
    from: number
  ): Effect.fn.Return<readonly [ReadonlyArray<NumberedEntry>, Option.Option<number>], SqlError> {
    const last = lastThatFits(
      yield* sql<Size>`SELECT seq, OCTET_LENGTH(json) AS bytes FROM entries
        WHERE session_id = ${id} AND seq >= ${from} ORDER BY seq LIMIT ${MAX_ENTRIES}`
    )
    if (last === undefined) return [[], Option.none()]
    const rows = yield* sql<{ seq: number; json: string }>`SELECT seq, json FROM entries
      WHERE session_id = ${id} AND seq BETWEEN ${from} AND ${last} ORDER BY seq`
    const entries: Array<NumberedEntry> = []
    for (const { seq, json } of rows) {
      const decoded = decodeEntry(json)
      if (Result.isSuccess(decoded)) entries.push({ seq, entry: decoded.success })
      else yield* Effect.logWarning(`Entry ${seq} of session ${id} cannot be read and is left out`)
    }
    return [entries, Option.some(last + 1)]
  })
  return Stream.paginate(first, page)
}
