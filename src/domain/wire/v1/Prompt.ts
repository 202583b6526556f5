/** One turn: the prompt that starts it and the answer that ends it. */
import * as Schema from "effect/Schema"
import { SessionId } from "../../Ids.ts"
import { StopReason } from "../../Turn.ts"
import * as Lenient from "../Lenient.ts"
import { ContentBlock } from "./Content.ts"

export const PromptRequest = Schema.Struct({
  sessionId: SessionId,
  prompt: Schema.Array(ContentBlock).check(Schema.isMinLength(1, { expected: "at least one content block" })),
  _meta: Lenient.meta
})

export const PromptResponse = Schema.Struct({ stopReason: StopReason, _meta: Lenient.meta })
