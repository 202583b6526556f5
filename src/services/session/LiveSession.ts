/** One session in this process: its journal, its prompts, its servers, and what was chosen for it. */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Duration from "effect/Duration"
import type * as Exit from "effect/Exit"
import * as FiberHandle from "effect/FiberHandle"
import type * as Scope from "effect/Scope"
import { type CommandName, commandIn, isReading } from "../../domain/Command.ts"
import type { ConfigOption } from "../../domain/session/Config.ts"
import type { Content } from "../../domain/Content.ts"
import type { Event, Notice } from "../../domain/Event.ts"
import { lower, offered } from "../../domain/permission/ExecutionMode.ts"
import { Busy, type InvalidInput, type StoreFailed } from "../../domain/Failure.ts"
import type { Harness } from "../../domain/Harness.ts"
import { type MessageId, type SessionId, ToolCallId } from "../../domain/Ids.ts"
import type { ModelInfo } from "../../domain/Model.ts"
import { closing, type SessionState } from "../../domain/session/SessionState.ts"
import { titleOf } from "../../domain/session/Title.ts"
import type { Outcome } from "../../domain/Turn.ts"
import type { SessionSnapshot } from "../Agent.ts"
import type { DiffResult, UndoResult } from "../Changes.ts"
import type { CommandSession, CommandsShape } from "../Commands.ts"
import type { Editor } from "../Editor.ts"
import type { ProjectsShape } from "../Projects.ts"
import type { McpStatus } from "../McpManager.ts"
import { isOffered } from "../models/ModelList.ts"
import type { LogWriter } from "../store/LogWriter.ts"
import type { TurnSession, TurnShape } from "../Turn.ts"
import type { Workspace } from "../Workspace.ts"
import * as Journal from "./Journal.ts"
import * as PromptQueue from "./PromptQueue.ts"
import * as Questions from "./Questions.ts"
import type { Servers } from "./Servers.ts"
import * as Trust from "./Trust.ts"
import { choose, type Configured, effortFor, optionsOf } from "./SessionOptions.ts"
import { modelGone } from "./Warnings.ts"

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
  /** Replaces a model that is not offered any more; the next prompt tells it. */
  readonly checkModel: Effect.Effect<void>
  /** Takes back what the last turn changed. Refused while a turn runs. */
  readonly undo: (view: View) => Effect.Effect<UndoResult, Busy | StoreFailed>
  readonly diff: (view: View) => Effect.Effect<DiffResult>
  readonly flush: Effect.Effect<void, StoreFailed>
  /** Refuses further prompts, cancels what runs and what waits, and returns when all of them have their outcome. */
  readonly stop: Effect.Effect<void>
}

