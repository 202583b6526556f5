/** The conversation with one MCP server: what it speaks, its tools as they change, calls. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { clip } from "../../domain/text/Clip.ts"
import * as Lenient from "../../domain/wire/Lenient.ts"
import * as RequestId from "../../domain/wire/RequestId.ts"
import { agree, clientInfo, decode } from "./Handshake.ts"
import * as McpPrompts from "./McpPrompts.ts"
import type { McpPeer, OpenCall } from "./McpPeer.ts"
import { McpFailed, type McpTransport } from "./transport/McpTransport.ts"
import { headersOf, metaOf } from "./Modern.ts"
import * as Patience from "./Patience.ts"
import * as ToolList from "./tool/ToolList.ts"
import type { Listed, McpTool } from "./tool/ToolList.ts"
import { keepOpen } from "./transport/KeepOpen.ts"

const GOODBYE = Duration.seconds(1)
/** Between a change of the tools and the question what they are now, and between two such questions. */
const SETTLE = Duration.millis(200)
const PAUSE = Duration.seconds(1)
/** How long anybody waits for the first list of prompts. */
const FIRST_PROMPTS = Duration.seconds(5)
const MAX_PAGES = 100
/** How often a call may ask for more before it has its result. */
const MAX_ROUNDS = 10
const MAX_ADDRESS = 500
const MAX_NAMED_PAGES = 3
/** The server wants a person to open a page first. */
const PAGE_FIRST = -32042

const ToolPage = Schema.Struct({ tools: Schema.Array(Schema.Unknown), nextCursor: Lenient.drop(Schema.NonEmptyString) })

export const McpResult = Schema.Struct({
  content: Lenient.drop(Schema.Array(Schema.Json)),
  structuredContent: Lenient.drop(Schema.Json),
  isError: Lenient.drop(Schema.Boolean)
})
export type McpResult = typeof McpResult.Type

const InputRequired = Schema.Struct({
  resultType: Schema.Literal("input_required"),
  inputRequests: Lenient.drop(
    Schema.Record(Schema.String, Schema.Struct({ method: Schema.String, params: Lenient.drop(Schema.Json) }))
  ),
  requestState: Lenient.drop(Schema.String)
})
const PagesFirst = Schema.Struct({
  elicitations: Schema.NonEmptyArray(
    Schema.Struct({
      mode: Schema.Literal("url"),
      message: Schema.String,
      url: Schema.String,
      elicitationId: Schema.String
    })
  )
})

const decodePage = decode(ToolPage, "a list of tools")
const decodeResult = decode(McpResult, "a result")
const decodeInputRequired = Schema.decodeUnknownOption(InputRequired)
const decodePagesFirst = Schema.decodeUnknownOption(PagesFirst)

/** Whole, so that it can be opened; of one that is too long for a sentence, where it leads. */
const addressOf = (url: string): string => (url.length > MAX_ADDRESS ? (URL.parse(url)?.origin ?? "a page") : url)

export interface CallContext extends Omit<OpenCall, "patience"> {
  readonly limit: Patience.CallLimit
}

export interface McpServer {
  readonly kind: McpTransport["kind"]
  readonly revision: string
  readonly software: string | undefined
  readonly listed: Listed
  /** As they are now. Waits for their first list, but not for long. */
  readonly prompts: Effect.Effect<ReadonlyArray<McpPrompts.ServerPrompt>>
  readonly prompt: McpPrompts.McpPrompts["get"]
  /** Fails at the limit, telling the server; so does interruption. */
  readonly call: (
    tool: McpTool,
    input: Readonly<Record<string, Schema.Json>>,
    context: CallContext
  ) => Effect.Effect<McpResult, McpFailed>
  /** Fails when the connection is over. */
  readonly lost: Effect.Effect<never, McpFailed>
}

