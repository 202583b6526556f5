/** What tells a browser that a page may see the answers of this server. Which pages may is for the guard to say. */
import * as Effect from "effect/Effect"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { Guard } from "./Guard.ts"

const exposed = "acp-connection-id, retry-after"
const verbs = "GET, POST, DELETE"
const sent = "authorization, content-type, accept, acp-connection-id, acp-session-id, last-event-id"

/** Adds what the page at `origin` needs to read the answer; nothing without one. */
const allow = (
  response: HttpServerResponse.HttpServerResponse,
  origin: string | undefined
): HttpServerResponse.HttpServerResponse =>
  origin === undefined
    ? response
    : HttpServerResponse.setHeaders(response, {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": exposed,
        vary: "origin"
      })

/** Answers the question that a browser asks before it sends a request with headers of its own. */
const preflight = (origin: string): HttpServerResponse.HttpServerResponse =>
  allow(
    HttpServerResponse.empty({
      headers: {
        "access-control-allow-methods": verbs,
        "access-control-allow-headers": sent,
        "access-control-max-age": "600"
      }
    }),
    origin
  )

/**
 * The same application for browsers too. Pages that are not admitted get no word of it and not even "*": then any page
 * could try secrets, and lock its visitor out by that.
 */
export const share = <E, R>(
  { admits }: Pick<Guard, "admits">,
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest, ({ headers, method }) => {
    const { origin } = headers
    if (!admits(headers)) return app
    return method === "OPTIONS" && origin !== undefined
      ? Effect.succeed(preflight(origin))
      : Effect.map(app, (response) => allow(response, origin))
  })
