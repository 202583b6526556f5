/** What this agent adds to the protocol: a method of its own, and keys in `_meta`. */
import * as Rpc from "effect/rpc/Rpc"
import * as RpcGroup from "effect/rpc/RpcGroup"
import * as Schema from "effect/Schema"
import { SessionId } from "../Ids.ts"
import { StopReason } from "../Turn.ts"
import * as Lenient from "./Lenient.ts"
import { request } from "./Method.ts"
import { NewSessionResponse, ResumeSessionRequest } from "./v1/Session.ts"

/** Copies a session up to its latest entry into a new one; the history is not told (F59). */
export const ForkSession = request("_superpi/session/fork", ResumeSessionRequest, NewSessionResponse)

const session = Schema.Struct({ sessionId: SessionId, _meta: Lenient.meta })

/**
 * Takes back what the last turn changed in files, all of it or nothing. Paths are absolute; `refused` has the files that
 * are not what the turn left, and what to do. `message` says the same in words, for a person.
 */
export const UndoSession = request(
  "_superpi/session/undo",
  session,
  Schema.Struct({
    undone: Schema.Boolean,
    files: Schema.Array(
      Schema.Struct({ path: Schema.String, what: Schema.Literals(["restored", "removed", "recreated"]) })
    ),
    refused: Schema.Array(Schema.Struct({ path: Schema.String, reason: Schema.String })),
    message: Schema.String,
    _meta: Lenient.meta
  })
)

/**
 * What the session changed in files so far, as `git diff` writes it. Paths of `files` are absolute, `added` and `removed`
 * count lines; `truncated`: some of it is left out for its size.
 */
export const DiffSession = request(
  "_superpi/session/diff",
  session,
  Schema.Struct({
    diff: Schema.String,
    files: Schema.Array(
      Schema.Struct({
        path: Schema.String,
        added: Schema.Natural,
        removed: Schema.Natural,
        status: Schema.Literals(["added", "modified", "deleted"])
      })
    ),
    truncated: Schema.Boolean,
    _meta: Lenient.meta
  })
)

const CustomAgent = Schema.Struct({
  /** What `session/set_mode` takes. */
  id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  scope: Schema.Literals(["project", "user", "plugin", "session"]),
  path: Schema.optionalKey(Schema.String),
  /** Whether it is the agent of this session. */
  current: Schema.optionalKey(Schema.Boolean),
  _meta: Lenient.meta
})

/** The agents that people, the project and plugins describe; `currentAgentId` is null while the session has none. */
export const ListAgents = request(
  "_supercharge/agents/list",
  session,
  Schema.Struct({
    agents: Schema.Array(CustomAgent),
    currentAgentId: Schema.NullOr(Schema.String),
    _meta: Lenient.meta
  })
)

/**
 * Writes the file of a new agent: `project` into `.supercharge/agents` of the project, `user` into the home folder. Default: the
 * project where it is trusted, else the user. Never replaces a file.
 */
export const CreateAgent = request(
  "_supercharge/agents/create",
  Schema.Struct({
    sessionId: SessionId,
    name: Schema.String,
    instructions: Schema.String,
    description: Schema.optionalKey(Schema.NullOr(Schema.String)),
    scope: Schema.optionalKey(Schema.NullOr(Schema.Literals(["project", "user"]))),
    _meta: Lenient.meta
  }),
  Schema.Struct({ agent: CustomAgent, _meta: Lenient.meta })
)

/**
 * A turn of a session began or ended. Sent to clients that watch the session and did not send the prompt, which get no
 * answer to it.
 */
export const Activity = Rpc.make("_superpi/session/activity", {
  payload: Schema.Struct({
    sessionId: SessionId,
    state: Schema.Literals(["working", "idle"]),
    /** With the end. */
    stopReason: Schema.optionalKey(StopReason),
    _meta: Lenient.meta
  })
})

/** How earlier revisions of the protocol chose a model; now it is an option. Only for clients that still call it. */
export const SetModel = request(
  "session/set_model",
  Schema.Struct({ sessionId: SessionId, modelId: Schema.String, _meta: Lenient.meta }),
  Schema.Struct({ _meta: Lenient.meta })
)

export const ExtensionRequests = RpcGroup.make(ForkSession, UndoSession, DiffSession, ListAgents, CreateAgent, SetModel)

const text = Lenient.drop(Schema.String)

/**
 * `_meta` of the requests that open a session. `yoloMode` asks for the mode in which nothing is asked, `autoMode` for the one
 * that judges by risk, where there is one; a blank `systemPromptOverride` is none. `systemPrompt` has the form that a later
 * revision of the protocol may give it as a parameter (SES-28): `append` adds to what `rules` says, `override` is a
 * `systemPromptOverride`.
 */
export const SessionMeta = Schema.Struct({
  harness: text,
  modelId: text,
  reasoningEffort: text,
  yoloMode: Lenient.drop(Schema.Boolean),
  autoMode: Lenient.drop(Schema.Boolean),
  rules: text,
  agentProfile: Lenient.drop(Schema.Union([Schema.NonEmptyString, Schema.Record(Schema.String, Schema.Json)])),
  systemPromptOverride: Lenient.drop(Schema.String.check(Schema.isPattern(/\S/))),
  systemPrompt: Lenient.drop(
    Schema.Struct({
      mode: Schema.Literals(["append", "override"]),
      content: Schema.Union([
        Schema.String,
        Schema.Array(Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }))
      ])
    })
  )
})

/** `_meta` of `session/load`: how far the client was told before, as `_meta.superPi.entry` of an update said. */
export const LoadMeta = Schema.Struct({
  superPi: Lenient.drop(Schema.Struct({ after: text }))
})

/** `_meta` of `authenticate`. */
export const AuthenticateMeta = Schema.Struct({ token: Lenient.drop(Schema.RedactedFromValue(Schema.NonEmptyString)) })

const flag = Lenient.drop(Schema.Boolean)

/**
 * `_meta` of what a client can do. The first four are names of one thing: it keeps the output of commands that it was shown.
 * The next two say that it shows terminals which belong to the agent, and under which name it takes what they get; the last
 * one that it runs a command line in a terminal to sign in.
 */
export const ClientMeta = Schema.Struct({
  "x.ai/incrementalBashOutput": flag,
  "_x.ai/incrementalBashOutput": flag,
  incrementalBashOutput: flag,
  superPi: Lenient.drop(Schema.Struct({ incrementalOutput: flag })),
  terminal_output: flag,
  terminal_output_delta: flag,
  "terminal-auth": flag
})

/** `_meta` of the answer to a permission question: what the user wants instead. */
export const PermissionMeta = Schema.Struct({ followup_message: Lenient.drop(Schema.NonEmptyString) })
