/** What tells a browser that a page may see the answers of this server. Which pages may is for the guard to say. */
import * as HttpServerResponse from "effect/http/HttpServerResponse"

const exposed = "acp-connection-id, retry-after"
const verbs = "GET, POST, DELETE"
const sent = "authorization, content-type, accept, acp-connection-id, acp-session-id, last-event-id"

/** Adds what the page at `origin` needs to read the answer; nothing without one. */
export const allow = (
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
export const preflight = (origin: string): HttpServerResponse.HttpServerResponse =>
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
