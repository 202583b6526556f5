/** One decision per tool call: deny > ask > allow rules, remembered answers, the read-only list, the mode. */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { ExecutionMode } from "../domain/permission/ExecutionMode.ts"
import type { SessionId, ToolCallId } from "../domain/Ids.ts"
import type { Access, Answer, Decision, Grant, Question } from "../domain/permission/Permission.ts"
import { anchorsOfRules, factsOf, mentionedPaths, readableBy } from "../domain/permission/PermissionFacts.ts"
import { choicesFor, type Choice } from "../domain/permission/PermissionOptions.ts"
import * as Policy from "../domain/permission/PermissionPolicy.ts"
import { parseRules } from "../domain/permission/PermissionRule.ts"
import type { ToolCallPatch } from "../domain/Tool.ts"
import { makeRealPaths } from "./files/RealPath.ts"
import { Settings } from "./Settings.ts"

/** A tool call that is about to run, and what is known of its session. */
export interface PermissionRequest {
  readonly sessionId: SessionId
  readonly call: { readonly id: ToolCallId; readonly patch: ToolCallPatch }
  readonly access: Access
  /** The session's folder: relative rules start there. */
  readonly cwd: string
  /** `cwd` and the additional directories: what may be read unasked. */
  readonly roots: ReadonlyArray<string>
  readonly mode: ExecutionMode
  /** "Always" answers of this session so far. */
  readonly grants: ReadonlyArray<Grant>
  /** Absent when nobody can be asked: what would be asked is denied. */
  readonly ask: ((question: Question) => Effect.Effect<Answer>) | undefined
  /** Keeps an "always" answer with the session. */
  readonly remember: (grant: Grant) => Effect.Effect<void>
}

/** Whether a file may be shown, by its absolute path. One that has two names is shown only if both may be. */
export type Readable = (path: string) => boolean

/** Who looks: a session in `cwd`, with a tool that searches (`Grep` rules bind it) or not. */
export interface Onlooker {
  readonly cwd: string
  readonly search: boolean
}

/** What `PermissionBroker` promises. A denied call does not run; the model reads the reason. */
export interface PermissionBrokerShape {
  readonly decide: (request: PermissionRequest) => Effect.Effect<Decision>
  /**
   * What deny rules of the moment leave of the files below a folder, since a call is judged by the folder alone.
   * None when they leave all of them.
   */
  readonly readable: (onlooker: Onlooker) => Effect.Effect<Option.Option<Readable>>
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
  if (answer._tag === "Gone") return denied(Policy.unanswered("The editor went away before it answered"))
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
  /**
   * Judges by the settings of the moment, and paths by the names under which they are written and by those that links
   * lead to. A rule that cannot be read is named once in the log.
   */
  static readonly layer: Layer.Layer<PermissionBroker, never, FileSystem.FileSystem | Path.Path | Settings> =
    Layer.effect(
      PermissionBroker,
      Effect.gen(function* () {
        const settings = yield* Settings
        const realPaths = makeRealPaths(yield* FileSystem.FileSystem, yield* Path.Path)
        const home = yield* Config.String("HOME").pipe(Effect.orElseSucceed(() => undefined))
        const warned = new Set<string>()

        const currentRules = Effect.gen(function* () {
          const { rules, warnings } = parseRules((yield* settings.current).permission)
          for (const warning of warnings) {
            if (!warned.has(warning)) yield* Effect.logWarning(warning)
            warned.add(warning)
          }
          return rules
        })

        const decide = Effect.fn("PermissionBroker.decide")(function* (request: PermissionRequest) {
          const { access, ask, call, cwd, grants, mode, roots, sessionId } = request
          const search = call.patch.kind === "search"
          const situation = { access, search, cwd, roots, home, rules: yield* currentRules, grants }
          const links = yield* realPaths.resolveAll(mentionedPaths(situation))
          const verdict = Policy.judge(factsOf({ ...situation, links }), mode)
          if (verdict._tag === "Allow") return allowed
          if (verdict._tag === "Deny") return denied(verdict.reason)
          if (ask === undefined) return denied(Policy.nobodyToAsk)
          const choices = choicesFor(access, cwd)
          const answer = yield* ask({ sessionId, call, options: choices.map(({ option }) => option) })
          return yield* settle(request, choices, answer)
        })

        const readable = Effect.fn("PermissionBroker.readable")(function* ({ cwd, search }: Onlooker) {
          const rules = yield* currentRules
          const links = yield* realPaths.resolveAll(anchorsOfRules(rules.deny, { cwd, home }))
          return Option.fromUndefinedOr(readableBy(rules, search, { cwd, home, links }))
        })

        return { decide, readable }
      })
    )

  /** Allows everything: for hosts that judge calls themselves. */
  static readonly layerAllow: Layer.Layer<PermissionBroker> = Layer.succeed(PermissionBroker, {
    decide: () => Effect.succeed(allowed),
    readable: () => Effect.succeedNone
  })

  /** Denies everything that touches something. */
  static readonly layerDeny: Layer.Layer<PermissionBroker> = Layer.succeed(PermissionBroker, {
    decide: ({ access }) =>
      Effect.succeed(
        access._tag === "None" ? allowed : denied("Denied: this agent may touch nothing. Answer without tools.")
      ),
    readable: () => Effect.succeedSome(() => false)
  })
}
