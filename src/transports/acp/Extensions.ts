/** This agent's own keys in `_meta`, the same in every protocol version (EXT-01, EXT-03). */
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { EditorCapabilities } from "../../domain/Capability.ts"
import { type ExecutionMode, lower, offered } from "../../domain/permission/ExecutionMode.ts"
import type { ActivityChanged } from "../../domain/Event.ts"
import type { SessionId } from "../../domain/Ids.ts"
import { format as formatPosition, parse as parsePosition, type Position } from "../../domain/session/Position.ts"
import type { FoundAgent } from "../../domain/CustomAgent.ts"
import type { Harness } from "../../domain/Harness.ts"
import { describeUndo, type UndoResult } from "../../domain/session/Undo.ts"
import type { Outcome } from "../../domain/Turn.ts"
import {
  Activity,
  AuthenticateMeta,
  CreateAgent,
  DiffSession,
  ClientMeta,
  ForkSession,
  ListAgents,
  LoadMeta,
  PermissionMeta,
  SessionMeta,
  UndoSession
} from "../../domain/wire/Extensions.ts"
import type { AgentsSnapshot, SessionWishes } from "../../services/Agent.ts"
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

type Instructions = NonNullable<(typeof SessionMeta.Type)["systemPrompt"]>

const textOf = ({ content }: Instructions): string =>
  (typeof content === "string" ? content : content.map(({ text }) => text).join("\n\n")).trim()

/** Instructions of the client: behind our own, or in their place. */
const instructed = (given: Instructions | undefined): SessionWishes => {
  const text = given === undefined ? "" : textOf(given)
  if (text === "") return {}
  return given?.mode === "override" ? { systemPrompt: text } : { appended: text }
}

/** `isNew`: extra rules count at the beginning of a session alone. */
export const wishesOf = (meta: Meta, isNew = true): SessionWishes => {
  const { autoMode, modelId, reasoningEffort, rules, systemPrompt, systemPromptOverride, yoloMode, ...wishes } =
    readSession(meta)
  return {
    ...wishes,
    ...(modelId === undefined ? {} : { model: modelId }),
    ...(reasoningEffort === undefined ? {} : { effort: reasoningEffort }),
    ...(systemPromptOverride === undefined ? {} : { systemPrompt: systemPromptOverride }),
    ...instructed(systemPrompt),
    ...(isNew && rules !== undefined ? { rules } : {}),
    ...(yoloMode === true ? { mode: "always-approve" } : autoMode === true ? { preferredMode: "auto" } : {})
  }
}

/** The effort that comes along with a model. */
export const effortOf = (meta: Meta): string | undefined => readSession(meta).reasoningEffort

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
export const wishFields: FieldNames = {
  harness: "_meta.harness",
  model: "_meta.modelId",
  mode: "_meta.yoloMode",
  agentProfile: "_meta.agentProfile"
}

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

const agentOf = (
  { description, name, path, scope }: FoundAgent,
  current?: string
): (typeof CreateAgent.successSchema.Encoded)["agent"] => ({
  id: name,
  name,
  description,
  scope,
  ...(path === undefined ? {} : { path }),
  ...(name === current ? { current: true } : {})
})

export const agentsOf = ({ agents, current }: AgentsSnapshot): typeof ListAgents.successSchema.Encoded => ({
  agents: agents.map((agent) => agentOf(agent, current)),
  currentAgentId: current ?? null
})

export const createdOf = (agent: FoundAgent): typeof CreateAgent.successSchema.Encoded => ({ agent: agentOf(agent) })

/** Under which call of a subagent's parent a call is shown. */
export const parentMeta = (parent: string | undefined) =>
  parent === undefined ? {} : { superPi: { parentToolCallId: parent } }

/** Methods of our own that a client may call, and notifications of our own that it may get. */
export const methods: ReadonlyArray<string> = [
  ForkSession._tag,
  UndoSession._tag,
  DiffSession._tag,
  ListAgents._tag,
  CreateAgent._tag
]
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
