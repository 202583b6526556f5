/** The turn: ask the model, run the tools that it calls, and again, until it is done. */
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { SecureRandom } from "effect/crypto/SecureRandom"
import { identity } from "effect/Function"
import { type Content, text } from "../../domain/Content.ts"
import { type ModelInfo, UNKNOWN_CONTEXT_WINDOW } from "../../domain/Model.ts"
import type { Outcome, TurnError } from "../../domain/Turn.ts"
import { Changes } from "../Changes.ts"
import { Confinements } from "../Confinements.ts"
import { Hooks } from "../Hooks.ts"
import { Models, type ModelUnavailable } from "../Models.ts"
import { PermissionBroker } from "../PermissionBroker.ts"
import type { ToolDefinition } from "../ToolDefinition.ts"
import { Tools } from "../Tools.ts"
import { taskTool } from "../tools/Task.ts"
import { type CallResult, type CompactionResult, Turn, type TurnSession } from "../Turn.ts"
import * as Compaction from "./compaction/Compaction.ts"
import * as Deltas from "./Deltas.ts"
import {
  answerFailed,
  endedEarly,
  filtered,
  isRefused,
  toTurnError,
  unavailable,
  unkept,
  withoutPrompt
} from "./ModelFailure.ts"
import * as ModelRequest from "./ModelRequest.ts"
import * as Spending from "./Spending.ts"
import * as Step from "./Step.ts"
import * as Subagents from "./Subagents.ts"
import * as SystemPrompt from "./SystemPrompt.ts"
import * as ToolCalls from "./ToolCalls.ts"
import { describeAll } from "./ToolDescriptions.ts"
import * as Transcript from "./Transcript.ts"
import * as TurnHooks from "./TurnHooks.ts"
import * as TurnIds from "./TurnIds.ts"
import * as Usage from "./Usage.ts"

/** Model requests of one turn; beyond it the turn ends with `max_turn_requests`. */
const MAX_REQUESTS = 200

/** How often in one turn hooks can have the model go on that wanted to end. */
const MAX_OBJECTIONS = 3

/** How often in one turn a conversation is summed up that the provider found too long. */
const MAX_OVERFLOWS = 2

/** What calls show that did not come to run. */
const BROKE_OFF = "The model's answer broke off before this call ran."
const NOT_RUN = "The session cannot be kept, so this call was not run."

const userText = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })

const unknownModel = (id: string): ModelInfo => ({
  id,
  name: id,
  contextWindow: UNKNOWN_CONTEXT_WINDOW,
  image: false,
  efforts: []
})

/** What differs between the turn of a session and a subagent in it. */
interface LoopOptions {
  readonly maxRequests: number
  readonly guards: ToolCalls.Guards
  /** Hooks that hear of the person's prompts; a subagent gets none of those. */
  readonly occasions: TurnHooks.TurnHooks
  readonly spent: (spent: Spending.Spent) => Effect.Effect<void>
}

const silent: TurnHooks.TurnHooks = { begin: () => Effect.undefined, stop: () => Effect.undefined }

