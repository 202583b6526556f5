/** A method that is answered, as every version writes it into its contract. */
import * as Rpc from "effect/rpc/Rpc"
import type * as Schema from "effect/Schema"
import { WireError } from "./ErrorCode.ts"

/** Any method may answer with an error instead of its result. */
export const request = <const Name extends string, Params extends Schema.Top, Result extends Schema.Top>(
  name: Name,
  payload: Params,
  success: Result
) => Rpc.make(name, { payload, success, error: WireError })
