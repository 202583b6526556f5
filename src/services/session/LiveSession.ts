/** One session in this process: its log, its views, and at most one running turn. */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberHandle from "effect/FiberHandle"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Content } from "../../domain/Content.ts"
import { type Event, isStored } from "../../domain/Event.ts"
import { atMost, type ExecutionMode, lower, offered } from "../../domain/ExecutionMode.ts"
import { Busy, InvalidInput, type StoreFailed } from "../../domain/Failure.ts"
import type { Harness } from "../../domain/Harness.ts"
import type { MessageId, SessionId } from "../../domain/Ids.ts"
import type { ModelInfo } from "../../domain/Model.ts"
import type { Entry } from "../../domain/Session.ts"
import { fold, type SessionState } from "../../domain/SessionState.ts"
import { titleOf } from "../../domain/Title.ts"
import type { Outcome } from "../../domain/Turn.ts"
import type { SessionSnapshot } from "../Agent.ts"
import type { Editor } from "../Editor.ts"
import type { LogWriter } from "../store/LogWriter.ts"
import type { TurnSession, TurnShape } from "../Turn.ts"
import * as Questions from "./Questions.ts"
import type { Servers } from "./Servers.ts"
import { EFFORT_OPTION, effortFor, MODE_OPTION, MODEL_OPTION, optionsOf } from "./SessionOptions.ts"

/** A connection that watches the session. `ceiling` is the highest mode of its transport. */
export interface View {
  readonly editor: Editor
  readonly ceiling: ExecutionMode
}

/** Prompts that may wait behind a running one. */
const MAX_WAITING = 16

export interface LiveSession {
  readonly id: SessionId
  readonly cwd: string
  readonly state: () => SessionState
  readonly isStored: () => boolean
  readonly servers: Servers
  /** Adds a view after telling it `history`, with nothing told in between. */
  readonly attach: <E>(view: View, history: Effect.Effect<void, E>) => Effect.Effect<void, E>
  readonly detach: (editor: Editor) => void
  readonly views: () => number
  readonly additionalDirectories: (folders: ReadonlyArray<string>) => void
  readonly systemPrompt: (text: string | undefined) => void
  readonly snapshot: (view: View) => Effect.Effect<SessionSnapshot>
  readonly prompt: (view: View, content: ReadonlyArray<Content>) => Effect.Effect<Outcome, Busy | StoreFailed>
  readonly cancel: Effect.Effect<void>
  readonly setOption: (view: View, option: string, value: string) => Effect.Effect<void, InvalidInput>
  readonly flush: Effect.Effect<void, StoreFailed>
  /** Refuses further prompts, cancels what runs and what waits, and returns when all of them were answered. */
  readonly stop: Effect.Effect<void>
}

export interface LiveSessionInput {
  readonly id: SessionId
  readonly cwd: string
  readonly scratch: string
  readonly harness: Harness
  readonly rules: string | undefined
  readonly state: SessionState
  readonly log: LogWriter
  readonly servers: Servers
  readonly turn: TurnShape
  readonly models: Effect.Effect<ReadonlyArray<ModelInfo>>
  /** A new id for a message that no turn made. */
  readonly messageId: Effect.Effect<MessageId>
}

const cancelled: Outcome = { stopReason: "cancelled" }

