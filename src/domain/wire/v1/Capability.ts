/** What each side says in `initialize` that it can do. Left out, `null` or malformed means unsupported (INI-08). */
import * as Schema from "effect/Schema"
import * as Lenient from "../Lenient.ts"

/** A feature is supported when its marker is an object. */
const marker = Lenient.drop(Schema.Struct({ _meta: Lenient.meta }))

const flag = Lenient.drop(Schema.Boolean)

export const FileSystemCapabilities = Schema.Struct({ readTextFile: flag, writeTextFile: flag, _meta: Lenient.meta })

export const ConfigOptionsCapabilities = Schema.Struct({ boolean: marker, _meta: Lenient.meta })

export const ClientSessionCapabilities = Schema.Struct({
  compaction: marker,
  configOptions: Lenient.drop(ConfigOptionsCapabilities),
  notices: marker,
  _meta: Lenient.meta
})

export const ClientAuthCapabilities = Schema.Struct({ terminal: flag, _meta: Lenient.meta })

export const ElicitationCapabilities = Schema.Struct({ form: marker, url: marker, _meta: Lenient.meta })

export const ClientCapabilities = Schema.Struct({
  fs: Lenient.drop(FileSystemCapabilities),
  terminal: flag,
  session: Lenient.drop(ClientSessionCapabilities),
  auth: Lenient.drop(ClientAuthCapabilities),
  elicitation: Lenient.drop(ElicitationCapabilities),
  _meta: Lenient.meta
})
export type ClientCapabilities = typeof ClientCapabilities.Type

export const PromptCapabilities = Schema.Struct({
  image: flag,
  audio: flag,
  embeddedContext: flag,
  _meta: Lenient.meta
})

export const McpCapabilities = Schema.Struct({ http: flag, sse: flag, _meta: Lenient.meta })

export const SessionCapabilities = Schema.Struct({
  list: marker,
  delete: marker,
  additionalDirectories: marker,
  resume: marker,
  close: marker,
  _meta: Lenient.meta
})

export const AgentAuthCapabilities = Schema.Struct({ logout: marker, _meta: Lenient.meta })

export const AgentCapabilities = Schema.Struct({
  loadSession: flag,
  promptCapabilities: Lenient.drop(PromptCapabilities),
  mcpCapabilities: Lenient.drop(McpCapabilities),
  sessionCapabilities: Lenient.drop(SessionCapabilities),
  auth: Lenient.drop(AgentAuthCapabilities),
  _meta: Lenient.meta
})
