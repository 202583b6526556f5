/** Logs as turns write them, generated from small scripts; and plain ways to read a log, to judge the fold by. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { MessageId, SessionId, ToolCallId } from "../../src/domain/Ids.ts"
import { HarnessId } from "../../src/domain/Harness.ts"
import { Granted, Configured, type Entry, type SessionRecord } from "../../src/domain/session/Session.ts"
import { PlanUpdated, UsageUpdated } from "../../src/domain/Event.ts"
import { StopReason } from "../../src/domain/Turn.ts"

const Call = Schema.Struct({
  preview: Schema.String,
  patches: Schema.Array(Schema.String),
  status: Schema.Literals(["completed", "failed"])
})

const Step = Schema.Struct({
  thoughts: Schema.Array(Schema.String),
  texts: Schema.Array(Schema.String),
  calls: Schema.Array(Call)
})

const TurnScript = Schema.Struct({
  before: Schema.Array(Schema.Union([Configured, Granted])),
  prompt: Schema.String,
  steps: Schema.Array(Step),
  between: Schema.Array(Schema.Union([PlanUpdated, UsageUpdated])),
  title: Schema.optionalKey(Schema.String),
  stopReason: StopReason
})

const textBlock = (text: string) => ({ type: "text" as const, text })

const stepEntries = (turn: number, index: number, step: typeof Step.Type): ReadonlyArray<Entry> => {
  const messageId = MessageId.make(`m${turn}.${index}`)
  const ids = step.calls.map((_, call) => ToolCallId.make(`c${turn}.${index}.${call}`))
  return [
    ...step.thoughts.map((text): Entry => ({ _tag: "ThoughtDelta", messageId, text })),
    ...step.texts.map((text): Entry => ({ _tag: "TextDelta", messageId, text })),
    ...step.calls.map(({ preview }, call): Entry => ({
      _tag: "ToolCallStarted",
      call: {
        id: ids[call]!,
        name: "edit",
        title: "Edit",
        kind: "edit",
        status: "pending",
        locations: [],
        content: [{ type: "content", content: textBlock(preview) }]
      }
    })),
    ...step.calls.flatMap(({ patches, status }, call) => [
      ...patches.map((title): Entry => ({
        _tag: "ToolCallUpdated",
        id: ids[call]!,
        patch: { title, status: "in_progress" }
      })),
      { _tag: "ToolCallUpdated", id: ids[call]!, patch: { status, rawOutput: preview(status) } } satisfies Entry
    ]),
    {
      _tag: "ContextAppended",
      messages: [
        { role: "assistant", content: [textBlock(step.texts.join(""))] },
        ...(ids.length === 0 ? [] : [{ role: "tool", content: ids.map((id) => ({ type: "tool-result", id })) }])
      ]
    }
  ]
}

const preview = (status: string) => ({ status, lines: [1, 2, 3] })

/** The entries of whole turns, in the order in which a session writes them. */
const entriesOf = (turns: ReadonlyArray<typeof TurnScript.Type>): ReadonlyArray<Entry> =>
  turns.flatMap(({ before, between, prompt, steps, stopReason, title }, turn): ReadonlyArray<Entry> => [
    ...before,
    { _tag: "TurnStarted" },
    { _tag: "UserMessage", messageId: MessageId.make(`u${turn}`), content: [textBlock(prompt)] },
    { _tag: "ContextAppended", messages: [{ role: "user", content: [textBlock(prompt)] }] },
    ...steps.flatMap((step, index) => stepEntries(turn, index, step)),
    ...between,
    ...(title === undefined ? [] : [{ _tag: "InfoUpdated", title } satisfies Entry]),
    { _tag: "TurnEnded", outcome: { stopReason } }
  ])

/** Logs of whole turns. */
export const logs: Arbitrary.Arbitrary<ReadonlyArray<Entry>> = Arbitrary.array(Arbitrary.schema(TurnScript), {
  maxLength: 4
}).pipe(Arbitrary.map(entriesOf))

/** A log and a place in it, where a kill may have torn it. */
export const tornLogs = Arbitrary.all({ log: logs, cut: Arbitrary.schema(Schema.Natural) }).pipe(
  Arbitrary.map(({ cut, log }) => log.slice(0, cut % (log.length + 1)))
)

/** Cuts a log into appends; the sizes come round again as often as it takes. */
export const split = (log: ReadonlyArray<Entry>, sizes: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<Entry>> => {
  const pieces: Array<ReadonlyArray<Entry>> = []
  for (let from = 0, turn = 0; from < log.length; turn++) {
    const size = 1 + ((sizes[turn % Math.max(1, sizes.length)] ?? 0) % 7)
    pieces.push(log.slice(from, from + size))
    from += size
  }
  return pieces
}

/** The text of each message, by kind and id, in the order of their first words. */
export const textsOf = (entries: Iterable<Entry>): ReadonlyArray<readonly [string, string]> => {
  const texts = new Map<string, string>()
  for (const entry of entries) {
    if (entry._tag !== "TextDelta" && entry._tag !== "ThoughtDelta") continue
    const key = `${entry._tag} ${entry.messageId}`
    texts.set(key, (texts.get(key) ?? "") + entry.text)
  }
  return [...texts]
}

export const recordOf = (id: string, fields: Partial<SessionRecord> = {}): SessionRecord => ({
  id: SessionId.make(id),
  cwd: "/work",
  harness: HarnessId.make("super-pi-code"),
  createdAt: "1970-01-01T00:00:00.000Z",
  updatedAt: "1970-01-01T00:00:00.000Z",
  ...fields
})

export const said = (text: string): Entry => ({
  _tag: "UserMessage",
  messageId: MessageId.make("u"),
  content: [textBlock(text)]
})

export const delta = (text: string, messageId = "m"): Entry => ({
  _tag: "TextDelta",
  messageId: MessageId.make(messageId),
  text
})

export const titled = (title: string): Entry => ({ _tag: "InfoUpdated", title })
