/**
 * Runs tasks as subagents: loops with a context of their own, which may do what their parent may and no more. Their calls are
 * told and logged in the parent's session, below the call that they work for; their words are not.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { builtInAgents } from "../../domain/agent/BuiltInAgents.ts"
import { mayUse, modelFor, narrowed, promptWith, sameName } from "../../domain/agent/Applying.ts"
import type { CustomAgent } from "../../domain/CustomAgent.ts"
import type { Event } from "../../domain/Event.ts"
import type { ToolCallId } from "../../domain/Ids.ts"
import type { ModelInfo } from "../../domain/Model.ts"
import { lower } from "../../domain/permission/ExecutionMode.ts"
import type { Question } from "../../domain/permission/Permission.ts"
import type { Entry } from "../../domain/session/Session.ts"
import { closing, empty, fold, type SessionState } from "../../domain/session/SessionState.ts"
import { textContent } from "../../domain/Tool.ts"
import type { Outcome } from "../../domain/Turn.ts"
import type { ToolContext, ToolOutcome } from "../ToolDefinition.ts"
import { makeTask, TASK, type Task } from "../tools/Task.ts"
import type { TurnSession } from "../Turn.ts"
import * as SubagentView from "./SubagentView.ts"

/** How a loop ended, and what was said last. */
export interface LoopEnd {
  readonly outcome: Outcome
  readonly said: string
}

export interface SubagentsInput {
  readonly session: TurnSession
  readonly models: Effect.Effect<ReadonlyArray<ModelInfo>>
  /** Runs a loop of at most so many requests to the model. `exclusively` is for calls that must not run side by side. */
  readonly loop: (
    session: TurnSession,
    prompt: Task["prompt"],
    options: { readonly maxRequests: number; readonly exclusively: <A>(effect: Effect.Effect<A>) => Effect.Effect<A> }
  ) => Effect.Effect<LoopEnd>
}

/** At a time; and in one turn. */
const SIDE_BY_SIDE = 4
const MOST_TASKS = 100

/** Requests to the model of one subagent, unless its file says fewer. */
const MOST_REQUESTS = 60

/** Characters of an answer that the parent reads. */
const LONGEST_ANSWER = 100_000

/** The plan and questions are between the session and its person; and a subagent has none of its own. */
const withheld = [TASK, "todo", "ask_user"]

const ALONE = `You are a subagent: another agent gave you one task, and reads only your last message. Nobody can answer questions; decide with what you have, and say what you assumed. End with a message that has the whole result, short, with places as path:line.`

const STOPPED = "The subagent stopped before this call finished; whether it had an effect is unknown."

/** The person sees the call of a subagent beside others, and is told whose it is. */
const askedBy = ({ name }: CustomAgent, question: Question): Question => ({
  ...question,
  call: {
    ...question.call,
    patch: {
      ...question.call.patch,
      content: [textContent(`Asked by the subagent ${name}`), ...(question.call.patch.content ?? [])]
    }
  }
})

const clip = (answer: string): string =>
  answer.length <= LONGEST_ANSWER
    ? answer
    : `${answer.slice(0, LONGEST_ANSWER).toWellFormed()}\n[${answer.length - LONGEST_ANSWER} more characters are left out]`

/** Where a subagent works: its context is its own, and what it does is the parent's. */
const makeChild = (parent: TurnSession, agent: CustomAgent, call: ToolCallId, lifetime: Scope.Scope) => {
  const view = SubagentView.make()
  let state: SessionState = fold(empty, { _tag: "TurnStarted" })

  const note = (entry: Entry) =>
    Effect.sync(() => {
      state = fold(state, entry)
    })

  const show = Effect.suspend(() =>
    parent.emit({ _tag: "ToolCallProgress", id: call, patch: { content: [textContent(view.text())] } })
  )

  const emit = Effect.fnUntraced(function* (event: Event) {
    const isNew = view.note(event)
    switch (event._tag) {
      case "ToolCallStarted": {
        const started: Event = { ...event, call: { ...event.call, parent: call } }
        yield* note(started)
        yield* parent.emit(started)
        break
      }
      case "ToolCallUpdated":
        yield* note(event)
        yield* parent.emit(event)
        break
      case "ToolCallProgress":
      case "Notice":
        yield* parent.emit(event)
        break
      case "TextDelta":
        yield* note(event)
        break
      default:
        break
    }
    if (isNew) yield* show
  })

  const log = (entry: Entry): Effect.Effect<void> => {
    switch (entry._tag) {
      case "ContextAppended":
      case "ContextTruncated":
      case "Compacted":
        return note(entry)
      default:
        return parent.log(entry)
    }
  }

  const settle = (why: string) =>
    Effect.suspend(() =>
      Effect.forEach(closing(state, why), (entry) => (entry._tag === "ToolCallUpdated" ? emit(entry) : note(entry)), {
        discard: true
      })
    )

  const { ask } = parent
  const harness = narrowed(narrowed(parent.harness, { without: withheld }), agent)
  const given = `${parent.systemPrompt ?? parent.harness.prompt}\n\n${ALONE}`
  const session: TurnSession = {
    ...parent,
    workspace: { ...parent.workspace, lifetime },
    harness,
    mode: Effect.map(parent.mode, (mode) => lower(mode, agent.mode ?? mode)),
    systemPrompt: agent.replaces ? `${agent.prompt}\n\n${ALONE}` : promptWith(agent, given),
    ownTools: Effect.map(parent.ownTools, (tools) => tools.filter(({ tool }) => mayUse(agent, tool.name))),
    skills: mayUse(agent, "skill") ? parent.skills : Effect.succeed(""),
    agents: Effect.succeed([]),
    context: Effect.sync(() => state.context),
    used: Effect.undefined,
    cost: Effect.succeed(0),
    emit,
    log,
    settle,
    ask: ask === undefined ? undefined : (question) => ask(askedBy(agent, question)),
    elicit: () => undefined
  }
  return { session, view, settle }
}

