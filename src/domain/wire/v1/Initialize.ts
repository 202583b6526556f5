/** Opening a connection: version, capabilities, sign-in. */
import * as Schema from "effect/Schema"
import * as Lenient from "../Lenient.ts"
import { AgentCapabilities, ClientCapabilities } from "./Capability.ts"

export const ProtocolVersion = Schema.Int.check(
  Schema.isBetween({ minimum: 0, maximum: 65_535 }, { expected: "an integer from 0 to 65535" })
)

export const Implementation = Schema.Struct({
  name: Schema.String,
  title: Lenient.drop(Schema.String),
  version: Schema.String,
  _meta: Lenient.meta
})

export const InitializeRequest = Schema.Struct({
  protocolVersion: ProtocolVersion,
  clientCapabilities: Lenient.drop(ClientCapabilities),
  clientInfo: Lenient.drop(Implementation),
  _meta: Lenient.meta
})

const method = {
  id: Schema.String,
  name: Schema.String,
  description: Lenient.drop(Schema.String),
  _meta: Lenient.meta
}

export const AgentAuthMethod = Schema.Struct(method)

/** The client runs this program with `args` and `env` in a terminal, and connects anew afterwards (AUT-04). */
export const TerminalAuthMethod = Schema.Struct({
  ...method,
  type: Schema.Literal("terminal"),
  args: Schema.optionalKey(Schema.Array(Schema.String)),
  env: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})

export const AuthMethod = Schema.Union([TerminalAuthMethod, AgentAuthMethod])

export const InitializeResponse = Schema.Struct({
  protocolVersion: ProtocolVersion,
  agentCapabilities: Lenient.drop(AgentCapabilities),
  authMethods: Lenient.drop(Schema.Array(AuthMethod)),
  agentInfo: Lenient.drop(Implementation),
  _meta: Lenient.meta
})

export const AuthenticateRequest = Schema.Struct({ methodId: Schema.String, _meta: Lenient.meta })

/** An answer or a request that says nothing but that it is one. */
export const Empty = Schema.Struct({ _meta: Lenient.meta })
