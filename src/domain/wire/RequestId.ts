/**
 * A JSON-RPC request id, kept as its JSON text: `"1"` and `1` differ, and integers beyond 2^53 keep every digit (RPC-02).
 */
import * as Schema from "effect/Schema"

export const RequestId = Schema.NonEmptyString.pipe(Schema.brand("RequestId"))
export type RequestId = typeof RequestId.Type

/** The id of an answer to something that had none that could be read. */
export const nullId: RequestId = RequestId.make("null")
