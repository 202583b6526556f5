/**
 * One request and its answer, without following anything. The connection goes to the very addresses that were checked: the
 * name is not resolved a second time, so that it cannot mean something else by then.
 */
import * as Effect from "effect/Effect"
import type { LookupFunction } from "node:net"
import type { Environment } from "../../domain/ChildEnvironment.ts"
import { version } from "../../domain/Version.ts"
import { makeProxyAgent } from "../network/ProxyAgent.ts"
import { WebFailed } from "../Web.ts"
import type { ResolvedAddress } from "./Resolver.ts"

export interface Answered {
  readonly status: number
  readonly statusText: string
  readonly header: (name: string) => string | undefined
  /** All of it, decompressed; fails as soon as it is more than the limit. */
  readonly body: (limit: number) => Effect.Effect<Uint8Array, WebFailed>
}

/** `addresses`: where the host may be reached; absent when only a proxy can tell. */
export interface Exchange {
  readonly url: URL
  readonly addresses: ReadonlyArray<ResolvedAddress> | undefined
  readonly environment: Environment
}

const HEADERS = {
  "user-agent": `super-pi/${version}`,
  accept:
    "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5"
}

const noAddress = new Error("its name has no address here")

const pinned =
  (addresses: ReadonlyArray<ResolvedAddress> | undefined): LookupFunction =>
  (_, { all }, callback) => {
    const [first] = addresses ?? []
    if (addresses === undefined || first === undefined) callback(noAddress, "")
    else if (all === true) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }

const variable = (environment: Environment, name: string): string =>
  environment[name.toLowerCase()] ?? environment[name] ?? ""

/** Whether anything may go through a proxy. */
export const hasProxy = (environment: Environment): boolean =>
  ["HTTP_PROXY", "HTTPS_PROXY"].some((name) => variable(environment, name) !== "")

/** What the network said at the bottom of a failure. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "the connection failed"
  if (error.cause !== undefined) return reasonOf(error.cause)
  const [first] = error instanceof AggregateError ? error.errors : []
  return first instanceof Error ? first.message : error.message
}

const broken = (url: URL) => (error: unknown) =>
  new WebFailed({ message: `${url.href} could not be fetched: ${reasonOf(error)}` })

const read = (
  url: URL,
  stream: { readonly getReader: () => ReadableStreamDefaultReader<Uint8Array> } | null,
  limit: number
): Effect.Effect<Uint8Array, WebFailed> =>
  stream === null
    ? Effect.succeed(new Uint8Array())
    : Effect.gen(function* () {
        const reader = stream.getReader()
        const chunks: Array<Uint8Array> = []
        let size = 0
        while (true) {
          const { done, value } = yield* Effect.tryPromise({ try: () => reader.read(), catch: broken(url) })
          if (done) return Buffer.concat(chunks)
          chunks.push(value)
          size += value.length
          if (size > limit) {
            return yield* new WebFailed({
              message: `${url.href} is larger than ${Math.floor(limit / 1024 / 1024)} MB, which is the most that is fetched`
            })
          }
        }
      })

/** The connection is closed with the scope, whatever was read of it. */
export const exchange = Effect.fnUntraced(function* ({ addresses, environment, url }: Exchange) {
  const undici = yield* Effect.promise(() => import("undici"))
  const dispatcher = yield* makeProxyAgent({
    httpProxy: variable(environment, "HTTP_PROXY"),
    httpsProxy: variable(environment, "HTTPS_PROXY"),
    noProxy: variable(environment, "NO_PROXY"),
    connect: { lookup: pinned(addresses) }
  })
  const answer = yield* Effect.tryPromise({
    try: (signal) => undici.fetch(url, { dispatcher, headers: HEADERS, redirect: "manual", signal }),
    catch: broken(url)
  })
  const { body, headers, status, statusText } = answer
  return {
    status,
    statusText,
    header: (name) => headers.get(name) ?? undefined,
    body: (limit) => read(url, body, limit)
  } satisfies Answered
})
