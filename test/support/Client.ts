/**
 * One connection to an agent, with two drivers at once: the official SDK's client, and a raw one for what the SDK cannot
 * say. Both use the same lines, so the SDK sees whatever the agent tells, and the transcript has all of it.
 */
import {
  type AgentRequestMethod,
  type AgentRequestParamsByMethod,
  type AgentRequestResponsesByMethod,
  client as sdkClient,
  type ClientCapabilities,
  type ClientContext,
  type ClientRequestContext,
  type ClientRequestHandlersByMethod,
  type ClientRequestMethod,
  type ClientRequestParamsByMethod,
  type InitializeResponse,
  ndJsonStream,
  RequestError
} from "@agentclientprotocol/sdk"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { format } from "node:util"
import { type Entry, makeTranscript, type Message, type Transcript } from "./Transcript.ts"
import type { AgentOptions, Channel, Transport } from "./Transports.ts"

type Json = Schema.Json
type Results = AgentRequestResponsesByMethod
type Params = AgentRequestParamsByMethod

/** A request of the agent that waits for its answer. */
export interface Question<Method extends ClientRequestMethod = ClientRequestMethod> {
  readonly id: Json
  readonly params: ClientRequestParamsByMethod[Method]
  readonly answer: (result: object | null) => Effect.Effect<void>
  readonly refuse: (code: number, message: string) => Effect.Effect<void>
  /** Answers with a line of the test's own in place of the SDK's. */
  readonly say: (fields: Readonly<Record<string, Json>>) => Effect.Effect<void>
  /** Waits until the agent has taken it back. The SDK then answers -32800 unless the test has answered. */
  readonly withdrawn: Effect.Effect<void>
}

/** A request of the client that has been sent. */
export interface Asked<A, E = RequestError> {
  readonly id: Json
  /** Index of its line in the transcript. */
  readonly at: number
  readonly answer: Effect.Effect<A, E>
  /** Waits for the answer; the index of its line. */
  readonly answeredAt: Effect.Effect<number>
  /** Takes it back by `$/cancel_request`. */
  readonly withdraw: Effect.Effect<void>
}

export interface Client {
  readonly channel: Channel
  readonly transcript: Transcript
  /** The SDK's own view of the agent. */
  readonly sdk: ClientContext
  readonly initialize: (capabilities?: ClientCapabilities) => Effect.Effect<InitializeResponse, RequestError>
  /** Sends a request and waits for its answer. */
  readonly request: <M extends AgentRequestMethod>(
    method: M,
    params: Params[M]
  ) => Effect.Effect<Results[M], RequestError>
  /** Sends a request. */
  readonly ask: <M extends AgentRequestMethod>(method: M, params: Params[M]) => Effect.Effect<Asked<Results[M]>>
  readonly notify: (method: string, params: object) => Effect.Effect<void>
  readonly asked: <M extends ClientRequestMethod>(
    method: M,
    fits?: (params: ClientRequestParamsByMethod[M]) => boolean
  ) => Effect.Effect<Question<M>>
  /** Answers all further requests of a method, in the place of `asked`; `undefined` ends that. */
  readonly always: <M extends ClientRequestMethod>(
    method: M,
    answer: ((params: ClientRequestParamsByMethod[M]) => object | null) | undefined
  ) => void
  /** Sends a line of the raw driver as it is; gives its index. */
  readonly line: (text: string) => Effect.Effect<number>
  /** Sends requests of the raw driver in bytes of the test's making, on a transport that has bytes. */
  readonly bytes: (
    lines: ReadonlyArray<string>,
    encode: (lines: ReadonlyArray<string>) => ReadonlyArray<Uint8Array>
  ) => Effect.Effect<void>
  /** Sends a request of the raw driver and waits for the answer. */
  readonly raw: (method: string, params?: object, id?: Json) => Effect.Effect<Message>
  /** Sends a request of the raw driver. Its answer is not for the SDK. */
  readonly rawAsk: (method: string, params?: object, id?: Json) => Effect.Effect<Asked<Message, never>>
  /** Waits until everything that was sent before has been read, and what it called for at once has been said. */
  readonly barrier: Effect.Effect<void>
  /** Ends the input, and waits until the agent is gone: its exit code, or -1 when it had to be killed after 5 seconds. */
  readonly end: Effect.Effect<number>
  /** Cuts the connection off by one of the ways of the channel, and waits until the agent is gone. */
  readonly cut: (how: "hangUp" | "kill") => Effect.Effect<number>
  readonly isOver: () => boolean
}

const clientMethods: ReadonlyArray<ClientRequestMethod> = [
  "session/request_permission",
  "fs/read_text_file",
  "fs/write_text_file",
  "terminal/create",
  "terminal/output",
  "terminal/release",
  "terminal/wait_for_exit",
  "terminal/kill",
  "elicitation/create"
]

