/**
 * HTTP for provider packages: honours HTTP_PROXY, HTTPS_PROXY and NO_PROXY, never gives up on a slow server by itself,
 * names this program as the user agent, and tells when bytes arrive.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { EnvHttpProxyAgent, fetch } from "undici"
import { version } from "../../../domain/Version.ts"

export interface ProviderHttp {
  readonly fetch: typeof globalThis.fetch
  /** Calls back for each piece of the answer, its head included, to the request that is made with this signal. */
  readonly observe: (signal: AbortSignal, onBytes: () => void) => void
}

const USER_AGENT = `super-pi/${version}`

/** Connections are kept for later requests and closed with the scope. */
export const make: Effect.Effect<ProviderHttp, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    // A local model may read a long prompt for many minutes: whoever asks decides how long to wait.
    Effect.sync(() => new EnvHttpProxyAgent({ headersTimeout: 0, bodyTimeout: 0 })),
    (agent) => Effect.promise(() => agent.destroy())
  ),
  (dispatcher) => {
    const observers = new WeakMap<AbortSignal, () => void>()
    return {
      observe: (signal, onBytes) => {
        observers.set(signal, onBytes)
      },
      fetch: (input, init) => {
        const headers = new Headers(init?.headers)
        headers.set("user-agent", USER_AGENT)
        const signal = init?.signal ?? null
        const onBytes = signal === null ? undefined : observers.get(signal)
        return fetch(input instanceof Request ? input.url : input, {
          method: init?.method ?? "GET",
          headers: [...headers],
          body: typeof init?.body === "string" ? init.body : null,
          signal,
          dispatcher
        }).then(({ body, headers, status, statusText }) => {
          onBytes?.()
          const observed = body?.pipeThrough(
            new TransformStream<Uint8Array, Uint8Array>({
              transform: (bytes, controller) => {
                onBytes?.()
                controller.enqueue(bytes)
              }
            })
          )
          return new Response(observed ?? null, { status, statusText, headers: [...headers] })
        })
      }
    }
  }
)
