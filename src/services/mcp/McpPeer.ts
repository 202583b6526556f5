/** Our side of the conversation: what we grant a server that asks, and whom we tell what it says. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Elicitation, ElicitationAnswer } from "../../domain/Elicitation.ts"
import type { SessionId, ToolCallId } from "../../domain/Ids.ts"
import { ErrorCode, shortName, WireError } from "../../domain/wire/ErrorCode.ts"
import * as JsonRpc from "../../domain/wire/JsonRpc.ts"
import * as Lenient from "../../domain/wire/Lenient.ts"
import * as RequestId from "../../domain/wire/RequestId.ts"
import type { ElicitationForms, McpContext } from "../McpManager.ts"
import type { Peer } from "./transport/McpTransport.ts"
import type { Patience } from "./Patience.ts"
import type { Redactor } from "./Redactor.ts"
import { clip } from "../../domain/text/Clip.ts"

/** A call of a tool that waits for its result. */
export interface OpenCall {
  readonly sessionId: SessionId
  readonly callId: ToolCallId
  readonly elicit: ((request: Elicitation) => Effect.Effect<ElicitationAnswer>) | undefined
  readonly progress: (text: string) => Effect.Effect<void>
  readonly patience: Patience
}

export interface McpPeer extends Peer {
  /** The capabilities that a server is told. */
  readonly capabilities: Schema.JsonObject
  /** Calls whose results are awaited, by their request. */
  readonly calls: Map<RequestId.RequestId, OpenCall>
  readonly redactor: Redactor
  /** Grants or refuses what the server asks. */
  readonly resolve: (method: string, params: unknown, asking: Asking) => Effect.Effect<Schema.JsonObject, WireError>
}

/** On whose behalf a server asks. */
export interface Asking {
  readonly call: OpenCall | undefined
  /** Whether it can be no other call. */
  readonly isCertain: boolean
}

export interface PeerOptions {
  /** The server's, for the person who is asked. */
  readonly name: string
  readonly context: McpContext
  /** The server says that it has other tools or prompts. */
  readonly listsChanged: Effect.Effect<void>
  readonly garbage: (line: string) => Effect.Effect<void>
  readonly redactor: Redactor
}

const MAX_QUESTION = 4_000
const MAX_LOG = 2_000
const MAX_LOGS = 1_000

const FormRequest = Schema.Struct({
  mode: Lenient.drop(Schema.Literal("form")),
  message: Schema.String,
  requestedSchema: Schema.JsonObject
})
const UrlRequest = Schema.Struct({
  mode: Schema.Literal("url"),
  message: Schema.String,
  url: Schema.String,
  elicitationId: Schema.String
})
const decodeElicitation = Schema.decodeUnknownResult(Schema.Union([UrlRequest, FormRequest]))
const decodeProgress = Schema.decodeUnknownOption(
  Schema.Struct({
    progressToken: Schema.Union([Schema.String, Schema.Int]),
    progress: Schema.Finite,
    total: Lenient.drop(Schema.Finite),
    message: Lenient.drop(Schema.String)
  })
)
const decodeLog = Schema.decodeUnknownOption(Schema.Struct({ level: Schema.String, data: Schema.Json }))

const refused = (message: string) => new WireError({ code: ErrorCode.InvalidParams, message })

/** Without what would sign somebody in, and safe from being read on the way (ELI-05). */
const isSafe = (text: string): boolean => {
  const url = URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "") return false
  return url.protocol === "https:" || (url.protocol === "http:" && /^(localhost|127\.|\[::1\])/.test(url.hostname))
}

const folderUri = (path: string): string => {
  const url = new URL("file:///")
  url.pathname = path.replaceAll("%", "%25").replaceAll("\\", "%5C")
  return url.href
}

const answerOf = (answer: ElicitationAnswer): Schema.JsonObject => {
  switch (answer._tag) {
    case "Accepted":
      return { action: "accept", content: answer.content }
    case "Declined":
      return { action: "decline" }
    case "Cancelled":
    case "Unanswered":
    case "Gone":
      return { action: "cancel" }
  }
}

/** `3 of 10: half way`. */
export const progressText = (progress: number, total: number | undefined, message: string | undefined): string => {
  const count = total === undefined ? `${progress}` : `${progress} of ${total}`
  return message === undefined || message === "" ? count : `${count}: ${message}`
}

