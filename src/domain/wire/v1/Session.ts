/** Opening, listing and leaving sessions. */
import * as Schema from "effect/Schema"
import { SessionId } from "../../Ids.ts"
import * as Lenient from "../Lenient.ts"
import { ConfigOption } from "./Config.ts"
import { McpServer } from "./Mcp.ts"

/** Of this machine or of the client's: a POSIX root, a drive or a UNC share (RPC-16). */
export const AbsolutePath = Schema.String.check(
  Schema.isPattern(/^(?:\/|[A-Za-z]:[\\/]|\\\\)/, { expected: "an absolute path, such as /home/me/project" })
)

export const SessionMode = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  description: Lenient.drop(Schema.String),
  _meta: Lenient.meta
})

export const SessionModeState = Schema.Struct({
  currentModeId: Schema.String,
  availableModes: Schema.Array(SessionMode),
  _meta: Lenient.meta
})

const place = {
  cwd: AbsolutePath,
  additionalDirectories: Schema.optionalKey(Lenient.emptyArray(AbsolutePath)),
  _meta: Lenient.meta
}

export const NewSessionRequest = Schema.Struct({ ...place, mcpServers: Lenient.emptyArray(McpServer) })

export const LoadSessionRequest = Schema.Struct({
  ...place,
  sessionId: SessionId,
  mcpServers: Lenient.emptyArray(McpServer)
})

/** Also the shape of a fork: an existing session at a place. */
export const ResumeSessionRequest = Schema.Struct({
  ...place,
  sessionId: SessionId,
  mcpServers: Schema.optionalKey(Lenient.emptyArray(McpServer))
})

const state = {
  modes: Lenient.drop(SessionModeState),
  configOptions: Lenient.drop(Schema.Array(ConfigOption)),
  _meta: Lenient.meta
}

export const NewSessionResponse = Schema.Struct({ sessionId: SessionId, ...state })

/** Of `session/load` and `session/resume`. */
export const OpenSessionResponse = Schema.Struct(state)

/** `null` is no filter, and no cursor. */
export const ListSessionsRequest = Schema.Struct({
  cwd: Lenient.nullable(Schema.String),
  cursor: Lenient.nullable(Schema.String),
  _meta: Lenient.meta
})

/** `updatedAt` is RFC 3339. */
export const SessionInfo = Schema.Struct({
  sessionId: SessionId,
  cwd: Schema.String,
  additionalDirectories: Lenient.drop(Schema.Array(Schema.String)),
  title: Lenient.drop(Schema.String),
  updatedAt: Lenient.drop(Schema.String),
  _meta: Lenient.meta
})

export const ListSessionsResponse = Schema.Struct({
  sessions: Schema.Array(SessionInfo),
  nextCursor: Lenient.drop(Schema.String),
  _meta: Lenient.meta
})

/** Of the methods that name a session and nothing else. */
export const SessionRequest = Schema.Struct({ sessionId: SessionId, _meta: Lenient.meta })

export const SetModeRequest = Schema.Struct({ sessionId: SessionId, modeId: Schema.String, _meta: Lenient.meta })
