/** This agent's own keys in `_meta`, the same in every protocol version (EXT-01, EXT-03). */
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { EditorCapabilities } from "../../domain/Capability.ts"
import { type ExecutionMode, lower, offered } from "../../domain/permission/ExecutionMode.ts"
import type { ActivityChanged } from "../../domain/Event.ts"
import type { SessionId } from "../../domain/Ids.ts"
import { format as formatPosition, parse as parsePosition, type Position } from "../../domain/session/Position.ts"
import type { Harness } from "../../domain/Harness.ts"
import { describeUndo, type UndoResult } from "../../domain/session/Undo.ts"
import type { Outcome } from "../../domain/Turn.ts"
import {
  Activity,
  AuthenticateMeta,
  DiffSession,
  ClientMeta,
  ForkSession,
  LoadMeta,
  PermissionMeta,
  SessionMeta,
  UndoSession
} from "../../domain/wire/Extensions.ts"
import type { SessionWishes } from "../../services/Agent.ts"
import type { Program } from "../../services/Auth.ts"
import type { FieldNames } from "./WireFailure.ts"

type Meta = Schema.JsonObject | undefined

/** Every key is lenient, so that nothing in `_meta` can break a request. */
const reader = <A extends object>(schema: Schema.ConstraintDecoder<A>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (meta: Meta): Partial<A> => Option.getOrElse(decode(meta ?? {}), () => ({}))
}

const readSession = reader(SessionMeta)
const readLoad = reader(LoadMeta)
const readAuthenticate = reader(AuthenticateMeta)
const readClient = reader(ClientMeta)
const readPermission = reader(PermissionMeta)

export const wishesOf = (meta: Meta): SessionWishes => {
  const { autoMode, modelId, reasoningEffort, systemPromptOverride, yoloMode, ...wishes } = readSession(meta)
  return {
    ...wishes,
    ...(modelId === undefined ? {} : { model: modelId }),
    ...(reasoningEffort === undefined ? {} : { effort: reasoningEffort }),
    ...(systemPromptOverride === undefined ? {} : { systemPrompt: systemPromptOverride }),
    ...(autoMode === true ? { mode: "auto" } : {}),
    ...(yoloMode === true ? { mode: "always-approve" } : {})
  }
}

/** How far the client was told before. */
export const afterOf = (meta: Meta): Position | undefined => {
  const written = readLoad(meta).superPi?.after
  return written === undefined ? undefined : Option.getOrUndefined(parsePosition(written))
}

/** How far an update tells the log. */
export const positionMeta = (position: Position | undefined) =>
  position === undefined ? {} : { _meta: { superPi: { entry: formatPosition(position) } } }

/** Whether a turn runs, of a session that was opened in the middle of it. */
export const workingMeta = (working: boolean) => (working ? { _meta: { superPi: { working } } } : {})

export const activityOf = (
  sessionId: SessionId,
  { outcome, state }: ActivityChanged
): typeof Activity.payloadSchema.Encoded => ({
  sessionId,
  state,
  ...(outcome === undefined ? {} : { stopReason: outcome.stopReason })
})

/** Where a request has its wishes. */
export const wishFields: FieldNames = { harness: "_meta.harness", model: "_meta.modelId", mode: "_meta.yoloMode" }

export const tokenOf = (meta: Meta): Redacted.Redacted<string> | undefined => readAuthenticate(meta).token

/** Whether a client keeps the output of commands that it was shown. */
export const keepsOutput = (meta: Meta): boolean => {
  const { incrementalBashOutput, superPi, ...named } = readClient(meta)
  return [
    named["x.ai/incrementalBashOutput"],
    named["_x.ai/incrementalBashOutput"],
    incrementalBashOutput,
    superPi?.incrementalOutput
  ].includes(true)
}

/** Under which name a client takes the output of terminals that belong to the agent. */
export const terminalsOf = (meta: Meta): EditorCapabilities["terminals"] => {
  const { terminal_output, terminal_output_delta } = readClient(meta)
  if (terminal_output === true) return "terminal_output"
  return terminal_output_delta === true ? "terminal_output_delta" : undefined
}

/** Whether a client runs a command line in a terminal to sign in, and the command line for it. */
export const runsCommands = (meta: Meta): boolean => readClient(meta)["terminal-auth"] === true

export const commandMeta = (label: string, { args, command }: Program) => ({
  _meta: { "terminal-auth": { label, command, args: [...args] } }
})

/** What is new of a command's output, for a client that keeps it. */
export const freshOutput = (fresh: string) => ({ rawOutput: { output_delta: fresh } })

/** What the user wants instead of what was asked. */
export const followUpOf = (meta: Meta): string | undefined => readPermission(meta).followup_message

/** An undo that was refused is an answer: its client shows why. */
export const undoOf = (result: UndoResult): typeof UndoSession.successSchema.Encoded => ({
  undone: result._tag === "Undone",
  files: result._tag === "Undone" ? result.files : [],
  refused: result._tag === "Refused" ? result.reasons : [],
  message: describeUndo(result)
})

/** Methods of our own that a client may call, and notifications of our own that it may get. */
export const methods: ReadonlyArray<string> = [ForkSession._tag, UndoSession._tag, DiffSession._tag]
export const notifications: ReadonlyArray<string> = [Activity._tag]

/** A harness for `initialize`; `modes` are those that it offers under the ceiling of the transport. */
export const describeHarness = (harness: Harness, isDefault: boolean, ceiling: ExecutionMode) => ({
  id: harness.id,
  title: harness.title,
  description: harness.description,
  default: isDefault,
  capabilities: {
    tools: [...harness.tools],
    mcp: harness.mcp,
    unattended: harness.unattended,
    ...(harness.sandbox === undefined ? {} : { sandbox: harness.sandbox }),
    modes: offered(lower(harness.ceiling, ceiling)).map((mode) => mode.id)
  }
})

/** Why a turn failed and what it used; nothing when there is nothing to say. */
export const outcomeMeta = ({ error, usage }: Outcome) =>
  error === undefined && usage === undefined
    ? {}
    : {
        _meta: {
          superPi: { ...(error === undefined ? {} : { error }), ...(usage === undefined ? {} : { usage }) }
        }
      }
