/** An editor of the test: keeps what it is told, lets a test wait for it, and answers questions when the test says so. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { type EditorCapabilities, noCapabilities } from "../../src/domain/Capability.ts"
import type { Event } from "../../src/domain/Event.ts"
import type { SessionId } from "../../src/domain/Ids.ts"
import type { Answer, Question } from "../../src/domain/permission/Permission.ts"
import type { Position } from "../../src/domain/session/Position.ts"
import { type Editor, EditorFailed } from "../../src/services/Editor.ts"
import { makeSignal } from "./signal.ts"
import { inShort } from "./turnSession.ts"

export interface Asked {
  readonly question: Question
  readonly answer: (answer: Answer) => Effect.Effect<void>
  /** Answers with the offered option of that kind. */
  readonly choose: (kind: Question["options"][number]["kind"]) => Effect.Effect<void>
  withdrawn: boolean
}

export interface FakeEditor {
  readonly editor: Editor
  readonly events: Array<readonly [session: SessionId, event: Event]>
  /** Where the log has each of the events. */
  readonly positions: Array<Position | undefined>
  /** Loses the connection, as far as the agent can tell. */
  readonly lose: () => void
  readonly questions: Array<Asked>
  /** Everything in order: tags of events, `asked` and `withdrawn`. */
  readonly happened: Array<string>
  /** The events of one session in short. */
  readonly told: (session: SessionId) => ReadonlyArray<string>
  /** Waits until something that was told or asked makes it true. */
  readonly until: (condition: () => boolean) => Effect.Effect<void>
  /** Waits for text of the model that holds `part`. */
  readonly untilSaid: (part: string) => Effect.Effect<void>
}

export const makeEditor = (capabilities: Partial<EditorCapabilities> = {}): FakeEditor => {
  const events: FakeEditor["events"] = []
  const positions: FakeEditor["positions"] = []
  let gone = false
  const questions: Array<Asked> = []
  const happened: Array<string> = []
  const { changed: signal, until } = makeSignal()

  const changed = (what: string) => {
    happened.push(what)
    signal()
  }

  const ask = (question: Question) =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<Answer>()
      const answer = (given: Answer) => Effect.asVoid(Deferred.succeed(done, given))
      const asked: Asked = {
        question,
        answer,
        choose: (kind) =>
          answer({ _tag: "Selected", optionId: question.options.find((option) => option.kind === kind)?.id ?? "" }),
        withdrawn: false
      }
      questions.push(asked)
      changed("asked")
      return Deferred.await(done).pipe(
        Effect.onInterrupt(() =>
          Effect.sync(() => {
            asked.withdrawn = true
            changed("withdrawn")
          })
        )
      )
    })

  const said = () =>
    events.map(([, event]) => (event._tag === "TextDelta" || event._tag === "ThoughtDelta" ? event.text : "")).join("")

  return {
    editor: {
      capabilities: { ...noCapabilities, ...capabilities },
      emit: (session, event, position) =>
        Effect.sync(() => {
          events.push([session, event])
          positions.push(position)
          changed(event._tag)
        }),
      caughtUp: Effect.void,
      isGone: () => gone,
      ask,
      elicit: () => Effect.succeed({ _tag: "Unanswered", reason: "it shows no forms" }),
      readTextFile: () => Effect.fail(new EditorFailed({ notFound: true, message: "no such file" }))
    },
    events,
    positions,
    lose: () => {
      gone = true
    },
    questions,
    happened,
    told: (session) => inShort(events.flatMap(([of, event]) => (of === session ? [event] : []))),
    until,
    untilSaid: (part) => until(() => said().includes(part))
  }
}
