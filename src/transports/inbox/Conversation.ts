/** One session as the inbox takes part in it: one end sends, another one watches, and all that it hears goes to the feed. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Content from "../../domain/Content.ts"
import type { Event } from "../../domain/Event.ts"
import type { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import type { AuthRequired, InvalidInput, SessionNotFound, StoreFailed } from "../../domain/Failure.ts"
import type { SessionId } from "../../domain/Ids.ts"
import type { Position } from "../../domain/session/Position.ts"
import type { Outcome } from "../../domain/Turn.ts"
import type { AgentShape, Place } from "../../services/Agent.ts"
import type { Editors } from "./Editors.ts"
import type { Body } from "./Event.ts"
import type { Feed } from "./Feed.ts"
import * as Projection from "./Projection.ts"
import * as Questions from "./Questions.ts"
import type { PromptFailed, Turn } from "./Turn.ts"

export type OpenFailed = AuthRequired | InvalidInput | SessionNotFound | StoreFailed

export interface Conversation {
  readonly sessionId: SessionId
  readonly cwd: string
  /** The number of the latest event when it was joined: the feed has nothing of it from before. */
  readonly joined: number
  /** Whether a turn runs or a prompt of this inbox waits. */
  readonly isBusy: () => boolean
  /** Whether a turn runs. */
  readonly isWorking: () => boolean
  /** Its log was given up: it hears nothing more, and has to be opened again. */
  readonly isOver: () => boolean
  readonly questions: Questions.Questions
  readonly titleOf: Projection.Projection["titleOf"]
  /** Sends a prompt and waits until its turn has ended and everything of it was told. */
  readonly run: (turn: Turn, text: string) => Effect.Effect<void>
  readonly stop: Effect.Effect<void>
  /** Tells what the log has after a position, at the pace of `ready`. */
  readonly history: (
    after: Position | undefined,
    take: (event: Event, position: Position) => void,
    ready: Effect.Effect<void>
  ) => Effect.Effect<void, OpenFailed>
}

export interface ConversationInput {
  readonly agent: AgentShape
  readonly editors: Editors
  readonly feed: Feed
  readonly sessionId: SessionId
  readonly cwd: string
  readonly ceiling: ExecutionMode
}

/** The scope is the time for which the inbox takes part. */
export const make = Effect.fnUntraced(function* ({
  agent,
  ceiling,
  cwd,
  editors,
  feed,
  sessionId
}: ConversationInput): Effect.fn.Return<Conversation, OpenFailed, Scope.Scope> {
  const place: Place = { cwd, additionalDirectories: [], mcpServers: [] }
  const options = { ceiling, lingers: true }
  const projection = Projection.make()
  /** Prompts of this inbox whose turn has not begun, in order. */
  const waiting = new Set<Turn>()
  let position: Position | undefined
  let current: Turn | undefined
  let isLive = false
  let isOver = false
  let working = false
  /** Whether somebody else began the running turn: of such a one the sender is told. */
  let foreign = false

  const tell = (body: Body, kept = false) => feed.append(sessionId, body, position, kept)

  const hearOfOthers = (event: Event): void => {
    if (event._tag === "ActivityChanged") foreign = event.state === "working"
  }

  const begin = Effect.fnUntraced(function* (told: ReadonlyArray<Body>) {
    const [turn] = foreign ? [] : waiting
    const before = feed.last()
    const isLocal = turn !== undefined && { local: true as const }
    for (const body of told) yield* tell(body.type === "user" ? { ...body, ...isLocal } : body, true)
    yield* tell({ type: "typing" })
    if (turn === undefined) return
    waiting.delete(turn)
    current = turn
    yield* Deferred.succeed(turn.begun, before)
  })

  const end = Effect.fnUntraced(function* (outcome: Outcome | undefined) {
    if (outcome?.error !== undefined) yield* tell({ type: "error", text: outcome.error.message })
    const { number } = yield* tell({ type: "done", ...(outcome && { stopReason: outcome.stopReason }) })
    if (current !== undefined) current.done = number
    current = undefined
  })

  const hear = Effect.fnUntraced(function* (event: Event, at: Position | undefined) {
    if (at !== undefined) position = at
    if (event._tag === "ActivityChanged") working = event.state === "working"
    const told = projection.tell(event)
    if (!isLive || isOver) return
    if (event._tag === "UserMessage") return yield* begin(told)
    if (event._tag === "ActivityChanged") return working ? undefined : yield* end(event.outcome)
    current?.hear(event)
    yield* Effect.forEach(told, (body) => tell(body, at !== undefined), { discard: true })
  })

  const questions = Questions.make(tell)
  const watcher = editors.watcher(
    (_, event, at) => hear(event, at),
    (question) =>
      questions.ask(question, question.call.patch.title ?? projection.titleOf(question.call.id) ?? Projection.UNTITLED)
  )

  const sending = yield* agent.connect(editors.sender(hearOfOthers), options)
  const sent = yield* sending.resumeSession(sessionId, place, {})
  foreign = foreign || sent.working
  working = sent.working
  const watching = yield* agent.connect(watcher, options)
  yield* watching.loadSession(sessionId, place, {})
  isLive = true

  const finish = Effect.fnUntraced(function* (turn: Turn, exit: Exit.Exit<Outcome, PromptFailed>) {
    waiting.delete(turn)
    if (exit._tag === "Success" && turn === current) yield* end(exit.value)
    if (exit._tag === "Failure") {
      const error = exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
      // Whoever posted a prompt that never began is told by the answer.
      if (error !== undefined && turn.isBegun()) yield* tell({ type: "error", text: error.message })
      if (error?._tag === "StoreFailed") isOver = true
    }
    yield* Deferred.done(turn.outcome, exit)
    yield* Deferred.succeed(turn.ended, exit._tag === "Success" && turn.done !== undefined ? turn.done : feed.last())
  })

  return {
    sessionId,
    cwd,
    joined: feed.last(),
    isBusy: () => working || waiting.size > 0,
    isWorking: () => working,
    isOver: () => isOver,
    questions,
    titleOf: projection.titleOf,
    run: (turn, text) =>
      Effect.suspend(() => {
        waiting.add(turn)
        return sending.prompt(sessionId, [Content.text(text)])
      }).pipe(
        Effect.onExit((exit) => finish(turn, exit)),
        Effect.ignoreCause
      ),
    stop: sending.cancel(sessionId),
    history: (after, take, ready) =>
      Effect.scoped(
        Effect.flatMap(agent.connect(editors.reader(take, ready), options), (connection) =>
          Effect.asVoid(connection.loadSession(sessionId, place, {}, after))
        )
      )
  }
})