/** The SDK cancels by a signal. */
const makeCancelling = (): AbortController => new AbortController()

const complainers = new Set<(text: string) => void>()
const consoleError = console.error

/** The SDK tells of what it does not understand on the console only. */
const listenToConsole = (complain: (text: string) => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      complainers.add(complain)
      console.error = (...args) => {
        for (const heed of complainers) heed(format(...args))
      }
    }),
    () =>
      Effect.sync(() => {
        complainers.delete(complain)
        if (complainers.size === 0) console.error = consoleError
      })
  )

interface Arrived {
  readonly method: ClientRequestMethod
  readonly question: Question
}

/** Requests of the agent until a test takes them. */
const makeQuestions = () => {
  const arrived: Array<Arrived> = []
  const waiting = new Set<() => void>()
  return {
    add(one: Arrived) {
      arrived.push(one)
      for (const look of waiting) look()
    },
    take: <M extends ClientRequestMethod>(method: M, fits: (params: ClientRequestParamsByMethod[M]) => boolean) =>
      Effect.callback<Question<M>>((resume) => {
        const look = () => {
          const index = arrived.findIndex(
            (one) => one.method === method && fits(one.question.params as ClientRequestParamsByMethod[M])
          )
          if (index === -1) return
          waiting.delete(look)
          resume(Effect.succeed(arrived.splice(index, 1)[0]?.question as Question<M>))
        }
        waiting.add(look)
        look()
        return Effect.sync(() => waiting.delete(look))
      })
  }
}

const isAnswer = ({ message }: Entry): boolean => message.method === undefined && message.id !== undefined

