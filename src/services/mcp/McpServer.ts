/** The conversation with one MCP server: handshake, list of tools, calls. Speaks every revision with a handshake. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { version } from "../../domain/Version.ts"
import * as Lenient from "../../domain/wire/Lenient.ts"
import * as RequestId from "../../domain/wire/RequestId.ts"
import { McpFailed, type McpTransport } from "./McpTransport.ts"

/** Newest first: the first is what we ask for, and a server may choose any of them. */
const revisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const

/** Long, because a person may have asked for something that takes long (F103). */
export const CALL_TIMEOUT = Duration.minutes(10)
const GOODBYE = Duration.seconds(1)
const MAX_PAGES = 100
const MAX_TOOLS = 1_000

const Initialized = Schema.Struct({
  protocolVersion: Schema.String,
  capabilities: Lenient.drop(Schema.Struct({ tools: Lenient.drop(Schema.Record(Schema.String, Schema.Json)) }))
})

/** What we use of a tool's description. `inputSchema` is passed on as it came. */
export const McpTool = Schema.Struct({
  name: Schema.NonEmptyString,
  title: Lenient.drop(Schema.String),
  description: Lenient.drop(Schema.String),
  inputSchema: Lenient.drop(Schema.Record(Schema.String, Schema.Json)),
  annotations: Lenient.drop(
    Schema.Struct({ title: Lenient.drop(Schema.String), readOnlyHint: Lenient.drop(Schema.Boolean) })
  )
})
export type McpTool = typeof McpTool.Type

const ToolPage = Schema.Struct({ tools: Schema.Array(Schema.Unknown), nextCursor: Lenient.drop(Schema.NonEmptyString) })

export const McpResult = Schema.Struct({
  content: Lenient.drop(Schema.Array(Schema.Json)),
  structuredContent: Lenient.drop(Schema.Json),
  isError: Lenient.drop(Schema.Boolean)
})
export type McpResult = typeof McpResult.Type

const decodeTool = Schema.decodeUnknownOption(McpTool)

const decode = <A>(schema: Schema.ConstraintCodec<A, unknown>, what: string) => {
  const parse = Schema.decodeUnknownEffect(schema)
  return (value: unknown) =>
    Effect.mapError(parse(value), () => new McpFailed({ message: `sent ${what} that does not follow the protocol` }))
}
const decodeInitialized = decode(Initialized, "an answer to the handshake")
const decodePage = decode(ToolPage, "a list of tools")
const decodeResult = decode(McpResult, "a result")

export interface McpServer {
  readonly tools: ReadonlyArray<McpTool>
  /** Fails after ten minutes, telling the server; so does interruption. */
  readonly call: (tool: string, input: Readonly<Record<string, Schema.Json>>) => Effect.Effect<McpResult, McpFailed>
}

export const connect = Effect.fnUntraced(function* (
  transport: McpTransport
): Effect.fn.Return<McpServer, McpFailed, Scope.Scope> {
  const scope = yield* Effect.scope
  let count = 0

  const request = (method: string, params: Schema.Json) =>
    Effect.suspend(() => {
      count += 1
      const id = RequestId.fromCount(count)
      const withdraw = transport
        .notify("notifications/cancelled", { requestId: count, reason: "The user or a time limit ended the call" })
        .pipe(Effect.timeoutOption(GOODBYE), Effect.ignore, Effect.forkIn(scope, { startImmediately: true }))
      return Effect.onInterrupt(transport.request(id, method, params), () =>
        method === "initialize" ? Effect.void : withdraw
      )
    })

  const { capabilities, protocolVersion } = yield* Effect.flatMap(
    request("initialize", {
      protocolVersion: revisions[0],
      capabilities: {},
      clientInfo: { name: "super-pi", title: "Super-Pi", version }
    }),
    decodeInitialized
  )
  if (!revisions.some((revision) => revision === protocolVersion)) {
    return yield* new McpFailed({
      message: `speaks the protocol revision "${protocolVersion}"; the known ones are ${revisions.join(", ")}`
    })
  }
  transport.agree(protocolVersion)
  yield* transport.notify("notifications/initialized")

  const list = Effect.fnUntraced(function* () {
    const tools: Array<McpTool> = []
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page++) {
      const result = yield* Effect.flatMap(request("tools/list", cursor === undefined ? {} : { cursor }), decodePage)
      tools.push(...result.tools.flatMap((tool) => Option.toArray(decodeTool(tool))))
      cursor = result.nextCursor
      if (cursor === undefined) break
    }
    return tools.slice(0, MAX_TOOLS)
  })

  return {
    tools: capabilities?.tools === undefined ? [] : yield* list(),
    call: (tool, input) =>
      request("tools/call", { name: tool, arguments: input }).pipe(
        Effect.flatMap(decodeResult),
        Effect.timeoutOrElse({
          duration: CALL_TIMEOUT,
          orElse: () =>
            Effect.fail(new McpFailed({ message: `did not finish the call within ${Duration.format(CALL_TIMEOUT)}` }))
        })
      )
  }
})