export const make = Effect.fnUntraced(function* (
  input: LiveSessionInput
): Effect.fn.Return<LiveSession, never, Scope.Scope> {
  const { harness, id, log } = input
  const views = new Map<Editor, View>()
  const order = yield* Semaphore.make(1)
  const turns = yield* Semaphore.make(1)
  const running = yield* FiberHandle.make<Outcome>()
  const questions = yield* Questions.make
  let state = input.state
  let folders: ReadonlyArray<string> = []
  let systemPrompt: string | undefined
  let waiting = 0
  let stopped = false

  const record = (entry: Entry) =>
    Effect.suspend(() => {
      state = fold(state, entry)
      return log.append(entry)
    })

  /** One at a time, so that every view and the log see one order. */
  const emit = (event: Event, except?: Editor) =>
    order.withPermits(1)(
      Effect.suspend(() =>
        Effect.andThen(
          isStored(event) ? record(event) : Effect.void,
          Effect.forEach(
            [...views.keys()].filter((editor) => editor !== except),
            (editor) => editor.emit(id, event),
            { discard: true }
          )
        )
      )
    )

  const model = Effect.map(input.models, (models) => {
    const chosen = state.settings.model ?? models[0]?.id ?? ""
    const info = models.find((known) => known.id === chosen)
    return { id: chosen, effort: effortFor(info, state.settings.effort) }
  })

  const modeUnder = (view: View) => lower(state.settings.mode ?? "ask", lower(harness.ceiling, view.ceiling))

  const options = (view: View) =>
    Effect.map(Effect.all([input.models, model]), ([models, { effort, id: chosen }]) =>
      optionsOf({ mode: modeUnder(view), model: chosen, effort }, models, lower(harness.ceiling, view.ceiling))
    )

  /** What a client without notices would never see is told as a thought, so that a dead server is no riddle (MCP-04). */
  const tellNotices = Effect.fnUntraced(function* (view: View) {
    const { notices } = yield* input.servers.connection
    for (const notice of notices) {
      if (view.editor.capabilities.notices) {
        yield* emit(notice)
      } else {
        const text = [notice.title, notice.description].filter((part) => part !== undefined).join(": ")
        yield* emit({ _tag: "ThoughtDelta", messageId: yield* input.messageId, text })
      }
    }
  })

  const turnSession = (view: View): TurnSession => ({
    workspace: {
      sessionId: id,
      cwd: input.cwd,
      roots: [input.cwd, ...folders],
      editor: view.editor,
      scratch: input.scratch
    },
    harness,
    model,
    mode: Effect.sync(() => modeUnder(view)),
    rules: input.rules,
    systemPrompt,
    mcpTools: [],
    context: Effect.sync(() => state.context),
    grants: Effect.sync(() => state.grants),
    cost: Effect.sync(() => state.usage?.cost ?? 0),
    emit,
    log: record,
    ask: harness.unattended ? undefined : (question) => questions.ask(view.editor.ask(question))
  })

  const work = Effect.fnUntraced(function* (view: View, content: ReadonlyArray<Content>) {
    const messageId = yield* input.messageId
    yield* record({ _tag: "TurnStarted" })
    yield* emit({ _tag: "UserMessage", messageId, content }, view.editor)
    yield* tellNotices(view)
    const { tools } = yield* input.servers.connection
    return yield* input.turn.run({ ...turnSession(view), mcpTools: tools }, content)
  })

  const outcomeOf = (exit: Exit.Exit<Outcome>): Effect.Effect<Outcome> => {
    if (exit._tag === "Success") return Effect.succeed(exit.value)
    if (Cause.hasInterruptsOnly(exit.cause)) return Effect.succeed(cancelled)
    const message = "The turn failed unexpectedly; the log has the details. Send the prompt again."
    return Effect.logError("A turn died", exit.cause).pipe(
      Effect.andThen(input.messageId),
      Effect.flatMap((messageId) => emit({ _tag: "TextDelta", messageId, text: message })),
      Effect.as({ stopReason: "refusal", error: { kind: "internal", message } })
    )
  }

  /** Title, time and end go out and to disk before the prompt is answered. */
  const finish = Effect.fnUntraced(function* (content: ReadonlyArray<Content>, exit: Exit.Exit<Outcome>) {
    const outcome = yield* outcomeOf(exit)
    const updatedAt = DateTime.formatIso(yield* DateTime.now)
    const title = state.title === undefined ? { title: titleOf(content) } : {}
    yield* emit({ _tag: "InfoUpdated", ...title, updatedAt })
    yield* record({ _tag: "TurnEnded", outcome })
    yield* log.flush
    return outcome
  })

  const interruptTurn = Effect.suspend(() => {
    const fiber = FiberHandle.getUnsafe(running)
    if (fiber._tag === "Some") fiber.value.interruptUnsafe()
    return Effect.void
  })

  const runTurn = (view: View, content: ReadonlyArray<Content>) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        if (stopped) return cancelled
        const fiber = yield* FiberHandle.run(running, Effect.interruptible(work(view, content)))
        const exit = yield* restore(Fiber.await(fiber)).pipe(
          Effect.onInterrupt(() =>
            questions.withdraw.pipe(
              Effect.andThen(Fiber.interrupt(fiber)),
              Effect.andThen(Fiber.await(fiber)),
              Effect.flatMap((exit) => finish(content, exit)),
              Effect.ignore
            )
          )
        )
        return yield* finish(content, exit)
      })
    )

  const cancel = Effect.andThen(questions.withdraw, interruptTurn)

  const setMode = Effect.fnUntraced(function* (view: View, value: string) {
    const ceiling = lower(harness.ceiling, view.ceiling)
    const mode = offered(ceiling).find((known) => known.id === value)?.id
    if (mode === undefined || !atMost(mode, ceiling)) {
      const known = offered(ceiling).map((mode) => mode.id)
      return yield* new InvalidInput({
        field: "modeId",
        message: `There is no mode "${value}" in this session; choose one of: ${known.join(", ")}`
      })
    }
    yield* record({ _tag: "Configured", mode })
    yield* emit({ _tag: "ModeChanged", mode })
  })

  const setModel = Effect.fnUntraced(function* (value: string) {
    const models = yield* input.models
    if (value !== state.settings.model && !models.some((known) => known.id === value)) {
      return yield* new InvalidInput({
        field: "value",
        message: `There is no model "${value}"; choose one of: ${models.map((known) => known.id).join(", ")}`
      })
    }
    yield* record({ _tag: "Configured", model: value })
  })

  const setEffort = Effect.fnUntraced(function* (value: string) {
    const chosen = (yield* model).id
    const efforts = (yield* input.models).find((known) => known.id === chosen)?.efforts ?? []
    if (!efforts.includes(value)) {
      return yield* new InvalidInput({
        field: "value",
        message:
          efforts.length === 0
            ? `The model ${chosen} has no reasoning effort to set`
            : `The model ${chosen} has no reasoning effort "${value}"; choose one of: ${efforts.join(", ")}`
      })
    }
    yield* record({ _tag: "Configured", effort: value })
  })

  const setOption = Effect.fnUntraced(function* (view: View, option: string, value: string) {
    switch (option) {
      case MODE_OPTION:
        yield* setMode(view, value)
        break
      case MODEL_OPTION:
        yield* setModel(value)
        break
      case EFFORT_OPTION:
        yield* setEffort(value)
        break
      default: {
        const known = (yield* options(view)).map(({ id }) => id)
        return yield* new InvalidInput({
          field: "configId",
          message: `There is no option "${option}"; the options are: ${known.join(", ")}`
        })
      }
    }
    yield* emit({ _tag: "ConfigChanged", options: yield* options(view) })
  })

  return {
    id,
    cwd: input.cwd,
    state: () => state,
    isStored: log.isStored,
    servers: input.servers,
    attach: (view, history) =>
      order.withPermits(1)(Effect.tap(history, () => Effect.sync(() => views.set(view.editor, view)))),
    detach: (editor) => {
      views.delete(editor)
    },
    views: () => views.size,
    additionalDirectories: (added) => {
      folders = added
    },
    systemPrompt: (text) => {
      systemPrompt = text
    },
    snapshot: (view) =>
      Effect.map(options(view), (options) => ({
        sessionId: id,
        mode: modeUnder(view),
        modes: offered(lower(harness.ceiling, view.ceiling)),
        options
      })),
    prompt: (view, content) =>
      Effect.suspend((): Effect.Effect<Outcome, Busy | StoreFailed> => {
        if (waiting > MAX_WAITING) {
          return Effect.fail(
            new Busy({ message: `${MAX_WAITING} prompts already wait in this session; wait for one to end, or cancel` })
          )
        }
        waiting += 1
        return turns
          .withPermits(1)(runTurn(view, content))
          .pipe(
            Effect.ensuring(
              Effect.sync(() => {
                waiting -= 1
              })
            )
          )
      }),
    cancel,
    setOption,
    flush: log.flush,
    stop: Effect.suspend(() => {
      stopped = true
      return Effect.andThen(cancel, turns.withPermits(1)(Effect.void))
    })
  }
})
