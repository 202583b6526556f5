/** How a session speaks to people: what some clients cannot show, and what waits for the next prompt. */
import * as Effect from "effect/Effect"
import type { Event, Notice } from "../../domain/Event.ts"
import type { MessageId } from "../../domain/Ids.ts"
import type { View } from "./Journal.ts"
import { compactionNotice, rulesLost } from "./Warnings.ts"

export interface Telling {
  /**
   * What the client of the view would never see is told as a thought, so that neither a dead server nor a wait for the
   * provider is a riddle (MCP-04). The model does not see thoughts that it did not have.
   */
  readonly tell: (view: View, event: Event) => Effect.Effect<void>
  /** Kept for the next prompt, so that it is seen where the user looks. */
  readonly warn: (notice: Notice) => void
  /** Tells what was kept, and which rules came to hold no more since it was told last. */
  readonly tellWarnings: (view: View) => Effect.Effect<void>
}

/** Notices that wait for the next prompt; more would be noise. */
const MOST_KEPT = 100

interface TellingInput {
  readonly emit: (event: Event) => Effect.Effect<void>
  readonly messageId: Effect.Effect<MessageId>
  /** Those that do not hold; files change while a session goes on. */
  readonly lostRules: Effect.Effect<ReadonlyArray<string>>
}

export const make = ({ emit, lostRules, messageId }: TellingInput): Telling => {
  /** By title, so that a session that is opened many times before its next prompt has each of them once. */
  const warnings = new Map<string, Notice>()
  let toldRules = ""

  const tell: Telling["tell"] = (view, event) => {
    const { capabilities } = view.editor
    if (event._tag === "CompactionUpdated") {
      const notice = capabilities.compaction ? undefined : compactionNotice(event)
      return notice === undefined ? emit(event) : Effect.andThen(emit(event), tell(view, notice))
    }
    if (event._tag !== "Notice" || capabilities.notices) return emit(event)
    const text = [event.title, event.description].filter((part) => part !== undefined).join(". ")
    return Effect.flatMap(messageId, (id) => emit({ _tag: "ThoughtDelta", messageId: id, text }))
  }

  return {
    tell,
    warn: (notice) => {
      if (warnings.size < MOST_KEPT || warnings.has(notice.title)) warnings.set(notice.title, notice)
    },
    tellWarnings: Effect.fnUntraced(function* (view) {
      const lost = yield* lostRules
      const rules = lost.join("\n")
      if (rules !== "" && rules !== toldRules) {
        const notice = rulesLost(lost)
        warnings.set(notice.title, notice)
      }
      toldRules = rules
      const kept = [...warnings.values()]
      warnings.clear()
      for (const notice of kept) yield* tell(view, notice)
    })
  }
}
