/** `/compact`, `/clear` and `/export`: what becomes of the conversation. The log is only ever added to. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { makeDocument } from "../../domain/session/Markdown.ts"
import * as Replay from "../../domain/session/Replay.ts"
import type { CommandSession } from "../Commands.ts"
import type { TurnShape } from "../Turn.ts"

/** Characters of a document that is a file, and of one that is an answer. */
const FILE_LIMIT = 5_000_000
const ANSWER_LIMIT = 100_000

const thousands = (tokens: number): string => (tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`)

export const compact = Effect.fnUntraced(function* (session: CommandSession, turn: TurnShape, focus: string) {
  const result = yield* turn.compact(session.turn, focus === "" ? undefined : focus)
  switch (result._tag) {
    case "Compacted": {
      const { after, before, usage } = result
      return {
        text: `The model now reads a summary instead of the conversation until here: about ${thousands(before)} tokens became ${thousands(after)}. What you see stays.`,
        ...(usage === undefined ? {} : { usage })
      }
    }
    case "Nothing":
      return { text: "There is nothing to sum up yet." }
    case "Failed":
      return { text: `The conversation stays as it is: it could not be summed up. ${result.message}` }
  }
})

export const clear = Effect.fnUntraced(function* ({ emit, log, state }: CommandSession) {
  const { plan, usage } = state()
  yield* log({ _tag: "ContextTruncated", length: 0 })
  if (usage !== undefined) yield* emit({ _tag: "UsageUpdated", ...usage, used: 0 })
  if (plan.length > 0) yield* emit({ _tag: "PlanUpdated", entries: [] })
  return "The model has forgotten the conversation until here. What you see stays, and so do the files."
}, Effect.uninterruptible)

const documentOf = Effect.fnUntraced(function* ({ history, state, workspace }: CommandSession, limit: number) {
  const document = makeDocument(state().title ?? `Session ${workspace.sessionId}`, limit)
  yield* history.pipe(
    Stream.mapAccum(() => Replay.emptyBuffer, Replay.step, { onHalt: Replay.flush }),
    Stream.runForEach(({ event }) => Effect.sync(() => document.add(event)))
  )
  return document.text()
})

/** A file is written by the tool for that, so that it is judged, and can be undone, like any other. */
export const exportTo = Effect.fnUntraced(
  function* (session: CommandSession, turn: TurnShape, path: string) {
    if (path === "") return yield* documentOf(session, ANSWER_LIMIT)
    if (!session.harness.tools.includes("write")) {
      return `The agent ${session.harness.title} writes no files; type \`/export\` alone to be shown the conversation.`
    }
    const content = yield* documentOf(session, FILE_LIMIT)
    const { isFailure, text } = yield* turn.call(session.turn, "write", { path, content })
    return isFailure ? `The conversation was not written: ${text}` : `The conversation is in \`${path}\`.`
  },
  Effect.catch(({ message }) => Effect.succeed(`The history of this session cannot be read: ${message}.`))
)