const answerOf = (
  agent: CustomAgent,
  { outcome, said }: LoopEnd,
  requests: number
): Pick<ToolOutcome, "status" | "text"> => {
  const words = clip(said.trim())
  const failed = (why: string) =>
    ({ status: "failed", text: words === "" ? why : `${why}\n\nIt said last:\n${words}` }) as const
  switch (outcome.stopReason) {
    case "end_turn":
      return words === ""
        ? failed(`The subagent ${agent.name} ended without an answer.`)
        : { status: "completed", text: words }
    case "max_tokens":
      return failed(`The answer of the subagent ${agent.name} was cut off at the model's limit.`)
    case "max_turn_requests":
      return failed(
        `The subagent ${agent.name} was stopped after ${requests} requests to the model. Give it a smaller task.`
      )
    case "refusal":
      return {
        status: "failed",
        text: `The subagent ${agent.name} failed: ${outcome.error?.message ?? "no reason was given"}`
      }
    case "cancelled":
      return failed(`The subagent ${agent.name} was cancelled.`)
  }
}

/** For one turn. */
const make = ({ loop, models, session }: SubagentsInput) => {
  const places = Semaphore.makeUnsafe(SIDE_BY_SIDE)
  const alone = Semaphore.makeUnsafe(1)
  let tasks = 0

  const modelOf = Effect.fnUntraced(function* ({ model: wanted, name }: CustomAgent) {
    const usual = yield* session.model
    if (wanted === undefined) return usual
    const found = modelFor(yield* models, wanted)
    if (found !== undefined) return { id: found.id, effort: usual.effort }
    yield* session.emit({
      _tag: "Notice",
      severity: "warning",
      title: `The model ${wanted} of the agent ${name} cannot be used`,
      description: `No configured provider offers it. The subagent uses ${usual.id} instead.`
    })
    return usual
  })

  const work = Effect.fnUntraced(function* ({ agent, prompt }: Task, { callId }: ToolContext, lifetime: Scope.Scope) {
    const child = makeChild(session, agent, callId, lifetime)
    const model = yield* modelOf(agent)
    const maxRequests = Math.min(agent.steps ?? MOST_REQUESTS, MOST_REQUESTS)
    const end = yield* loop({ ...child.session, model: Effect.succeed(model) }, prompt, {
      maxRequests,
      exclusively: alone.withPermits(1)
    }).pipe(Effect.onError(() => child.settle(STOPPED)))
    const answer = answerOf(agent, end, maxRequests)
    const { calls, failed } = child.view.counts()
    return {
      ...answer,
      content: [textContent(answer.text)],
      rawOutput: { agent: agent.name, model: model.id, calls, failedCalls: failed, ...usageOf(end.outcome) }
    } satisfies ToolOutcome
  })

  const usageOf = ({ usage }: Outcome) => (usage === undefined ? {} : { usage: { ...usage } })

  return {
    run: (task: Task, context: ToolContext): Effect.Effect<ToolOutcome> =>
      Effect.suspend(() => {
        tasks += 1
        if (tasks > MOST_TASKS) {
          const why = `This turn handed over ${MOST_TASKS} tasks already. Do the rest yourself, or end the turn.`
          return Effect.succeed<ToolOutcome>({ status: "failed", text: why, content: [textContent(why)] })
        }
        // What it left running ends with it: nobody else knows of that.
        return places.withPermits(1)(
          Effect.acquireUseRelease(
            Scope.fork(session.workspace.lifetime),
            (lifetime) => work(task, context, lifetime),
            (lifetime) => Scope.close(lifetime, Exit.void)
          )
        )
      })
  }
}

/** The tool that hands tasks to the agents of the session and to the built-in ones, for one turn. */
export const taskTool = Effect.fnUntraced(function* (input: SubagentsInput) {
  const custom = yield* input.session.agents
  const others = builtInAgents.filter((builtIn) => !custom.some(({ name }) => sameName(name, builtIn.name)))
  return makeTask({ agents: [...custom, ...others], run: make(input).run })
})
