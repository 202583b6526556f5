/** The turn: ask the model, run the tools that it calls, and again, until it is done. */
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SecureRandom } from "effect/crypto/SecureRandom"
import type { Content } from "../../domain/Content.ts"
import { type ModelInfo, UNKNOWN_CONTEXT_WINDOW } from "../../domain/Model.ts"
import { emptyUsage, type Outcome, type TurnError } from "../../domain/Turn.ts"
import { Changes } from "../Changes.ts"
import { Confinements } from "../Confinements.ts"
import { Hooks } from "../Hooks.ts"
import { Models } from "../Models.ts"
import { PermissionBroker } from "../PermissionBroker.ts"
import { Tools } from "../Tools.ts"
import { Turn, type TurnSession } from "../Turn.ts"
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
import * as Step from "./Step.ts"
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
        told: new WeakSet()
      }
      const occasions = TurnHooks.make(guards.hooks)
      const systemPrompt = yield* SystemPrompt.make
      const random = yield* SecureRandom

      const run = Effect.fn("Turn.run")(function* (session: TurnSession, prompt: ReadonlyArray<Content>) {
        const prompting = yield* Effect.forkChild(systemPrompt(session), { startImmediately: true })
        const ids = yield* TurnIds.make(random)
        const deltas = yield* Deltas.make(session.emit)
        const transcript = yield* Transcript.open(session, prompt)
        const builtIn = tools.get(session.harness.tools)
        const available = Effect.map(
          session.mcpTools,
          (mcp) => new Map([...builtIn, ...mcp].map((definition) => [definition.tool.name, definition]))
        )
        let objections = 0
        let usage = emptyUsage
        let cost = yield* session.cost
        let requests = 0

        /** Read before each request, so that a choice in mid-turn holds from the next one on (CFG-06). */
        const chosen = Effect.gen(function* () {
          const { effort, id } = yield* session.model
          const info = (yield* models.list).find((known) => known.id === id) ?? unknownModel(id)
          return { info, model: yield* models.resolve(id, effort) }
        })

        const account = Effect.fnUntraced(function* (finish: Response.FinishPart, info: ModelInfo) {
          if (!Usage.isReported(finish.usage)) return
          const spent = Usage.fromResponse(finish.usage)
          usage = Usage.add(usage, spent)
          if (info.price !== undefined) cost += Usage.costOf(spent, info.price)
          yield* session.emit({
            _tag: "UsageUpdated",
            used: spent.inputTokens + spent.outputTokens,
            size: info.contextWindow,
            ...(info.price === undefined ? {} : { cost })
          })
        })

        /** The error is told as text, which every client shows, and is nothing that the model said. */
        const refuse = Effect.fnUntraced(function* (error: TurnError, why = BROKE_OFF) {
          yield* deltas.flush
          yield* session.settle(why)
          const keepPrompt = requests !== 1 || !isRefused(error)
          const told = keepPrompt ? error : withoutPrompt(error)
          yield* session.emit({ _tag: "TextDelta", messageId: ids.message(), text: told.message })
          yield* transcript.end({ keepPrompt })
          return { stopReason: "refusal", error: told, usage } satisfies Outcome
        }, Effect.uninterruptible)

        /** One request and its tools. `undefined`: the model wants to go on. */
        const advance = Effect.fnUntraced(function* (system: Prompt.Message) {
          const { info, model } = yield* chosen
          requests += 1
          const present = yield* available
          const toolkit = describeAll(present)
          const step = Step.make({ ids, deltas, tools: present, emit: session.emit })
          const messages = [system, ...transcript.messages(info)]
          const failure = yield* Effect.match(ModelRequest.send({ model, messages, toolkit }, step, session), {
            onFailure: toTurnError,
            onSuccess: () => undefined
          })
          if (failure !== undefined) return yield* refuse(failure)
          yield* deltas.flush
          const finish = step.finish()
          if (finish === undefined) return yield* refuse(endedEarly)
          yield* account(finish, info)
          if (finish.reason === "content-filter") return yield* refuse(filtered)
          if (finish.reason === "error") return yield* refuse(answerFailed)
          yield* transcript.append(step.messages())
          if (step.calls().length > 0) {
            // A session that cannot be kept is told of before it changes anything.
            const lost = requests === 1 ? yield* Effect.option(Effect.flip(session.keep)) : Option.none()
            if (Option.isSome(lost)) return yield* refuse(unkept(lost.value), NOT_RUN)
            yield* ToolCalls.make(session, present, guards).run(step.calls(), (results) =>
              transcript.append([Prompt.toolMessage({ content: results })])
            )
            return undefined
          }
          if (finish.reason === "pause") return undefined
          if (finish.reason === "length") return { stopReason: "max_tokens", usage } satisfies Outcome
          const objection = objections < MAX_OBJECTIONS ? yield* occasions.stop(session, step.text()) : undefined
          if (objection === undefined) return { stopReason: "end_turn", usage } satisfies Outcome
          objections += 1
          yield* transcript.append([userText(objection)])
          return undefined
        })

        const forbidden = yield* occasions.begin(session, prompt)
        if (forbidden !== undefined) {
          yield* session.emit({ _tag: "TextDelta", messageId: ids.message(), text: forbidden })
          yield* transcript.end({ keepPrompt: false })
          return {
            stopReason: "refusal",
            error: { kind: "content_policy", message: forbidden },
            usage
          } satisfies Outcome
        }

        const system = Prompt.systemMessage({ content: yield* Fiber.join(prompting) })
        return yield* Effect.gen(function* () {
          while (requests < options.maxRequests) {
            const outcome: Outcome | undefined = yield* advance(system)
            if (outcome !== undefined) return outcome
          }
          return { stopReason: "max_turn_requests", usage } satisfies Outcome
        }).pipe(Effect.catchTag("ModelUnavailable", ({ message }) => refuse(unavailable(message))))
      }, Effect.scoped)

      return Turn.of({ run })
    })
  )

/** The loop with at most 200 model requests in one turn. */
export const layer = layerWith({ maxRequests: MAX_REQUESTS })
