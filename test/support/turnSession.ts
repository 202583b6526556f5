/** A session as a turn sees it: what it tells and logs is kept, and folded as the real one does. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { Event } from "../../src/domain/Event.ts"
import { isStored } from "../../src/domain/Event.ts"
import type { ExecutionMode } from "../../src/domain/permission/ExecutionMode.ts"
import { defaultHarness } from "../../src/domain/Harness.ts"
import { SessionId } from "../../src/domain/Ids.ts"
import type { Entry } from "../../src/domain/session/Session.ts"
import { closing, empty, fold, type SessionState } from "../../src/domain/session/SessionState.ts"
import type { TurnSession } from "../../src/services/Turn.ts"
import { info } from "./models.ts"
import { makeSignal } from "./signal.ts"

export interface Recorded {
  readonly session: TurnSession
  readonly events: Array<Event>
  readonly entries: Array<Entry>
  readonly state: () => SessionState
  /** Events in short, in order: neighbouring text of one message joined. */
  readonly told: () => ReadonlyArray<string>
  /** Waits until what was told makes it true. */
  readonly until: (condition: () => boolean) => Effect.Effect<void>
}

export interface SessionOptions extends Partial<TurnSession> {
  /** Runs before an event is kept. */
  readonly onEvent?: (event: Event) => Effect.Effect<void>
}

const contentText = (content: ReadonlyArray<unknown>): string =>
  content
    .map((item) => {
      const text = (item as { readonly content?: { readonly text?: string } }).content?.text
      return text ?? (item as { readonly type: string }).type
    })
    .join(" | ")

export const inShort = (events: ReadonlyArray<Event>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let last: string | undefined
  for (const event of events) {
    if (event._tag === "TextDelta" || event._tag === "ThoughtDelta") {
      const key = `${event._tag}:${event.messageId}`
      const word = event._tag === "TextDelta" ? "text" : "thought"
      if (last === key) lines[lines.length - 1] += event.text
      else lines.push(`${word} ${event.text}`)
      last = key
      continue
    }
    last = undefined
    switch (event._tag) {
      case "ToolCallStarted":
        lines.push(`start ${event.call.name}`)
        break
      case "ToolCallUpdated":
        if (event.patch.status !== undefined) {
          const shown = event.patch.content === undefined ? "" : ` ${contentText(event.patch.content)}`
          lines.push(`${event.patch.status}${shown}`)
        }
        break
      case "CompactionUpdated":
        lines.push(`compaction ${event.status}${event.error === undefined ? "" : ` ${event.error}`}`)
        break
      case "Notice":
        lines.push(`notice ${event.title}`)
        break
      default:
        lines.push(event._tag)
    }
  }
  return lines
}

export const makeSession = ({ onEvent, ...overrides }: SessionOptions = {}): Recorded => {
  const { changed, until } = makeSignal()
  const events: Array<Event> = []
  const entries: Array<Entry> = []
  let state: SessionState = fold(empty, { _tag: "TurnStarted" })
  const log = (entry: Entry) =>
    Effect.sync(() => {
      entries.push(entry)
      state = fold(state, entry)
    })
  const keep = (event: Event) =>
    Effect.andThen(
      isStored(event) ? log(event) : Effect.void,
      Effect.sync(() => {
        events.push(event)
        changed()
      })
    )
  const emit = (event: Event) => (onEvent === undefined ? keep(event) : Effect.andThen(onEvent(event), keep(event)))
  const session: TurnSession = {
    workspace: {
      sessionId: SessionId.make("s"),
      cwd: "/work",
      roots: ["/work"],
      editor: undefined,
      scratch: "/scratch",
      lifetime: Scope.makeUnsafe()
    },
    harness: defaultHarness,
    model: Effect.succeed({ id: info.id, effort: undefined }),
    mode: Effect.succeed<ExecutionMode>("always-approve"),
    rules: undefined,
    systemPrompt: undefined,
    skills: Effect.succeed(""),
    ownTools: Effect.succeed([]),
    agents: Effect.succeed([]),
    context: Effect.sync(() => state.context),
    grants: Effect.sync(() => state.grants),
    used: Effect.sync(() => state.usage?.used),
    cost: Effect.sync(() => state.usage?.cost ?? 0),
    emit,
    log,
    keep: Effect.void,
    settle: (why) =>
      Effect.suspend(() =>
        Effect.forEach(
          closing(state, why),
          (entry) =>
            entry._tag === "ToolCallUpdated" || entry._tag === "CompactionUpdated" ? emit(entry) : log(entry),
          {
            discard: true
          }
        )
      ),
    ask: undefined,
    elicit: () => undefined,
    ...overrides
  }
  return { session, events, entries, state: () => state, told: () => inShort(events), until }
}
