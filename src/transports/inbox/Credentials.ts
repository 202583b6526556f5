/** Who may use the inbox: whoever has its secret, or a token that was given for it and has not run out. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Redacted from "effect/Redacted"
import { createHmac, timingSafeEqual } from "node:crypto"
import { type Guard, type Knock, knockOf, secretOf } from "../http/Guard.ts"
import * as Failures from "./Failures.ts"

type Refused = Failures.Unauthorized | Failures.Forbidden | Failures.TooManyRequests

export interface Credentials {
  /** Fails unless the request has the secret or a token. */
  readonly admit: (request: HttpServerRequest) => Effect.Effect<void, Refused>
  /** Fails if the server is not known by the name, or to the page, that the request came by. */
  readonly receive: (request: HttpServerRequest) => Effect.Effect<void, Failures.Forbidden>
  /** A token for whoever knows the secret. */
  readonly login: (request: HttpServerRequest, password: Redacted.Redacted<string>) => Effect.Effect<string, Refused>
}

/** Query parameters that may hold the secret or a token: a browser's EventSource can set no header. */
export const parameters = ["token", "server-key"]

/** Milliseconds for which a token is good: 30 days. A new secret ends all of them. */
const LIFETIME = 30 * 24 * 60 * 60 * 1000

export const make = (guard: Guard, secret: Redacted.Redacted<string>): Credentials => {
  /** The end of its time and a proof that this server set it: nothing is kept, and the secret is not in it. */
  const tokenUntil = (end: string): string =>
    `${end}.${createHmac("sha256", Redacted.value(secret)).update(`super-pi inbox ${end}`).digest("base64url")}`

  const isToken = (given: string, now: number): boolean => {
    const [end = ""] = given.split(".")
    const token = Buffer.from(tokenUntil(end))
    const other = Buffer.from(given)
    return token.length === other.length && timingSafeEqual(token, other) && Number.parseInt(end, 36) > now
  }

  const showing = (knock: Knock, shown: string): Knock => ({
    ...knock,
    headers: { ...knock.headers, authorization: `Bearer ${shown}` }
  })

  const check = Effect.fnUntraced(function* (knock: Knock) {
    const refusal = yield* guard.check(knock)
    if (refusal !== undefined) return yield* Failures.ofGuard(refusal)
  })

  return {
    admit: Effect.fnUntraced(function* (request) {
      const knock = knockOf(request)
      const given = secretOf(knock, parameters)
      const now = yield* Clock.currentTimeMillis
      yield* check(given !== undefined && isToken(given, now) ? showing(knock, Redacted.value(secret)) : knock)
    }),
    receive: Effect.fnUntraced(function* (request) {
      // Nobody in particular, so that an address that has to wait can still see whether the server lives.
      const refusal = yield* guard.check({ ...showing(knockOf(request), Redacted.value(secret)), remoteAddress: "" })
      if (refusal?.status === 403) return yield* new Failures.Forbidden({ error: refusal.body })
    }),
    login: Effect.fnUntraced(function* (request, password) {
      yield* check(showing(knockOf(request), Redacted.value(password)))
      return tokenUntil(((yield* Clock.currentTimeMillis) + LIFETIME).toString(36))
    })
  }
}