/** Joins the agent at the other end. `isShared`: others use its sessions, too. */
export const join = Effect.fnUntraced(function* (channel: Channel, isShared = false) {
  const transcript = makeTranscript(isShared)
  yield* listenToConsole((text) => transcript.complain(`the SDK complains: ${text}`))

  const outgoing = yield* Queue.unbounded<string>()
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(outgoing), channel.send)))
  const write = (line: string): number => {
    Queue.offerUnsafe(outgoing, line)
    return transcript.add("client", line)
  }

  /** Ids of requests of the raw driver without answer, and of requests of the agent that a test answers by itself. */
  const rawIds = new Set<string>()
  const overruled = new Set<string>()
  let rawCount = 0

  let toSdk: ReadableStreamDefaultController<Uint8Array> | undefined
  const fromAgent = new ReadableStream<Uint8Array>({
    start: (controller) => {
      toSdk = controller
    }
  })
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  const fromSdk = new WritableStream<Uint8Array>({
    write(bytes) {
      const line = decoder.decode(bytes).trimEnd()
      const { id, method }: Message = JSON.parse(line)
      if (method !== undefined || !overruled.delete(JSON.stringify(id))) write(line)
    }
  })

  const reading = yield* Effect.forkScoped(
    Stream.runForEach(channel.lines, (line) =>
      Effect.sync(() => {
        const { message } = transcript.entries[transcript.add("agent", line)]!
        const isRaw = message.method === undefined && (message.id === null || rawIds.delete(JSON.stringify(message.id)))
        if (!isRaw) toSdk?.enqueue(encoder.encode(`${line}\n`))
      })
    ).pipe(Effect.ensuring(Effect.sync(() => toSdk?.close())))
  )

  const questions = makeQuestions()
  const automatic = new Map<ClientRequestMethod, (params: never) => object | null>()

  const handle = <M extends ClientRequestMethod>(
    method: M,
    id: Json,
    params: ClientRequestParamsByMethod[M],
    signal: AbortSignal
  ) =>
    new Promise<object | null>((resolve, reject) => {
      const answer = automatic.get(method) as ((params: ClientRequestParamsByMethod[M]) => object | null) | undefined
      if (answer !== undefined) return resolve(answer(params))
      const question: Question<M> = {
        id,
        params,
        answer: (result) => Effect.sync(() => resolve(result)),
        refuse: (code, message) => Effect.sync(() => reject(new RequestError(code, message))),
        say: (fields) =>
          Effect.sync(() => {
            overruled.add(JSON.stringify(id))
            write(JSON.stringify({ jsonrpc: "2.0", id, ...fields }))
            resolve(null)
          }),
        withdrawn: Effect.callback((resume) => {
          if (signal.aborted) return resume(Effect.void)
          signal.addEventListener("abort", () => resume(Effect.void))
        })
      }
      signal.addEventListener("abort", () => reject(RequestError.requestCancelled({ requestId: id })))
      questions.add({ method, question })
    })

  const app = sdkClient({ name: "conformance" })
    .onNotification("session/update", () => {})
    .onNotification(
      "_superpi/session/activity",
      (params) => params,
      () => {}
    )
  const serve = <M extends ClientRequestMethod>(method: M) =>
    app.onRequest(method, ((context: ClientRequestContext<ClientRequestParamsByMethod[M]>) =>
      handle(method, context.requestId, context.params, context.signal)) as ClientRequestHandlersByMethod[M])
  for (const method of clientMethods) serve(method)

  let leave = (): void => {}
  const sdk = yield* Effect.acquireRelease(
    Effect.callback<ClientContext>((resume) => {
      const stay = new Promise<void>((resolve) => {
        leave = resolve
      })
      app
        .connectWith(ndJsonStream(fromSdk, fromAgent), (agent) => {
          resume(Effect.succeed(agent))
          return stay
        })
        // It rejects when the agent goes first, which tests do on purpose.
        .catch(() => {})
    }),
    () => Effect.sync(() => leave())
  )

  const answeredAt = (id: Json, since: number): Effect.Effect<number> =>
    transcript.find(
      (entry, index) =>
        entry.from === "agent" && isAnswer(entry) && JSON.stringify(entry.message.id) === JSON.stringify(id)
          ? index
          : undefined,
      since
    )

  /** Lines of the SDK that belong to a request of a test. */
  const claimed = new Set<number>()

  const ask: Client["ask"] = Effect.fnUntraced(function* (method, params) {
    const since = transcript.entries.length
    const cancelling = makeCancelling()
    const promise = sdk.request(method, params, { cancellationSignal: cancelling.signal })
    promise.catch(() => {})
    // The SDK writes requests in the order in which they were made.
    const at = yield* transcript.find(({ from, isRaw, message }, index) => {
      if (from !== "client" || isRaw || message.method !== method || claimed.has(index)) return undefined
      claimed.add(index)
      return index
    }, since)
    const id = transcript.entries[at]?.message.id ?? null
    const answer = Effect.tryPromise({
      try: () => promise,
      catch: (error) => (error instanceof RequestError ? error : new RequestError(-1, String(error)))
    })
    return { id, at, answer, answeredAt: answeredAt(id, at), withdraw: Effect.sync(() => cancelling.abort()) }
  })

  const note = (line: string): number => {
    const index = transcript.add("client", line, true)
    const { id, method } = transcript.entries[index]!.message
    if (id !== undefined && method !== undefined) rawIds.add(JSON.stringify(id))
    return index
  }

  const line: Client["line"] = (text) =>
    Effect.sync(() => {
      Queue.offerUnsafe(outgoing, text)
      return note(text)
    })

  const rawAsk: Client["rawAsk"] = Effect.fnUntraced(function* (method, params, id = `raw-${rawCount++}`) {
    const at = yield* line(JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) }))
    const answered = answeredAt(id, at)
    const answer = Effect.map(answered, (index) => transcript.entries[index]!.message)
    const withdrawal = JSON.stringify({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } })
    return { id, at, answer, answeredAt: answered, withdraw: Effect.asVoid(line(withdrawal)) }
  })

  const raw: Client["raw"] = (method, params, id) => Effect.flatMap(rawAsk(method, params, id), ({ answer }) => answer)

  const request: Client["request"] = (method, params) => Effect.flatMap(ask(method, params), ({ answer }) => answer)

  let over = false

  const end = Effect.gen(function* () {
    over = true
    yield* channel.end
    const code = yield* Effect.timeoutOption(channel.ended, "5 seconds")
    if (code._tag === "None") {
      transcript.complain("the agent did not end after the end of its input (TR-07)")
      yield* channel.kill
    }
    yield* Fiber.await(reading)
    transcript.close()
    return code._tag === "Some" ? code.value : -1
  })

  const cut = Effect.fnUntraced(function* (how: "hangUp" | "kill") {
    over = true
    yield* channel[how]
    const code = yield* channel.ended
    yield* Fiber.await(reading)
    return code
  })

  const client: Client = {
    channel,
    transcript,
    initialize: (capabilities = {}) =>
      request("initialize", {
        protocolVersion: 1,
        clientCapabilities: capabilities,
        clientInfo: { name: "conformance", version: "1" }
      }),
    request,
    ask,
    notify: (method, params) => Effect.promise(() => sdk.notify(method, params)),
    asked: (method, fits = () => true) => questions.take(method, fits),
    always(method, answer) {
      if (answer === undefined) automatic.delete(method)
      else automatic.set(method, answer)
    },
    sdk,
    line,
    bytes: (lines, encode) =>
      Effect.suspend(() => {
        for (const line of lines) note(line)
        return Effect.forEach(encode(lines), (chunk) => channel.write?.(chunk) ?? Effect.die("no bytes here"), {
          discard: true
        })
      }),
    raw,
    rawAsk,
    barrier: Effect.asVoid(raw("_conformance/barrier")),
    end,
    cut,
    isOver: () => over
  }
  return client
})

/** Starts an agent and joins it. */
export const open = (transport: Transport, options: AgentOptions) => Effect.flatMap(transport.open(options), join)
