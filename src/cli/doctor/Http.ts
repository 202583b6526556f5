/** Questions to providers and servers that an answer of a second or two is enough for. Proxies of the environment count. */
import * as Effect from "effect/Effect"
import type * as Duration from "effect/Duration"

export interface Asked {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly patience: Duration.Input
}

/** `reached`: something answered, with that status. The body is not read, and no redirect is followed with a key. */
export type Answered =
  | { readonly _tag: "Reached"; readonly status: number }
  | { readonly _tag: "Unreached"; readonly reason: string }

/** Of an error of the network: what the system called it. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message || cause.name : "it failed"
}

export const get = ({ headers, patience, url }: Asked): Effect.Effect<Answered> =>
  Effect.gen(function* () {
    const undici = yield* Effect.promise(() => import("undici"))
    const dispatcher = yield* Effect.acquireRelease(
      Effect.sync(() => new undici.EnvHttpProxyAgent()),
      (agent) => Effect.promise(() => agent.destroy())
    )
    const signal = yield* Effect.abortSignal
    return yield* Effect.tryPromise({
      try: async (): Promise<Answered> => {
        const response = await undici.fetch(url, {
          dispatcher,
          signal,
          redirect: "manual",
          ...(headers && { headers })
        })
        await response.body?.cancel()
        return { _tag: "Reached", status: response.status }
      },
      catch: reasonOf
    })
  }).pipe(
    Effect.scoped,
    Effect.catch((reason) => Effect.succeed<Answered>({ _tag: "Unreached", reason })),
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.succeed<Answered>({ _tag: "Unreached", reason: "it did not answer in time" })
    })
  )
