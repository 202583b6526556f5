/** Ids of one turn: unique in the session across turns and reloads, and short enough for every provider. */
import * as Effect from "effect/Effect"
import type { SecureRandom } from "effect/crypto/SecureRandom"
import { CompactionId, MessageId, ToolCallId } from "../../domain/Ids.ts"

export interface TurnIds {
  readonly message: () => MessageId
  readonly call: () => ToolCallId
  readonly compaction: () => CompactionId
}

const RANDOM_DIGITS = 12

export const make = (random: SecureRandom["Service"]): Effect.Effect<TurnIds> =>
  Effect.map(random.uuidV4(), (uuid) => {
    const turn = uuid.replaceAll("-", "").slice(0, RANDOM_DIGITS)
    let messages = 0
    let calls = 0
    let compactions = 0
    return {
      message: () => MessageId.make(`msg_${turn}_${messages++}`),
      call: () => ToolCallId.make(`call_${turn}_${calls++}`),
      compaction: () => CompactionId.make(`compaction_${turn}_${compactions++}`)
    }
  })