/** The loop with a bound of its own on the model requests of one turn. */
export const layerWith = (options: { readonly maxRequests: number }) =>
  Layer.effect(
    Turn,
    Effect.gen(function* () {
      const models = yield* Models
      const tools = yield* Tools
      const guards: ToolCalls.Guards = {
        broker: yield* PermissionBroker,
        changes: yield* Changes,
        confinements: yield* Confinements,
        hooks: yield* Hooks,
        told: new WeakSet(),
        exclusively: identity
      }
      const occasions = TurnHooks.make(guards.hooks)
      const systemPrompt = yield* SystemPrompt.make
      const random = yield* SecureRandom

      const chosenFor = (session: TurnSession): Effect.Effect<Compaction.ChosenModel, ModelUnavailable> =>
        Effect.gen(function* () {
          const { effort, id } = yield* session.model
          const info = (yield* models.list).find((known) => known.id === id) ?? unknownModel(id)
          return { info, model: yield* models.resolve(id, effort) }
        })

      /** `task` is the tool for tasks in this session, where it has subagents. */
      const toolsOf = (session: TurnSession, task: ToolDefinition = taskTool) => {
        const builtIn = tools.get(session.harness.tools).map((tool) => (tool === taskTool ? task : tool))
        return Effect.map(
          session.ownTools,
          (own) => new Map([...builtIn, ...own].map((definition) => [definition.tool.name, definition]))
        )
      }

      const loop: (
        session: TurnSession,
        prompt: ReadonlyArray<Content>,
        options: LoopOptions
      ) => Effect.Effect<Subagents.LoopEnd> = Effect.fnUntraced(function* (session, prompt, loopOptions) {
        const { guards, maxRequests, occasions } = loopOptions
        const prompting = yield* Effect.forkChild(systemPrompt(session), { startImmediately: true })
        const ids = yield* TurnIds.make(random)
        const deltas = yield* Deltas.make(session.emit)
        const transcript = yield* Transcript.open(session, prompt)
        const { emit } = session
        const spending = Spending.make({ before: yield* session.cost, emit, also: loopOptions.spent })
        const task = yield* Subagents.taskTool({
          session,
          models: models.list,
          loop: (child, work, { exclusively, maxRequests: most }) =>
            loop(child, [text(work)], {
              maxRequests: Math.min(most, maxRequests),
              guards: { ...ToolCalls.onBehalfOf(session.workspace, guards), exclusively },
              occasions: silent,
              spent: spending.delegated
            })
        })
        const available = toolsOf(session, task)
        let objections = 0
        let requests = 0
        let said = ""
        const ended = (outcome: Omit<Outcome, "usage">): Outcome => ({ ...outcome, usage: spending.usage() })
        let answers = 0
        let overflows = 0
        /** Not again in this turn once it failed. */
        let isCompacting = true

        /** Read before each request, so that a choice in mid-turn holds from the next one on (CFG-06). */
        const chosen = chosenFor(session)

        const compaction = Compaction.make({
          ids,
          emit: session.emit,
          transcript,
          used: yield* session.used,
          spent: spending.summedUp
        })

        /** The error is told as text, which every client shows, and is nothing that the model said. */
        const refuse = Effect.fnUntraced(function* (error: TurnError, why = BROKE_OFF) {
          yield* deltas.flush
          yield* session.settle(why)
          const keepPrompt = answers > 0 || !isRefused(error)
          const told = keepPrompt ? error : withoutPrompt(error)
          yield* session.emit({ _tag: "TextDelta", messageId: ids.message(), text: told.message })
          yield* transcript.end({ keepPrompt })
          return ended({ stopReason: "refusal", error: told })
        }, Effect.uninterruptible)

        /** One request and its tools. `undefined`: the model wants to go on. */
        const advance = Effect.fnUntraced(function* (system: Prompt.Message) {
          const asked = yield* chosen
          const { info, model } = asked
          if (isCompacting && compaction.isDue(info)) {
            isCompacting = (yield* compaction.run(asked))._tag === "Compacted"
          }
          requests += 1
          const present = yield* available
          const toolkit = describeAll(present)
          const step = Step.make({ ids, deltas, tools: present, emit: session.emit })
          const messages = [system, ...transcript.messages(info)]
          const failure = yield* Effect.match(ModelRequest.send({ model, messages, toolkit }, step, session), {
            onFailure: toTurnError,
            onSuccess: () => undefined
          })
          const isTooLong = failure?.kind === "context_overflow" && !step.begun()
          if (isTooLong && overflows < MAX_OVERFLOWS && compaction.isPossible(info)) {
            overflows += 1
            if ((yield* compaction.run(asked))._tag === "Compacted") return undefined
          }
          if (failure !== undefined) return yield* refuse(failure)
          yield* deltas.flush
          const finish = step.finish()
          if (finish === undefined) return yield* refuse(endedEarly)
          const used = yield* spending.answered(finish, info)
          if (step.text().trim() !== "") said = step.text()
          if (finish.reason === "content-filter") return yield* refuse(filtered)
          if (finish.reason === "error") return yield* refuse(answerFailed)
          yield* transcript.append(step.messages())
          answers += 1
          if (used !== undefined) compaction.measure(used)
          if (step.calls().length > 0) {
            // A session that cannot be kept is told of before it changes anything.
            const lost = answers === 1 ? yield* Effect.option(Effect.flip(session.keep)) : Option.none()
            if (Option.isSome(lost)) return yield* refuse(unkept(lost.value), NOT_RUN)
            yield* ToolCalls.make(session, present, guards).run(step.calls(), (results) =>
              transcript.append([Prompt.toolMessage({ content: results })])
            )
            return undefined
          }
          if (finish.reason === "pause") return undefined
          if (finish.reason === "length") return ended({ stopReason: "max_tokens" })
          const objection = objections < MAX_OBJECTIONS ? yield* occasions.stop(session, step.text()) : undefined
          if (objection === undefined) return ended({ stopReason: "end_turn" })
          objections += 1
          yield* transcript.append([userText(objection)])
          return undefined
        })

        const forbidden = yield* occasions.begin(session, prompt)
        if (forbidden !== undefined) {
          yield* session.emit({ _tag: "TextDelta", messageId: ids.message(), text: forbidden })
          yield* transcript.end({ keepPrompt: false })
          const outcome = ended({ stopReason: "refusal", error: { kind: "content_policy", message: forbidden } })
          return { outcome, said }
        }

        const system = Prompt.systemMessage({ content: yield* Fiber.join(prompting) })
        const outcome = yield* Effect.gen(function* () {
          while (requests < maxRequests) {
            const outcome: Outcome | undefined = yield* advance(system)
            if (outcome !== undefined) return outcome
          }
          return ended({ stopReason: "max_turn_requests" })
        }).pipe(Effect.catchTag("ModelUnavailable", ({ message }) => refuse(unavailable(message))))
        return { outcome, said }
      }, Effect.scoped)

      const run = Effect.fn("Turn.run")(function* (session: TurnSession, prompt: ReadonlyArray<Content>) {
        const { maxRequests } = options
        const { outcome } = yield* loop(session, prompt, { maxRequests, guards, occasions, spent: () => Effect.void })
        return outcome
      })

      const compact = Effect.fn("Turn.compact")(
        function* (session: TurnSession, focus: string | undefined) {
          const chosen = yield* chosenFor(session)
          const transcript = yield* Transcript.open(session)
          const earlier = yield* session.cost
          const compaction = Compaction.make({
            ids: yield* TurnIds.make(random),
            emit: session.emit,
            transcript,
            used: yield* session.used,
            spent: (spent, used, info) =>
              session.emit({
                _tag: "UsageUpdated",
                used,
                size: info.contextWindow,
                ...(info.price === undefined ? {} : { cost: earlier + Usage.costOf(spent, info.price) })
              })
          })
          return yield* compaction.run(chosen, focus)
        },
        Effect.catchTag("ModelUnavailable", ({ message }) =>
          Effect.succeed<CompactionResult>({ _tag: "Failed", message })
        )
      )

      const call = Effect.fn("Turn.call")(function* (session: TurnSession, name: string, input: Schema.Json) {
        const ids = yield* TurnIds.make(random)
        const present = yield* toolsOf(session)
        const id = ids.call()
        const definition = present.get(name)
        yield* session.emit({
          _tag: "ToolCallStarted",
          call: {
            id,
            name,
            title: definition?.title ?? name,
            kind: definition?.kind ?? "other",
            status: "pending",
            locations: [],
            content: [],
            rawInput: input
          }
        })
        let result: CallResult = { isFailure: true, text: "" }
        yield* ToolCalls.make(session, present, guards).run([{ id, name, input }], ([part]) =>
          Effect.sync(() => {
            if (part !== undefined) result = { isFailure: part.isFailure, text: String(part.result) }
          })
        )
        return result
      })

      return Turn.of({ run, compact, call })
    })
  )

/** The loop with at most 200 model requests in one turn. */
export const layer = layerWith({ maxRequests: MAX_REQUESTS })
