/** Standard output and error of a single task. */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type { Event } from "../../domain/Event.ts"
import type { ToolCallId } from "../../domain/Ids.ts"
import { plainLine } from "../terminal/Plain.ts"
import { forTerminal } from "./Answer.ts"

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

/** Text that a model or a tool wrote, for whoever reads standard output. */
export const answer = (text: string): Effect.Effect<void> => out(process.stdout.isTTY ? forTerminal(text) : text)

export const err = (text: string): Effect.Effect<void> => write(process.stderr, text)

/** Fails when standard output breaks. Standard error may break: nobody has to read it. */
export const gone: Effect.Effect<never, OutputGone> = Effect.callback<never, OutputGone>((resume) => {
  const fail = (): void => resume(Effect.fail(new OutputGone()))
  process.stdout.on("error", fail)
  process.stderr.on("error", () => {})
})

const marks = { completed: "✓", failed: "✗", pending: "·", in_progress: "·" } as const

/** What a person sees of an event: calls and the plan only at a terminal, warnings in any case. `title` is that of its call. */
export const progress = (event: Event, title: (id: ToolCallId) => string): string | undefined => {
  if (event._tag === "Notice" && event.severity !== "info") {
    const text = [event.title, event.description].filter((part) => part !== undefined).join(". ")
    return `${event.severity}: ${plainLine(text)}\n`
  }
  if (!process.stderr.isTTY) return undefined
  switch (event._tag) {
    case "ToolCallUpdated": {
      const { status } = event.patch
      return status === "in_progress" || status === "failed"
        ? `${marks[status]} ${plainLine(title(event.id))}\n`
        : undefined
    }
    case "PlanUpdated":
      return event.entries.map(({ content, status }) => `  ${marks[status]} ${plainLine(content)}\n`).join("")
    case "Notice":
      return `${plainLine(event.title)}\n`
    default:
      return undefined
  }
}

/** What the agent said before it went on, which is not the answer. */
export const aside = (text: string): string | undefined =>
  process.stderr.isTTY && text.trim() !== "" ? `${forTerminal(text.trim())}\n` : undefined
