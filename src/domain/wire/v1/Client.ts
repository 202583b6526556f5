/** Files and terminals that the client lends to the agent. */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { SessionId } from "../../Ids.ts"
import * as Lenient from "../Lenient.ts"
import { Empty } from "./Initialize.ts"
import { SecretPair } from "./Mcp.ts"

/** Where there is nothing to say, clients of an older age answer `null` (FS-02, TER-04). */
export const Done = Schema.NullOr(Empty).pipe(
  Schema.decodeTo(Schema.toType(Empty), {
    decode: SchemaGetter.transform((answer) => answer ?? {}),
    encode: SchemaGetter.passthroughSubtype()
  })
)

/** `line` counts from 1; `limit` is a number of lines. */
export const ReadTextFileRequest = Schema.Struct({
  sessionId: SessionId,
  path: Schema.String,
  line: Lenient.nullable(Schema.Natural),
  limit: Lenient.nullable(Schema.Natural),
  _meta: Lenient.meta
})

export const ReadTextFileResponse = Schema.Struct({ content: Schema.String, _meta: Lenient.meta })

export const WriteTextFileRequest = Schema.Struct({
  sessionId: SessionId,
  path: Schema.String,
  content: Schema.String,
  _meta: Lenient.meta
})

/** `outputByteLimit` is how much of the output the client keeps. */
export const CreateTerminalRequest = Schema.Struct({
  sessionId: SessionId,
  command: Schema.String,
  args: Schema.optionalKey(Lenient.emptyArray(Schema.String)),
  env: Schema.optionalKey(Lenient.emptyArray(SecretPair)),
  cwd: Lenient.nullable(Schema.String),
  outputByteLimit: Lenient.nullable(Schema.Natural),
  _meta: Lenient.meta
})

export const CreateTerminalResponse = Schema.Struct({ terminalId: Schema.String, _meta: Lenient.meta })

/** Of the methods that name a terminal and nothing else. */
export const TerminalRequest = Schema.Struct({
  sessionId: SessionId,
  terminalId: Schema.String,
  _meta: Lenient.meta
})

const exit = {
  exitCode: Lenient.drop(Schema.Natural),
  signal: Lenient.drop(Schema.String),
  _meta: Lenient.meta
}

export const TerminalOutputResponse = Schema.Struct({
  output: Schema.String,
  truncated: Schema.Boolean,
  exitStatus: Lenient.drop(Schema.Struct(exit)),
  _meta: Lenient.meta
})

export const WaitForTerminalExitResponse = Schema.Struct(exit)
