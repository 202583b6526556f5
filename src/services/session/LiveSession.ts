/** One session in this process: its journal, its prompts, its servers, and what was chosen for it. */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Duration from "effect/Duration"
import type * as Exit from "effect/Exit"
import * as FiberHandle from "effect/FiberHandle"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type CommandInfo, isReading, typedIn } from "../../domain/Command.ts"
import type { Content } from "../../domain/Content.ts"
import type { Notice } from "../../domain/Event.ts"
import type { NumberedEntry } from "../../domain/session/Position.ts"
import { Busy, type InvalidInput, type StoreFailed } from "../../domain/Failure.ts"
import type { Harness } from "../../domain/Harness.ts"
import { type MessageId, type SessionId, ToolCallId } from "../../domain/Ids.ts"
import { closing, instructionsOf, type SessionState } from "../../domain/session/SessionState.ts"
import { titleOf } from "../../domain/session/Title.ts"
import type { Outcome } from "../../domain/Turn.ts"
import type { SessionSnapshot } from "../Agent.ts"
import type { DiffResult, UndoResult } from "../Changes.ts"
import type { CommandSession, CommandsShape } from "../Commands.ts"
import type { Editor } from "../Editor.ts"
import type { ProjectsShape } from "../Projects.ts"
import type { LogWriter } from "../store/LogWriter.ts"
import type { TurnSession, TurnShape } from "../Turn.ts"
import type { Workspace } from "../Workspace.ts"
import type { Choices, ChoicesInput } from "./Choices.ts"
import * as Journal from "./Journal.ts"
import * as PromptQueue from "./PromptQueue.ts"
import * as Questions from "./Questions.ts"
import type { Servers } from "./Servers.ts"
import type { Configured } from "./SessionOptions.ts"
import * as Telling from "./Telling.ts"

type View = Journal.View

export interface LiveSession {
  readonly id: SessionId
  readonly cwd: string
  readonly harness: Harness
  readonly state: () => SessionState
  /** Whether the store knows it: not before the first prompt (F54). */
  readonly isStored: () => boolean
  /** Fails once its log was given up: then it takes no prompt, and has to be opened again. */
  readonly kept: Effect.Effect<void, StoreFailed>
  readonly servers: Servers
  /** Replaces the folders beside `cwd`; like the servers, they are named anew with each load (SES-14). */
  readonly useDirectories: (folders: ReadonlyArray<string>) => void
  /** Kept for the next prompt, so that it is seen where the user looks. */
  readonly warn: (notice: Notice) => void
  /** How many views there are. */
  readonly watchers: () => number
  /** Whether another editor watches, or left behind what runs. */
  readonly isUsedBeside: (editor: Editor) => boolean
  /** What can be typed after a slash. Whoever watches is told when that changes. */
  readonly commands: Effect.Effect<ReadonlyArray<CommandInfo>>
  readonly attach: Journal.Journal["attach"]
  readonly attachAfter: Journal.Journal["attachAfter"]
  readonly snapshot: (view: View) => Effect.Effect<SessionSnapshot>
  readonly prompt: (view: View, content: ReadonlyArray<Content>) => Effect.Effect<Outcome, Busy | StoreFailed>
  readonly cancel: Effect.Effect<void>
  /** Cancels what this editor asked for, and returns when all of it has its outcome. */
  readonly cancelOf: (editor: Editor) => Effect.Effect<void>
  readonly setOption: (view: View, option: string, value: string) => Effect.Effect<void, InvalidInput>
  /** Keeps choices that were checked, and tells them. */
  readonly configure: (choices: Configured) => Effect.Effect<void>
  /** The agents that can be chosen, and new ones. */
  readonly agents: Pick<Choices["agents"], "create" | "snapshot">
  /** Replaces a model that is not offered any more; the next prompt tells it. */
  readonly checkModel: Effect.Effect<void>
  /** Takes back what the last turn changed. Refused while a turn runs. */
  readonly undo: (view: View) => Effect.Effect<UndoResult, Busy | StoreFailed>
  readonly diff: (view: View) => Effect.Effect<DiffResult>
  readonly flush: Effect.Effect<void, StoreFailed>
  /** Refuses further prompts, cancels what runs and what waits, and returns when all of them have their outcome. */
  readonly stop: Effect.Effect<void>
}

export interface LiveSessionInput extends Pick<ChoicesInput, "customAgents" | "isUsable" | "models" | "observeModels"> {
  readonly id: SessionId
  readonly cwd: string
  readonly scratch: string
  readonly harness: Harness
  readonly state: SessionState
  readonly log: LogWriter
  readonly servers: Servers
  readonly turn: TurnShape
  readonly commands: CommandsShape
  readonly projects: ProjectsShape
  /** What the store has of the log. */
  readonly stored: Stream.Stream<NumberedEntry, StoreFailed>
  /** How long a turn goes on while nobody watches; undefined: until it ends. */
  readonly grace: Effect.Effect<Duration.Duration | undefined>
  /** What is wrong with rules and hooks that were to forbid something. */
  readonly lostRules: Effect.Effect<ReadonlyArray<string>>
  /** A new id for a message that no turn made. */
  readonly messageId: Effect.Effect<MessageId>
}

