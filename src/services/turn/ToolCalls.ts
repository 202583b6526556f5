/** Brings the tool calls of one model step to their results: judged, run, told, each to exactly one final status. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"
import type { ToolCallId } from "../../domain/Ids.ts"
import type { FileChange } from "../../domain/session/Changes.ts"
import { textContent, type ToolCallPatch } from "../../domain/Tool.ts"
import type { ChangesShape } from "../Changes.ts"
import type { ConfinementsShape } from "../Confinements.ts"
import type { HookOccasion } from "../../domain/Hook.ts"
import type { HooksShape } from "../Hooks.ts"
import type { PermissionBrokerShape } from "../PermissionBroker.ts"
import type { PreparedCall, ToolContext, ToolDefinition, ToolOutcome } from "../ToolDefinition.ts"
import type { TurnSession } from "../Turn.ts"
import { runIn } from "./TurnHooks.ts"
import type { Workspace } from "../Workspace.ts"

/** A call as the model made it. `input` is whatever the model wrote. */
export interface RequestedCall {
  readonly id: ToolCallId
  readonly name: string
  readonly input: unknown
}

/** Calls that only read run side by side, this many at a time. */
const SHARED_CALLS = 8

const toJson = Schema.decodeUnknownOption(Schema.Json)

/** What is shown of a call's input: nothing if it is no JSON. */
export const rawInput = (input: unknown): { readonly rawInput?: Schema.Json } => {
  const json = toJson(input)
  return json._tag === "Some" ? { rawInput: json.value } : {}
}

const failed = (text: string): ToolOutcome => ({ status: "failed", text, content: [textContent(text)] })

const resultOf = (call: RequestedCall, outcome: ToolOutcome): Prompt.ToolResultPart =>
  Prompt.toolResultPart({
    id: call.id,
    name: call.name,
    isFailure: outcome.status === "failed",
    result: outcome.text,
    providerExecuted: false
  })

/** Neighbours that may run side by side form one group; any other call is a group of its own. */
const groupsOf = (
  calls: ReadonlyArray<RequestedCall>,
  isShared: (call: RequestedCall) => boolean
): ReadonlyArray<ReadonlyArray<RequestedCall>> => {
  const groups: Array<Array<RequestedCall>> = []
  let previousShared = false
  for (const call of calls) {
    const shared = isShared(call)
    const last = groups.at(-1)
    if (shared && previousShared && last !== undefined) last.push(call)
    else groups.push([call])
    previousShared = shared
  }
  return groups
}

type OnResults = (results: ReadonlyArray<Prompt.ToolResultPart>) => Effect.Effect<void>

export interface ToolCalls {
  /** `onResults` gets the results of each group as soon as it ended, so that a crash loses no more than one group. */
  readonly run: (calls: ReadonlyArray<RequestedCall>, onResults: OnResults) => Effect.Effect<void>
}

/** Who judges calls, and who keeps what they did. */
export interface Guards {
  readonly broker: PermissionBrokerShape
  readonly changes: ChangesShape
  readonly confinements: ConfinementsShape
  readonly hooks: HooksShape
  /** Lifetimes of the sessions whose person knows that commands run free. */
  readonly told: { readonly has: (lifetime: object) => boolean; readonly add: (lifetime: object) => unknown }
  /** Runs a call that must not run beside others. */
  readonly exclusively: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>
}

/** The same for a subagent: what it changes is the session's to take back, and what the session was told holds for it. */
export const onBehalfOf = (workspace: Workspace, { changes, told, ...guards }: Guards): Guards => ({
  ...guards,
  changes: {
    ...changes,
    recording: (_own, ...rest) => changes.recording(workspace, ...rest),
    recordingAll: (_own, ...rest) => changes.recordingAll(workspace, ...rest)
  },
  told: { has: () => told.has(workspace.lifetime), add: () => told.add(workspace.lifetime) }
})

