/** Standard output and error of a single task. */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type { Event } from "../../domain/Event.ts"
import { plainLine } from "../Plain.ts"

/** Whoever read the output has gone, as `head` does: there is nothing to say to anybody. */
export class OutputGone extends Schema.TaggedError<OutputGone>()("OutputGone", {}) {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
}

const write = (stream: NodeJS.WriteStream, text: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    // A reader that is slow holds up the turn; one that is gone does not.
    stream.write(text, () => resume(Effect.void))
  })

export const out = (text: string): Effect.Effect<void> => write(process.stdout, text)

export const err = (text: string): Effect.Effect<void> => write(process.stderr, text)

/** Fails when standard output breaks. Standard error may break: nobody has to read it. */
export const gone: Effect.Effect<never, OutputGone> = Effect.callback<never, OutputGone>((resume) => {
  const fail = (): void => resume(Effect.fail(new OutputGone()))
  process.stdout.on("error", fail)
  process.stderr.on("error", () => {})
})

const marks = { completed: "✓", failed: "✗", pending: "·", in_progress: "·" } as const

/** What a person sees of an event; calls and a thought of the plan only at a terminal, warnings in any case. */
export const progress = (event: Event): string | undefined => {
  if (event._tag === "Notice" && event.severity !== "info") {
    const text = [event.title, event.description].filter((part) => part !== undefined).join(". ")
    return `${event.severity}: ${plainLine(text)}\n`
  }
  if (!process.stderr.isTTY) return undefined
  switch (event._tag) {
    case "ToolCallStarted":
      return `· ${plainLine(event.call.title)}\n`
    case "ToolCallUpdated":
      return event.patch.status === "failed" && event.patch.title !== undefined
        ? `${marks.failed} ${plainLine(event.patch.title)}\n`
        : undefined
    case "PlanUpdated":
      return `${event.entries.map(({ content, status }) => `  ${marks[status]} ${plainLine(content)}`).join("\n")}\n`
    case "Notice":
      return `${plainLine(event.title)}\n`
    default:
      return undefined
  }
}
