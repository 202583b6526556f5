/** Brings the tool calls of one model step to their results: judged, run, told, each to exactly one final status. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"
import type { ToolCallId } from "../../domain/Ids.ts"
import { textContent, type ToolCallPatch } from "../../domain/Tool.ts"
import type { PermissionBrokerShape } from "../PermissionBroker.ts"
import type { PreparedCall, ToolContext, ToolDefinition, ToolOutcome } from "../ToolDefinition.ts"
import type { TurnSession } from "../Turn.ts"

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

export const make = (
  session: TurnSession,
  tools: ReadonlyMap<string, ToolDefinition>,
  broker: PermissionBrokerShape
): ToolCalls => {
  const update = (id: ToolCallId, patch: ToolCallPatch) => session.emit({ _tag: "ToolCallUpdated", id, patch })

  const decide = Effect.fnUntraced(function* (call: RequestedCall, prepared: PreparedCall) {
    return yield* broker.decide({
      sessionId: session.workspace.sessionId,
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
      cwd: session.workspace.cwd,
      roots: session.workspace.roots,
      mode: yield* session.mode,
      grants: yield* session.grants,
      ask: session.ask,
      remember: (grant) => session.log({ _tag: "Granted", grant })
    })
  })

  const contextOf = (call: RequestedCall, { kind }: PreparedCall): ToolContext => ({
    workspace: session.workspace,
    readable: broker.readable({ cwd: session.workspace.cwd, search: kind === "search" }),
    plan: (entries) => session.emit({ _tag: "PlanUpdated", entries }),
    progress: (patch) => session.emit({ _tag: "ToolCallProgress", id: call.id, patch })
  })

  const attempt = Effect.fnUntraced(
    function* (call: RequestedCall) {
      const definition = tools.get(call.name)
      if (definition === undefined) {
        return failed(`There is no tool named "${call.name}". The tools are: ${[...tools.keys()].join(", ")}.`)
      }
      const prepared = yield* definition.prepare(call.input, session.workspace)
      const { title, kind, locations, preview } = prepared
      yield* update(call.id, { title, kind, locations, ...(preview.length === 0 ? {} : { content: preview }) })
      const decision = yield* decide(call, prepared)
      if (decision._tag === "Denied") return failed(decision.reason)
      yield* update(call.id, { status: "in_progress" })
      return yield* prepared.run(contextOf(call, prepared))
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
      Effect.forEach(groupsOf(calls, isShared), (group) => runGroup(group, onResults), { discard: true })
  }
}