const capabilitiesOf = ({ form, url }: ElicitationForms): Schema.JsonObject => ({
  roots: {},
  ...(form || url ? { elicitation: { ...(form ? { form: {} } : {}), ...(url ? { url: {} } : {}) } } : {})
})

export const make = ({ context, garbage, name, redactor, listsChanged }: PeerOptions): McpPeer => {
  const { elicitation } = context
  const calls = new Map<RequestId.RequestId, OpenCall>()
  let logs = 0

  /** The call that a question belongs to: the one on whose answer it came, else the only one. */
  const askingCall = (during: RequestId.RequestId | undefined): Asking => {
    const certain = during === undefined ? undefined : calls.get(during)
    const [first] = calls.values()
    return { call: certain ?? first, isCertain: certain !== undefined || calls.size === 1 }
  }

  const elicit = Effect.fnUntraced(function* (params: unknown, { call, isCertain }: Asking) {
    const decoded = decodeElicitation(params)
    if (Result.isFailure(decoded))
      return yield* refused("A form needs message and requestedSchema, a page message, url and elicitationId")
    const asked = decoded.success
    const isUrl = asked.mode === "url"
    if (!(isUrl ? elicitation.url : elicitation.form)) {
      return yield* refused(`This client shows no ${isUrl ? "pages" : "forms"}, as its capabilities say`)
    }
    const whose = {
      sessionId: context.sessionId,
      ...(call !== undefined && isCertain ? { callId: call.callId } : {}),
      message: `The MCP server "${name}" asks: ${clip(redactor.said(asked.message), MAX_QUESTION)}`
    }
    if (asked.mode === "url" && !isSafe(asked.url)) {
      return yield* refused("The address must be https, without a user name and password in it")
    }
    const request: Elicitation =
      asked.mode === "url"
        ? { _tag: "Url", ...whose, url: asked.url, elicitationId: asked.elicitationId }
        : { _tag: "Form", ...whose, schema: redactor.fields(asked.requestedSchema) }
    const put = (call?.elicit ?? context.elicit)(request)
    return answerOf(yield* call === undefined ? put : call.patience.waitingFor(put))
  })

  const resolve = (method: string, params: unknown, asking: Asking): Effect.Effect<Schema.JsonObject, WireError> => {
    switch (method) {
      case "ping":
        return Effect.succeed({})
      case "roots/list":
        return Effect.sync(() => ({
          roots: context.roots().map((path) => ({ uri: folderUri(path), name: path.split("/").at(-1) || path }))
        }))
      case "elicitation/create":
        return elicitation.form || elicitation.url ? elicit(params, asking) : unsupported(method)
      default:
        return unsupported(method)
    }
  }

  const progressed = Effect.fnUntraced(function* (params: unknown) {
    const decoded = Option.getOrUndefined(decodeProgress(params))
    const id = decoded === undefined ? undefined : RequestId.fromJson(decoded.progressToken)
    const call = id === undefined ? undefined : calls.get(id)
    if (decoded === undefined || call === undefined) return
    yield* call.patience.progressed
    yield* call.progress(clip(redactor.said(progressText(decoded.progress, decoded.total, decoded.message)), MAX_LOG))
  })

  const logged = (params: unknown) =>
    Effect.suspend(() => {
      const decoded = decodeLog(params)
      logs += 1
      if (Option.isNone(decoded) || logs > MAX_LOGS) return Effect.void
      return Effect.logDebug(
        clip(redactor.strict(`${decoded.value.level}: ${JSON.stringify(decoded.value.data)}`), MAX_LOG)
      )
    })

  return {
    capabilities: capabilitiesOf(elicitation),
    calls,
    redactor,
    resolve,
    answer: ({ id, method, params }, during) =>
      Effect.match(resolve(method, params, askingCall(during)), {
        onFailure: (error) => JsonRpc.encodeError(id, error),
        onSuccess: (result) => JsonRpc.encodeResult(id, result)
      }),
    hear: ({ method, params }) => {
      switch (method) {
        case "notifications/progress":
          return progressed(params)
        case "notifications/tools/list_changed":
        case "notifications/prompts/list_changed":
          return listsChanged
        case "notifications/message":
          return logged(params)
        default:
          return Effect.void
      }
    },
    garbage
  }
}

const unsupported = (method: string) =>
  Effect.fail(
    new WireError({ code: ErrorCode.MethodNotFound, message: `This client does not support ${shortName(method)}` })
  )
