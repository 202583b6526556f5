/**
 * A JSON-RPC request id, kept as its JSON text: `"1"` and `1` differ, and integers beyond 2^53 keep every digit (RPC-02).
 */
import * as Brand from "effect/Brand"
import * as Schema from "effect/Schema"

export const RequestId = Schema.NonEmptyString.pipe(Schema.brand("RequestId"))
export type RequestId = typeof RequestId.Type

/** Every message passes here, so the text is branded without a check: each caller below builds valid JSON. */
const brand = Brand.nominal<RequestId>()

/** The id of an answer to something that had none that could be read. */
export const nullId: RequestId = RequestId.make("null")

/** The id of our own request number `count`. */
export const fromCount = (count: number): RequestId => brand(String(count))

/**
 * The id in a parsed message: a string, `null` or an integer that a double holds exactly. The integer is written back in
 * plain digits: `1e3` as `1000`, `-0` as `0`. `undefined` for all else.
 */
export const fromJson = (value: unknown): RequestId | undefined => {
  if (typeof value === "string") return brand(JSON.stringify(value))
  if (value === null) return nullId
  return typeof value === "number" && Number.isSafeInteger(value) ? brand(String(value)) : undefined
}

/** The id written as `source` in the text of a message, for an integer that `JSON.parse` rounds. */
export const fromDigits = (source: string): RequestId | undefined =>
  /^-?\d+$/.test(source) ? brand(source) : undefined