export interface ConnectOptions {
  readonly transport: McpTransport
  readonly peer: McpPeer
  /** Holds one entry when the server says that its tools or prompts changed. */
  readonly changes: Queue.Dequeue<void>
  readonly onTools: (listed: Listed) => Effect.Effect<void>
  /** When the server was asked again after a change, whether it has answered or not. */
  readonly onAsked?: Effect.Effect<void>
  /** How long the server may take to list tools that changed. */
  readonly listLimit: Duration.Duration
}

export const connect = Effect.fnUntraced(function* ({
  changes,
  listLimit,
  onAsked = Effect.void,
  onTools,
  peer,
  transport
}: ConnectOptions): Effect.fn.Return<McpServer, McpFailed, Scope.Scope> {
  const scope = yield* Effect.scope
  const meta = metaOf(clientInfo, peer.capabilities)
  let count = 0

  const withdraw = (requestId: number) =>
    transport
      .notify("notifications/cancelled", { requestId, reason: "The user or a time limit ended the call" })
      .pipe(Effect.timeoutOption(GOODBYE), Effect.ignore, Effect.forkIn(scope, { startImmediately: true }))

  interface RequestOptions {
    readonly isModern: boolean
    readonly tool?: McpTool
    readonly call?: OpenCall
  }

  const request = (method: string, params: Schema.JsonObject, { call, isModern, tool }: RequestOptions) =>
    Effect.suspend(() => {
      count += 1
      const number = count
      const id = RequestId.fromCount(number)
      const own = { ...(isModern ? meta : {}), ...(call === undefined ? {} : { progressToken: number }) }
      const sent = Object.keys(own).length === 0 ? params : { ...params, _meta: own }
      if (call !== undefined) peer.calls.set(id, call)
      return transport
        .request({
          id,
          method,
          params: sent,
          ...(isModern && transport.kind === "http" ? { headers: headersOf(method, params, tool?.inputSchema) } : {})
        })
        .pipe(
          // Where each request has a stream of its own, the end of that stream says enough.
          Effect.onInterrupt(() =>
            method === "initialize" || (isModern && transport.kind === "http") ? Effect.void : withdraw(number)
          ),
          Effect.ensuring(Effect.sync(() => peer.calls.delete(id)))
        )
    })

  const { capabilities, isModern, revision, software } = yield* agree(
    transport,
    (method, params, isModern) => request(method, params, { isModern }),
    peer.capabilities
  )

  const list = Effect.fnUntraced(function* () {
    const tools = ToolList.make()
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES && !tools.isFull(); page++) {
      const params = cursor === undefined ? {} : { cursor }
      const result = yield* Effect.flatMap(request("tools/list", params, { isModern }), decodePage)
      tools.add(result.tools)
      cursor = result.nextCursor
      if (cursor === undefined) break
    }
    return tools.listed(cursor !== undefined)
  })

  const offered = McpPrompts.make((method, params) => request(method, params, { isModern }))
  let prompts: ReadonlyArray<McpPrompts.ServerPrompt> = []

  /** A server without its prompts is a server all the same. */
  const listPrompts = Effect.suspend(() =>
    capabilities?.prompts === undefined
      ? Effect.void
      : Effect.match(offered.list, {
          onFailure: () => undefined,
          onSuccess: (listed) => {
            prompts = listed
          }
        })
  )

  const listTools = Effect.flatMap(list(), onTools).pipe(
    Effect.timeoutOrElse({
      duration: listLimit,
      orElse: () => Effect.fail(new McpFailed({ message: `took longer than ${Duration.format(listLimit)}` }))
    }),
    Effect.catch((failure) =>
      Effect.logDebug(`The changed tools could not be listed: it ${clip(peer.redactor.problem(failure), 200)}`)
    )
  )

  const relist = Effect.gen(function* () {
    yield* Queue.take(changes)
    yield* Effect.sleep(SETTLE)
    yield* Queue.clear(changes)
    if (capabilities?.tools !== undefined) yield* listTools
    yield* onAsked
    yield* Effect.timeoutOption(listPrompts, listLimit)
    yield* Effect.sleep(PAUSE)
  })

  const listed = capabilities?.tools === undefined ? ToolList.none : yield* list()
  const prompted = yield* Effect.forkScoped(Effect.timeoutOption(listPrompts, FIRST_PROMPTS))
  if (capabilities?.tools !== undefined || capabilities?.prompts !== undefined) {
    yield* Effect.forkScoped(Effect.forever(relist))
  }
  if (!isModern) yield* Effect.forkScoped(transport.listen)
  else if (capabilities?.tools?.listChanged === true || capabilities?.prompts?.listChanged === true) {
    const notifications = {
      ...(capabilities.tools?.listChanged === true ? { toolsListChanged: true } : {}),
      ...(capabilities.prompts?.listChanged === true ? { promptsListChanged: true } : {})
    }
    yield* Effect.forkScoped(keepOpen(request("subscriptions/listen", { notifications }, { isModern })))
  }

  /** What the server needs before it goes on, in answers that a request of ours got instead of a result. */
  const inputFor = Effect.fnUntraced(function* (needed: typeof InputRequired.Type, call: OpenCall) {
    const inputResponses: Record<string, Schema.Json> = {}
    for (const [key, { method, params }] of Object.entries(needed.inputRequests ?? {})) {
      inputResponses[key] = yield* Effect.mapError(
        peer.resolve(method, params, { call, isCertain: true }),
        ({ message }) => new McpFailed({ message: `needs an answer that it cannot get here. ${message}` })
      )
    }
    return { inputResponses, ...(needed.requestState === undefined ? {} : { requestState: needed.requestState }) }
  })

  const showPages = Effect.fnUntraced(function* (failure: McpFailed, call: OpenCall) {
    const pages = failure.code === PAGE_FIRST ? Option.getOrUndefined(decodePagesFirst(failure.data)) : undefined
    if (pages === undefined) return yield* failure
    const answers = yield* Effect.forEach(pages.elicitations, (page) =>
      Effect.option(peer.resolve("elicitation/create", page, { call, isCertain: true }))
    )
    const isShown = answers.every((answer) => Option.isSome(answer) && answer.value["action"] === "accept")
    const where = pages.elicitations
      .slice(0, MAX_NAMED_PAGES)
      .map(({ url }) => addressOf(url))
      .join(" and ")
    return yield* new McpFailed({
      message: isShown
        ? "wants the user to finish something on a page first, which the user was shown. Call the tool again when the user says that it is done"
        : `wants the user to open ${where} first. Tell the user, and call the tool again when the user says that it is done`
    })
  })

  const converse = Effect.fnUntraced(function* (
    tool: McpTool,
    input: Readonly<Record<string, Schema.Json>>,
    call: OpenCall
  ) {
    let more: Schema.JsonObject = {}
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const params = { name: tool.name, arguments: input, ...more }
      const result = yield* Effect.catch(request("tools/call", params, { isModern, tool, call }), (failure) =>
        showPages(failure, call)
      )
      const needed = isModern ? decodeInputRequired(result) : Option.none()
      if (Option.isNone(needed)) return yield* decodeResult(result)
      more = yield* inputFor(needed.value, call)
    }
    return yield* new McpFailed({ message: `asked for more input ${MAX_ROUNDS} times and gave no result` })
  })

  return {
    kind: transport.kind,
    revision,
    software,
    listed,
    call: Effect.fnUntraced(function* (tool, input, { limit, ...context }) {
      const patience = yield* Patience.make(limit)
      const tooLate = new McpFailed({
        message:
          limit.of === "total"
            ? `did not finish the call within ${Duration.format(limit.limit)}, its limit in the settings`
            : `gave no sign of progress for ${Duration.format(limit.limit)}, so the call was ended`
      })
      return yield* Effect.raceFirst(
        converse(tool, input, { ...context, patience }),
        Effect.andThen(patience.expired, tooLate)
      )
    }),
    prompts: Effect.map(Fiber.await(prompted), () => prompts),
    prompt: offered.get,
    lost: transport.lost
  }
})
