/**
 * One decision per tool call: deny > ask > allow rules, remembered answers, the read-only list, the mode. Hooks were asked
 * before.
 */
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
import { choicesFor, type Choice, onceOnly } from "../domain/permission/PermissionOptions.ts"
import * as Policy from "../domain/permission/PermissionPolicy.ts"
import { parseRules } from "../domain/permission/PermissionRule.ts"
import { questionPatch } from "../domain/permission/Preview.ts"
import type { ToolCallPatch } from "../domain/Tool.ts"
import { makeRealPaths } from "./files/RealPath.ts"
import { Grants } from "./permission/Grants.ts"
import { Projects, type ProjectValue } from "./Projects.ts"
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
  /** "Always" answers that count for this session alone. */
  readonly grants: ReadonlyArray<Grant>
  /** Absent when nobody can be asked: what would be asked is denied. */
  readonly ask: ((question: Question) => Effect.Effect<Answer>) | undefined
  /** Whether a command of this call would run confined by a sandbox. */
  readonly confined: boolean
  /**
   * Somebody asked for a confinement that cannot be enforced here: then every command asks, in every mode, unless a rule or a
   * remembered answer lets it run outside of the sandbox.
   */
  readonly unconfinable: boolean
  /** Keeps an "always" answer that counts for this session alone. */
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

/** Warnings that are known to have been said: rules come and go in the files of any number of projects. */
const MOST_WARNED = 500

const allowed: Decision = { _tag: "Allowed" }
const denied = (reason: string): Decision => ({ _tag: "Denied", reason })

/** Only an offered option that allows is a yes (PRM-03, CAN-06). What an "always" promised is remembered first. */
const settle = Effect.fnUntraced(function* (
  choices: ReadonlyArray<Choice>,
  answer: Answer,
  remember: (grant: Grant) => Effect.Effect<void>
) {
  if (answer._tag === "Cancelled") return denied(Policy.dismissed)
  if (answer._tag === "Gone") return denied(Policy.unanswered("The editor went away before it answered"))
  if (answer._tag === "Unanswered") return denied(Policy.unanswered(answer.reason))
  const choice = choices.find(({ option }) => option.id === answer.optionId)
  if (choice === undefined) return denied(Policy.notOffered)
  yield* Effect.forEach(choice.grants, remember, { discard: true })
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
  static readonly layer: Layer.Layer<
    PermissionBroker,
    never,
    FileSystem.FileSystem | Grants | Path.Path | Projects | Settings
  > = Layer.effect(
    PermissionBroker,
    Effect.gen(function* () {
      const settings = yield* Settings
      const projects = yield* Projects
      const remembered = yield* Grants
      const realPaths = makeRealPaths(yield* FileSystem.FileSystem, yield* Path.Path)
      const home = yield* Config.String("HOME").pipe(Effect.orElseSucceed(() => undefined))
      const warned = new Set<string>()

      const warnOnce = Effect.fnUntraced(function* (warning: string) {
        if (warned.has(warning)) return
        const [oldest] = warned
        if (oldest !== undefined && warned.size === MOST_WARNED) warned.delete(oldest)
        warned.add(warning)
        yield* Effect.logWarning(warning)
      })

      /** Those of the person and of the project, as far as that may have any. */
      const rulesFor = Effect.fnUntraced(function* ({ permission: its }: ProjectValue) {
        const own = (yield* settings.current).permission
        const { rules, warnings } = parseRules({
          allow: [...own.allow, ...its.allow],
          ask: [...own.ask, ...its.ask],
          deny: [...own.deny, ...its.deny]
        })
        yield* Effect.forEach(warnings, warnOnce, { discard: true })
        return rules
      })

      /** What cannot be read may hold a no: then it counts as unknown, which is no yes. */
      const recall = Effect.fnUntraced(function* (root: string) {
        return yield* remembered.of(root).pipe(
          Effect.map((kept) => ({ kept, notes: [], forgetful: false })),
          Effect.catch(({ message }) =>
            Effect.as(warnOnce(message), {
              kept: [],
              notes: [`What was answered before is unknown: ${message}`],
              forgetful: true
            })
          )
        )
      })

      const decide = Effect.fn("PermissionBroker.decide")(function* (request: PermissionRequest) {
        const { access, ask, call, confined, cwd, mode, roots, sessionId, unconfinable } = request
        const project = yield* projects.of(cwd)
        const { root } = project
        const { forgetful, kept, notes } = yield* recall(root)
        const grants = [...kept, ...request.grants]
        const search = call.patch.kind === "search"
        const rules = yield* rulesFor(project)
        const place = { cwd, roots, home, root }
        const situation = { access, search, ...place, rules, grants, confined, unconfinable, forgetful }
        const links = yield* realPaths.resolveAll(mentionedPaths(situation))
        const facts = factsOf({ ...situation, links })
        const verdict = Policy.judge(facts, mode)
        const isByAnswer = verdict._tag !== "Ask" && (facts.granted || facts.rejected)
        if (isByAnswer) yield* remembered.use(root, facts.remembered)
        if (verdict._tag === "Allow") return allowed
        if (verdict._tag === "Deny") return denied(verdict.reason)
        if (ask === undefined) return denied(Policy.nobodyToAsk)
        const { rememberApprovals } = yield* settings.current
        const choices = rememberApprovals ? choicesFor(access, { cwd, unconfinable }) : onceOnly
        // All edits of a session are much to allow: that ends with it.
        const keep = (grant: Grant) =>
          grant.access === "Edit" ? request.remember(grant) : remembered.remember(root, grant)
        const patch = questionPatch(access, call.patch, { links, notes })
        const answer = yield* ask({
          sessionId,
          call: { id: call.id, patch },
          options: choices.map(({ option }) => option)
        })
        return yield* settle(choices, answer, keep)
      })

      const readable = Effect.fn("PermissionBroker.readable")(function* ({ cwd, search }: Onlooker) {
        const project = yield* projects.of(cwd)
        const rules = yield* rulesFor(project)
        const place = { cwd, home, root: project.root }
        const links = yield* realPaths.resolveAll(anchorsOfRules(rules.deny, place))
        return Option.fromUndefinedOr(readableBy(rules, search, { ...place, links }))
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