export interface LiveSessionInput {
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
  readonly models: Effect.Effect<ReadonlyArray<ModelInfo>>
  /** Whether a model that is not in the list can be used all the same. */
  readonly isUsable: (model: string) => Effect.Effect<boolean>
  /** Runs an effect, for as long as the scope, when that list has become another one by itself. */
  readonly observeModels: (tell: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
  /** How long a turn goes on while nobody watches; undefined: until it ends. */
  readonly grace: Effect.Effect<Duration.Duration | undefined>
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
  /** By title, so that a session that is opened many times before its next prompt has each of them once. */
  const warnings = new Map<string, Notice>()
  let directories: ReadonlyArray<string> = []

  /** A model that nobody offers any more gives way to the default, which is told (F43). */
  const replaceModel = Effect.gen(function* () {
    const gone = state().settings.model
    const known = yield* models
    const [first] = known
    if (gone === undefined || first === undefined || isOffered(gone, known)) return undefined
    if (yield* input.isUsable(gone)) return undefined
    yield* configure({ _tag: "Configured", model: first.id })
    return modelGone(gone, first.id, known)
  })

  const chosenModel = Effect.map(models, (known) => {
    const chosen = state().settings.model ?? known[0]?.id ?? ""
    return {
      id: chosen,
      effort: effortFor(
        known.find((model) => model.id === chosen),
        state().settings.effort
      )
    }
  })

  const ceilingFor = (view: View) => lower(harness.ceiling, view.ceiling)
  const modeFor = (view: View) => lower(state().settings.mode ?? "ask", ceilingFor(view))

  const optionsFor = Effect.map(
    Effect.all([models, chosenModel]),
    ([known, { effort, id: model }]) =>
      (view: View): ReadonlyArray<ConfigOption> =>
        optionsOf({ mode: modeFor(view), model, effort }, known, ceilingFor(view))
  )

  const configure = Effect.fnUntraced(function* (choices: Configured) {
    yield* record(choices)
    const options = yield* optionsFor
    yield* journal.tellEach((view) => [
      ...(choices.mode === undefined ? [] : [{ _tag: "ModeChanged", mode: modeFor(view) } as const]),
      { _tag: "ConfigChanged", options: options(view) }
    ])
  })

  /** The endpoint of a provider said what it offers. */
  const tellOptions = Effect.flatMap(optionsFor, (options) =>
    journal.tellEach((view) => [{ _tag: "ConfigChanged", options: options(view) }])
  )
  yield* input.observeModels(tellOptions)

  const settle = (why: string) =>
    Effect.forEach(closing(state(), why), (entry) => (entry._tag === "ToolCallUpdated" ? emit(entry) : record(entry)), {
      discard: true
    })

  /**
   * What a client without notices would never see is told as a thought, so that neither a dead server nor a wait for the
   * provider is a riddle (MCP-04). The model does not see thoughts that it did not have.
   */
  const tell = (view: View, event: Event): Effect.Effect<void> => {
    if (event._tag !== "Notice" || view.editor.capabilities.notices) return emit(event)
    const text = [event.title, event.description].filter((part) => part !== undefined).join(". ")
    return Effect.flatMap(messageId, (id) => emit({ _tag: "ThoughtDelta", messageId: id, text }))
  }

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

  const commandSession = (view: View): CommandSession => ({
    workspace: workspaceFor(view.editor),
    state,
    log: record,
    servers: Effect.flatMap(servers.status, describeServers)
  })

  servers.bind({
    roots: () => [cwd, ...directories],
    elicit: (request) =>
      harness.unattended
        ? Effect.succeed({ _tag: "Unanswered", reason: "nobody is present" })
        : questions.elicit(request)
  })

  /** Loaded with the first server that is asked for. */
  const describeServers = (status: ReadonlyArray<McpStatus>) =>
    Effect.map(
      Effect.promise(() => import("../mcp/McpDescription.ts")),
      ({ describeServers }) => describeServers(status)
    )

  const answer = Effect.fnUntraced(
    function* (name: CommandName, view: View) {
      const text = yield* commands.run(name, commandSession(view))
      yield* emit({ _tag: "TextDelta", messageId: yield* messageId, text })
      return { stopReason: "end_turn" } satisfies Outcome
    },
    // What changes files comes to its end, and says to which.
    (answering, name) => (isReading(name) ? answering : Effect.uninterruptible(answering))
  )

  const tellWarnings = Effect.fnUntraced(function* (view: View) {
    const kept = [...warnings.values()]
    warnings.clear()
    for (const notice of kept) yield* tell(view, notice)
  })

  /** What became of servers meanwhile is told with the tools that it brought or took. */
  const toolsOf = Effect.fnUntraced(function* (view: View) {
    const tools = yield* servers.tools
    for (const notice of yield* servers.notices) yield* tell(view, notice)
    return tools
  })

  const run = Effect.fnUntraced(function* (view: View, content: ReadonlyArray<Content>) {
    yield* record({ _tag: "TurnStarted" })
    yield* emit({ _tag: "ActivityChanged", state: "working" }, view.editor)
    yield* emit({ _tag: "UserMessage", messageId: yield* messageId, content }, view.editor)
    const command = commandIn(content, harness)
    if (command !== undefined) return yield* answer(command, view)
    if (yield* trust.settle((event) => tell(view, event))) yield* servers.refresh
    yield* tellWarnings(view)
    const session: TurnSession = {
      workspace: workspaceFor(view.editor),
      harness,
      model: Effect.gen(function* () {
        const notice = yield* replaceModel
        if (notice !== undefined) yield* tell(view, notice)
        return yield* chosenModel
      }),
      mode: Effect.sync(() => modeFor(view)),
      rules: state().settings.rules,
      systemPrompt: state().settings.systemPrompt,
      mcpTools: toolsOf(view),
      context: Effect.sync(() => state().context),
      grants: Effect.sync(() => state().grants),
      cost: Effect.sync(() => state().usage?.cost ?? 0),
      emit: (event) => tell(view, event),
      log: record,
      settle: (why) => Effect.suspend(() => settle(why)),
      keep: log.flush,
      ask: harness.unattended ? undefined : questions.ask,
      elicit: () => (harness.unattended || !questions.canElicit() ? undefined : questions.elicit)
    }
    return yield* input.turn.run(session, content)
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
    warn: (notice) => {
      warnings.set(notice.title, notice)
    },
    watchers: journal.watchers,
    isUsedBeside: (editor) =>
      journal.isWatchedBy(editor) ? journal.watchers() > 1 : journal.watchers() > 0 || prompts.isBusy(),
    attach: (view) => watched(view, journal.attach(view)),
    attachAfter: (view, after, history, present) => watched(view, journal.attachAfter(view, after, history, present)),
    snapshot: (view) =>
      Effect.map(optionsFor, (options) => ({
        sessionId: id,
        mode: modeFor(view),
        modes: offered(ceilingFor(view)),
        options: options(view),
        working: prompts.isBusy()
      })),
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
    setOption: Effect.fnUntraced(function* (view, option, value) {
      const options = yield* optionsFor
      yield* configure(yield* Effect.fromResult(choose(options(view), option, value)))
    }),
    configure,
    checkModel: Effect.map(replaceModel, (notice) => {
      if (notice !== undefined) warnings.set(notice.title, notice)
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