export const make = (
  session: TurnSession,
  tools: ReadonlyMap<string, ToolDefinition>,
  { broker, changes, confinements, exclusively, hooks, told }: Guards
): ToolCalls => {
  const { harness, workspace } = session
  const confinement = confinements.of({ cwd: workspace.cwd, harness })
  const update = (id: ToolCallId, patch: ToolCallPatch) => session.emit({ _tag: "ToolCallUpdated", id, patch })

  const hooksHear = runIn(hooks)
  const runHooks = (occasion: HookOccasion) => hooksHear(session, occasion)

  /** Once in a session: commands run free although nobody asked for that. */
  const tellUnconfined = Effect.fnUntraced(function* () {
    const { problem } = yield* confinement
    if (problem === undefined || told.has(workspace.lifetime)) return
    told.add(workspace.lifetime)
    yield* session.emit({
      _tag: "Notice",
      severity: "warning",
      title: `Commands run without a sandbox: ${problem.reason}`,
      description: problem.remedy
    })
  })

  const decide = Effect.fnUntraced(function* (
    call: RequestedCall,
    prepared: PreparedCall,
    preview: Effect.Effect<void>
  ) {
    const { isMissed, profile } = yield* confinement
    const { ask } = session
    return yield* broker.decide({
      sessionId: workspace.sessionId,
      call: {
        id: call.id,
        patch: {
          title: prepared.title,
          kind: prepared.kind,
          locations: prepared.locations,
          content: prepared.preview,
          ...rawInput(call.input)
        }
      },
      access: prepared.access,
      cwd: workspace.cwd,
      roots: workspace.roots,
      mode: yield* session.mode,
      grants: yield* session.grants,
      ask: ask === undefined ? undefined : (question) => Effect.andThen(preview, ask(question)),
      confined: profile !== "off" && !(prepared.access._tag === "Execute" && prepared.access.unsandboxed === true),
      unconfinable: isMissed,
      remember: (grant) => session.log({ _tag: "Granted", grant })
    })
  })

  const record = (change: FileChange) => session.log({ _tag: "FileChanged", change })

  const contextOf = (call: RequestedCall, { kind }: PreparedCall): ToolContext => ({
    workspace,
    callId: call.id,
    sandbox: Effect.map(confinement, ({ profile }) => profile),
    elicit: session.elicit(),
    recording: (paths, change) => changes.recording(workspace, record, paths, change),
    recordingAll: (change) => changes.recordingAll(workspace, record, change),
    readable: broker.readable({ cwd: workspace.cwd, search: kind === "search" }),
    plan: (entries) => session.emit({ _tag: "PlanUpdated", entries }),
    progress: (patch, fresh) =>
      session.emit({ _tag: "ToolCallProgress", id: call.id, patch, ...(fresh === undefined ? {} : { fresh }) })
  })

  const attempt = Effect.fnUntraced(
    function* (call: RequestedCall) {
      const definition = tools.get(call.name)
      if (definition === undefined) {
        return failed(`There is no tool named "${call.name}". The tools are: ${[...tools.keys()].join(", ")}.`)
      }
      const prepared = yield* definition.prepare(call.input, workspace)
      const { title, kind, locations } = prepared
      yield* update(call.id, { title, kind, locations })
      // With the question or the permission, not before: it shows what is in files, and a rule may keep them from being read.
      const preview = yield* Effect.cached(
        prepared.preview.length === 0 ? Effect.void : update(call.id, { content: prepared.preview })
      )
      const what = { tool: call.name, callId: call.id, input: call.input }
      const forbidden = yield* runHooks({ event: "PreToolUse", ...what })
      if (forbidden !== undefined) return failed(forbidden)
      if (prepared.access._tag === "Execute") yield* tellUnconfined()
      const decision = yield* decide(call, prepared, preview)
      if (decision._tag === "Denied") {
        const { reason } = decision
        yield* runHooks({ event: "PermissionDenied", ...what, reason })
        return failed(reason)
      }
      yield* preview
      yield* update(call.id, { status: "in_progress" })
      const outcome = yield* prepared.run(contextOf(call, prepared))
      const { status, text } = outcome
      const objection = yield* runHooks({ event: "PostToolUse", ...what, output: text, failed: status === "failed" })
      return objection === undefined ? outcome : { ...outcome, text: `${text}\n\n${objection}` }
    },
    Effect.catchTag("ToolInputInvalid", ({ message }) => Effect.succeed(failed(message)))
  )

  const runOne = Effect.fnUntraced(function* (call: RequestedCall) {
    const outcome = yield* attempt(call).pipe(
      Effect.catchDefect((defect) =>
        Effect.logError("A tool call died", Cause.die(defect)).pipe(
          Effect.as(failed(`The tool "${call.name}" failed unexpectedly; the log has the details.`))
        )
      )
    )
    return [call, outcome] as const
  })

  const tellOutcome = (id: ToolCallId, outcome: ToolOutcome) =>
    update(id, {
      status: outcome.status,
      content: outcome.content,
      ...(outcome.locations === undefined ? {} : { locations: outcome.locations }),
      ...(outcome.rawOutput === undefined ? {} : { rawOutput: outcome.rawOutput })
    })

  const isShared = (call: RequestedCall) => tools.get(call.name)?.concurrency === "shared"

  /** What a call did is told and kept even if a cancel ends its neighbours: the model must know (F22). */
  const runGroup = (group: ReadonlyArray<RequestedCall>, onResults: OnResults) => {
    const results = new Map<ToolCallId, Prompt.ToolResultPart>()
    const keep = ([call, outcome]: readonly [RequestedCall, ToolOutcome]) =>
      Effect.andThen(
        tellOutcome(call.id, outcome),
        Effect.sync(() => results.set(call.id, resultOf(call, outcome)))
      )
    return Effect.forEach(
      group,
      (call) => Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(runOne(call)), keep)),
      { concurrency: SHARED_CALLS, discard: true }
    ).pipe(
      Effect.ensuring(
        Effect.suspend(() =>
          results.size === 0 ? Effect.void : onResults(group.flatMap(({ id }) => results.get(id) ?? []))
        )
      )
    )
  }

  return {
    run: (calls, onResults) =>
      Effect.forEach(
        groupsOf(calls, isShared),
        (group) => (group.every(isShared) ? runGroup(group, onResults) : exclusively(runGroup(group, onResults))),
        { discard: true }
      )
  }
}
