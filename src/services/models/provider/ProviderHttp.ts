/**
 * HTTP for provider packages: honours HTTP_PROXY, HTTPS_PROXY and NO_PROXY, never gives up on a slow server by itself,
 * names this program as the user agent, and tells when bytes arrive.
 */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { version } from "../../../domain/Version.ts"
import { makeProxyAgent } from "../../network/ProxyAgent.ts"
import type { Send as Ask } from "../GetJson.ts"
import { bounded } from "./AnswerLimits.ts"
import { requireStream } from "./StreamedAnswer.ts"

export interface ProviderHttp {
  readonly fetch: typeof globalThis.fetch
  /** A request whose answer is no stream. */
  readonly send: Ask
  /** Calls back for each piece of the answer, its head included, to the request that is made with this signal. */
  readonly observe: (signal: AbortSignal, onBytes: () => void) => void
}

const USER_AGENT = `super-pi/${version}`

/** A local model may read a long prompt for many minutes: whoever asks decides how long to wait. */
const PATIENT = { headersTimeout: 0, bodyTimeout: 0 }

type Send = (url: string, init: object) => Promise<Response>

/** Where Node keeps the dispatcher of its own `fetch`. */
const DISPATCHER = Symbol.for("undici.globalDispatcher.1")

const isDispatcher = (value: unknown): value is { readonly dispatch: (options: object, handler: object) => boolean } =>
  Predicate.hasProperty(value, "dispatch") && typeof value.dispatch === "function"

/** The `fetch` of Node, whose connections belong to the process; absent where that keeps its dispatcher elsewhere. */
const ownFetch = Effect.sync((): Send | undefined => {
  // Node makes it with the first of the classes of its `fetch`.
  const connections = new Headers() instanceof Headers ? Reflect.get(globalThis, DISPATCHER) : undefined
  if (!isDispatcher(connections)) return undefined
  const dispatcher = {
    dispatch: (options: object, handler: object) => connections.dispatch({ ...options, ...PATIENT }, handler)
  }
  return (url, init) => {
    const request: object = { ...init, dispatcher }
    // @effect-diagnostics-next-line globalFetch:off
    return fetch(url, request)
  }
})

/** The same from a package that knows proxies, and that takes longer to load than a request takes. */
const proxyFetch: Effect.Effect<Send, never, Scope.Scope> = Effect.gen(function* () {
  const undici = yield* Effect.promise(() => import("undici"))
  const dispatcher = yield* makeProxyAgent(PATIENT)
  return (url, init) =>
    undici
      .fetch(url, { ...init, dispatcher })
      .then(
        ({ body, headers, status, statusText }) => new Response(body, { status, statusText, headers: [...headers] })
      )
})

const hasProxy = Effect.map(
  Effect.forEach(["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"], (name) =>
    Effect.option(Config.NonEmptyString(name).parse(ConfigProvider.fromEnv()))
  ),
  (found) => found.some(({ _tag }) => _tag === "Some")
)

/** Connections are kept for later requests. */
export const make: Effect.Effect<ProviderHttp, never, Scope.Scope> = Effect.gen(function* () {
  const own = (yield* hasProxy) ? undefined : yield* ownFetch
  const send = own ?? (yield* proxyFetch)
  const observers = new WeakMap<AbortSignal, () => void>()
  return {
    send: (url, { headers, ...init }) => send(url, { ...init, headers: { ...headers, "user-agent": USER_AGENT } }),
    observe: (signal, onBytes) => {
      observers.set(signal, onBytes)
    },
    fetch: (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set("user-agent", USER_AGENT)
      const signal = init?.signal ?? null
      const onBytes = (signal === null ? undefined : observers.get(signal)) ?? (() => {})
      const answer = send(input instanceof Request ? input.url : String(input), {
        method: init?.method ?? "GET",
        headers: [...headers],
        body: typeof init?.body === "string" ? init.body : null,
        // A redirect would take the key along: only the header `authorization` is kept from other hosts.
        redirect: "manual",
        signal
      })
      return answer
        .then(({ body, headers, status, statusText }) => {
          onBytes()
          const isStream = status < 300 && (headers.get("content-type") ?? "").includes("event-stream")
          const read = body === null ? null : bounded(body, isStream, onBytes)
          return new Response(read, { status, statusText, headers })
        })
        .then(requireStream)
    }
  }
})
