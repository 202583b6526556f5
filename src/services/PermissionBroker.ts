/** One decision per tool call: deny > ask > allow rules, remembered answers, the read-only list, the mode. */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ExecutionMode } from "../domain/ExecutionMode.ts"
import type { SessionId, ToolCallId } from "../domain/Ids.ts"
import type { Access, Answer, Decision, Grant, Question } from "../domain/Permission.ts"
import { factsOf } from "../domain/permission/PermissionFacts.ts"
import { choicesFor, type Choice } from "../domain/permission/PermissionOptions.ts"
import * as Policy from "../domain/permission/PermissionPolicy.ts"
import { parseRules } from "../domain/permission/PermissionRule.ts"
import type { ToolCallPatch } from "../domain/Tool.ts"
import { Settings } from "./Settings.ts"

/** A tool call that is about to run, and what is known of its session. */
export interface PermissionRequest {
  readonly sessionId: SessionId
  readonly call: { readonly id: ToolCallId; readonly patch: ToolCallPatch }
  readonly access: Access
  readonly cwd: string
  readonly mode: ExecutionMode
  /** "Always" answers of this session so far. */
  readonly grants: ReadonlyArray<Grant>
  /** Absent when nobody can be asked: what would be asked is denied. */
  readonly ask: ((question: Question) => Effect.Effect<Answer>) | undefined
  /** Keeps an "always" answer with the session. */
  readonly remember: (grant: Grant) => Effect.Effect<void>
}

/** What `PermissionBroker` promises. A denied call does not run; the model reads the reason. */
export interface PermissionBrokerShape {
  readonly decide: (request: PermissionRequest) => Effect.Effect<Decision>
}

const allowed: Decision = { _tag: "Allowed" }
const denied = (reason: string): Decision => ({ _tag: "Denied", reason })

/** Only an offered option that allows is a yes (PRM-03, CAN-06). What an "always" promised is remembered first. */
const settle = Effect.fnUntraced(function* (
  request: PermissionRequest,
  choices: ReadonlyArray<Choice>,
  answer: Answer
) {
  if (answer._tag === "Cancelled") return denied(Policy.dismissed)
  if (answer._tag === "Unanswered") return denied(Policy.unanswered(answer.reason))
  const choice = choices.find(({ option }) => option.id === answer.optionId)
  if (choice === undefined) return denied(Policy.notOffered)
  yield* Effect.forEach(choice.grants, request.remember, { discard: true })
  const isYes = choice.option.kind === "allow_once" || choice.option.kind === "allow_always"
  return isYes ? allowed : denied(Policy.deniedByUser(answer.message))
})

/** Decides whether a tool call may run. Every call of every tool, MCP tools included, passes it once. */
export class PermissionBroker extends Context.Service<PermissionBroker, PermissionBrokerShape>()(
  "super-pi/PermissionBroker"
) {
  /** Judges by the settings of the moment. A rule that cannot be read is named once in the log. */
  static readonly layer: Layer.Layer<PermissionBroker, never, Settings> = Layer.effect(
    PermissionBroker,
    Effect.gen(function* () {
      const settings = yield* Settings
      const home = yield* Config.String("HOME").pipe(Effect.orElseSucceed(() => undefined))
      const warned = new Set<string>()

      const decide = Effect.fn("PermissionBroker.decide")(function* (request: PermissionRequest) {
        const { rules, warnings } = parseRules((yield* settings.current).permission)
        for (const warning of warnings) {
          if (!warned.has(warning)) yield* Effect.logWarning(warning)
          warned.add(warning)
        }
        const { access, ask, call, cwd, grants, mode, sessionId } = request
        const search = call.patch.kind === "search"
        const verdict = Policy.judge(factsOf({ access, search, cwd, home, rules, grants }), mode)
        if (verdict._tag === "Allow") return allowed
        if (verdict._tag === "Deny") return denied(verdict.reason)
        if (ask === undefined) return denied(Policy.nobodyToAsk)
        const choices = choicesFor(access, cwd)
        const answer = yield* ask({ sessionId, call, options: choices.map(({ option }) => option) })
        return yield* settle(request, choices, answer)
      })

      return { decide }
    })
  )

  /** Allows everything: for hosts that judge calls themselves. */
  static readonly layerAllow: Layer.Layer<PermissionBroker> = Layer.succeed(PermissionBroker, {
    decide: () => Effect.succeed(allowed)
  })

  /** Denies everything that touches something. */
  static readonly layerDeny: Layer.Layer<PermissionBroker> = Layer.succeed(PermissionBroker, {
    decide: ({ access }) =>
      Effect.succeed(
        access._tag === "None" ? allowed : denied("Denied: this agent may touch nothing. Answer without tools.")
      )
  })
}