const STOPPED = "Cancelled before it finished."
const DIED = "The turn failed unexpectedly; the log has the details. Send the prompt again."

/** The scope is the session's. */
export const make = Effect.fnUntraced(function* (
  input: LiveSessionInput
): Effect.fn.Return<LiveSession, never, Scope.Scope> {
  const { commands, cwd, harness, id, log, messageId, models, projects, servers } = input
  const lifetime = yield* Effect.scope
  const journal = yield* Journal.make(id, log, input.state)
  const prompts = yield* PromptQueue.make
  const questions = Questions.make()
  const unwatched = yield* FiberHandle.make<void>()
  const { emit, record, state } = journal
  const { tell, tellWarnings, warn } = Telling.make({ emit, messageId, lostRules: input.lostRules })
  let directories: ReadonlyArray<string> = []
  const { customAgents, isUsable, observeModels } = input
  // No editor waits for these before it opens a session.
  const [Choices, SlashCommands, Trust] = yield* Effect.promise(() =>
    Promise.all([import("./Choices.ts"), import("./SlashCommands.ts"), import("./Trust.ts")])
  )
  const choices = yield* Choices.make({ cwd, harness, journal, customAgents, isUsable, models, observeModels })
  const { agents } = choices

  const settle = (why: string) =>
    Effect.forEach(
      closing(state(), why),
      (entry) => (entry._tag === "ToolCallUpdated" || entry._tag === "CompactionUpdated" ? emit(entry) : record(entry)),
      { discard: true }
    )

  const trust = Trust.make({
    sessionId: id,
    cwd,
    projects,
    ask: harness.unattended ? undefined : questions.ask,
    callId: Effect.map(messageId, (unique) => ToolCallId.make(`call_${unique}`))
  })

  const workspaceFor = (editor: Editor): Workspace => ({
    sessionId: id,
    cwd,
    roots: [cwd, ...directories],
    editor,
    scratch: input.scratch,
    lifetime
  })

  servers.bind({
    roots: () => [cwd, ...directories],
    elicit: (request) =>
      harness.unattended
        ? Effect.succeed({ _tag: "Unanswered", reason: "nobody is present" })
        : questions.elicit(request)
  })

  const place = { cwd, harness, prompts: servers.prompts }
  const slash = yield* SlashCommands.make({ commands, journal, place, warn })

  /** What became of servers meanwhile is told with the tools that it brought or took. */
  const toolsOf = Effect.fnUntraced(function* (view: View) {
    const tools = yield* servers.tools
    for (const notice of yield* servers.notices) yield* tell(view, notice)
    return tools
  })

  /** `model` is what a command wants instead of the chosen one. */
  const turnSession = (view: View, model?: string): TurnSession => ({
    ...agents.limit({
      harness,
      systemPrompt: state().settings.systemPrompt,
      skills: Effect.map(commands.skills(place), ({ text }) => text),
      ownTools: Effect.zipWith(toolsOf(view), commands.skills(place), (own, { tools }) => [...own, ...tools], {
        concurrent: true
      })
    }),
    agents: Effect.sync(agents.list),
    workspace: workspaceFor(view.editor),
    model: Effect.gen(function* () {
      const notice = yield* choices.replaceModel
      if (notice !== undefined) yield* tell(view, notice)
      return yield* choices.modelFor(model)
    }),
    mode: Effect.sync(() => choices.modeFor(view)),
    rules: instructionsOf(state().settings),
    context: Effect.sync(() => state().context),
    grants: Effect.sync(() => state().grants),
    used: Effect.sync(() => state().usage?.used),
    cost: Effect.sync(() => state().usage?.cost ?? 0),
    emit: (event) => tell(view, event),
    log: record,
    settle: (why) => Effect.suspend(() => settle(why)),
    keep: log.flush,
    ask: harness.unattended ? undefined : questions.ask,
    elicit: () => (harness.unattended || !questions.canElicit() ? undefined : questions.elicit)
  })

  const commandSession = (view: View): CommandSession => ({
    ...place,
    // A prompt of a server may be typed before the server is there.
    prompts: Effect.andThen(servers.tools, servers.prompts),
    workspace: workspaceFor(view.editor),
    state,
    emit,
    log: record,
    history: Stream.unwrap(Effect.as(log.flush, input.stored)),
    servers: servers.status,
    options: choices.optionsFor(view),
    choose: (option, value) => choices.setOption(view, option, value),
    turn: turnSession(view)
  })

  /** What changes something comes to its end, and says to which. */
  const answerTo = Effect.fnUntraced(
    function* (view: View, content: ReadonlyArray<Content>) {
      const answer = yield* slash.answer(content, commandSession(view))
      if (answer?._tag === "Said") yield* emit({ _tag: "TextDelta", messageId: yield* messageId, text: answer.text })
      return answer
    },
    (answering, _view, content) =>
      isReading(typedIn(content)?.name ?? "") ? answering : Effect.uninterruptible(answering)
  )

  const run = Effect.fnUntraced(function* (view: View, content: ReadonlyArray<Content>) {
    yield* record({ _tag: "TurnStarted" })
    yield* emit({ _tag: "ActivityChanged", state: "working" }, view.editor)
    yield* emit({ _tag: "UserMessage", messageId: yield* messageId, content }, view.editor)
    const answer = yield* answerTo(view, content)
    if (answer?._tag === "Said") {
      return {
        stopReason: "end_turn",
        ...(answer.usage === undefined ? {} : { usage: answer.usage })
      } satisfies Outcome
    }
    if (yield* trust.settle((event) => tell(view, event))) yield* servers.refresh
    yield* agents.refresh
    for (const notice of agents.notices(yield* models)) warn(notice)
    yield* tellWarnings(view)
    return yield* input.turn.run(turnSession(view, answer?.model), answer?.content ?? content)
  })

  const outcomeOf = Effect.fnUntraced(function* (exit: Exit.Exit<Outcome>) {
    if (exit._tag === "Success") return exit.value
    const isCancel = Cause.hasInterruptsOnly(exit.cause)
    yield* settle(isCancel ? STOPPED : DIED)
    if (isCancel) return { stopReason: "cancelled" } satisfies Outcome
    yield* Effect.logError("A turn died", exit.cause)
    yield* emit({ _tag: "TextDelta", messageId: yield* messageId, text: DIED })
    return { stopReason: "refusal", error: { kind: "internal", message: DIED } } satisfies Outcome
  })

  /** Title, time and end go out and to disk before the prompt is answered. */
  const finish = Effect.fnUntraced(function* (view: View, content: ReadonlyArray<Content>, exit: Exit.Exit<Outcome>) {
    const outcome = yield* outcomeOf(exit)
    const updatedAt = DateTime.formatIso(yield* DateTime.now)
    const title = state().title === undefined ? { title: titleOf(content) } : {}
    yield* emit({ _tag: "InfoUpdated", ...title, updatedAt })
    yield* record({ _tag: "TurnEnded", outcome })
    yield* emit({ _tag: "ActivityChanged", state: "idle", outcome }, view.editor)
    // A cancel is confirmed whatever else went wrong (CAN-01).
    yield* outcome.stopReason === "cancelled"
      ? Effect.catch(log.flush, ({ message }) => Effect.logWarning(message))
      : log.flush
    return outcome
  })

  /** What still runs and waits when the last view has left ends after the grace, unless somebody comes. */
  const endUnwatched = Effect.gen(function* () {
    const grace = yield* input.grace
    if (grace === undefined || journal.watchers() > 0 || !prompts.isBusy()) return
    yield* FiberHandle.run(unwatched, Effect.andThen(Effect.sleep(grace), prompts.cancelAll))
  })

  const watched = Effect.fnUntraced(function* <E>(view: View, attach: Effect.Effect<void, E, Scope.Scope>) {
    // Run last of what the view's end brings.
    yield* Effect.addFinalizer(() => endUnwatched)
    yield* attach
    yield* FiberHandle.clear(unwatched)
    yield* questions.attach(view)
  })

  return {
    id,
    cwd,
    harness,
    state,
    isStored: log.isStored,
    kept: log.kept,
    servers,
    useDirectories: (folders) => {
      directories = folders
    },
    warn,
    commands: slash.list,
    watchers: journal.watchers,
    isUsedBeside: (editor) =>
      journal.isWatchedBy(editor) ? journal.watchers() > 1 : journal.watchers() > 0 || prompts.isBusy(),
    attach: (view) => watched(view, journal.attach(view)),
    attachAfter: (view, after, history, present) => watched(view, journal.attachAfter(view, after, history, present)),
    snapshot: (view) =>
      Effect.map(choices.snapshot(view), (chosen) => ({ sessionId: id, ...chosen, working: prompts.isBusy() })),
    prompt: (view, content) =>
      Effect.andThen(
        log.kept,
        prompts.prompt({
          owner: view.editor,
          run: run(view, content),
          finish: (exit) => finish(view, content, exit)
        })
      ),
    cancel: prompts.cancel,
    cancelOf: prompts.cancelOf,
    setOption: choices.setOption,
    configure: choices.configure,
    agents: choices.agents,
    checkModel: Effect.map(choices.replaceModel, (notice) => {
      if (notice !== undefined) warn(notice)
    }),
    undo: Effect.fnUntraced(function* (view) {
      if (prompts.isBusy()) {
        return yield* new Busy({
          message: "A turn of this session is running; cancel it or wait for its end, then undo"
        })
      }
      let result: UndoResult = { _tag: "Nothing" }
      const undoing = Effect.map(commands.undo(commandSession(view)), (undone) => {
        result = undone
        return { stopReason: "end_turn" } satisfies Outcome
      })
      const ended: Outcome = { stopReason: "end_turn" }
      yield* prompts.prompt({
        owner: view.editor,
        run: Effect.uninterruptible(undoing),
        finish: () => Effect.as(log.flush, ended)
      })
      return result
    }),
    diff: (view) => commands.diff(commandSession(view)),
    flush: log.flush,
    stop: prompts.stop
  }
})
