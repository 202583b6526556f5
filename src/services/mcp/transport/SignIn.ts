/** What a person can do about a server that wants to know who asks: it says where its tokens come from (RFC 9728). */
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { clip } from "../../../domain/text/Clip.ts"
import * as Lenient from "../../../domain/wire/Lenient.ts"
import type { McpFailed } from "./McpTransport.ts"

const WAIT = "5 seconds"
const MAX_SHOWN = 300
const MAX_SCOPES = 20
const MAX_CHALLENGE = 4_000

export interface SignInOptions {
  readonly response: HttpClientResponse
  readonly url: string
  /** Whether an `Authorization` header went with the request. */
  readonly isGiven: boolean
  /** Gets a text, without any of the headers of the server. */
  readonly fetch: (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<string, McpFailed>
}

const Metadata = Schema.fromJsonString(
  Schema.Struct({
    authorization_servers: Lenient.drop(Schema.Array(Schema.String)),
    scopes_supported: Lenient.drop(Schema.Array(Schema.String))
  })
)
const decodeMetadata = Schema.decodeUnknownEffect(Metadata)

/** Parameters of the challenge, by name. */
const challengeOf = (header: string): ReadonlyMap<string, string> =>
  new Map(
    [...clip(header, MAX_CHALLENGE).matchAll(/\b(\w{1,40})="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value
    ])
  )

/** What is shown is an address and nothing else that a server may want to say. */
const shown = (text: string): string | undefined => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol)
    ? clip(`${url.origin}${url.pathname === "/" ? "" : url.pathname}`, MAX_SHOWN)
    : undefined
}

/** Scopes are words for programs: no sentence to whoever reads this can be made of what is left. */
const scopesIn = (text: string): string =>
  text
    .split(/\s+/)
    .filter((scope) => /^[\w.:/*+-]{1,100}$/.test(scope))
    .slice(0, MAX_SCOPES)
    .join(" ")

/** The address that the server names, and the usual ones; always of the server's own host, which knows of us already. */
const places = (url: string, named: string | undefined): ReadonlyArray<string> => {
  const { origin, pathname } = new URL(url)
  const usual = `${origin}/.well-known/oauth-protected-resource`
  const all = [named, pathname === "/" ? undefined : `${usual}${pathname}`, usual]
  return all.flatMap((place) => (place !== undefined && URL.parse(place)?.origin === origin ? [place] : []))
}

export const signInText = Effect.fnUntraced(function* ({ fetch, isGiven, response, url }: SignInOptions) {
  const challenge = challengeOf(response.headers["www-authenticate"] ?? "")
  const named = challenge.get("resource_metadata")
  const metadata = yield* Effect.firstSuccessOf(
    places(url, named).map((place) => Effect.flatMap(fetch(HttpClientRequest.get(place)), decodeMetadata))
  ).pipe(Effect.timeout(WAIT), Effect.option)
  const servers = Option.match(metadata, {
    onNone: () => [],
    onSome: ({ authorization_servers = [] }) => authorization_servers.flatMap((server) => shown(server) ?? [])
  })
  const scopes = clip(scopesIn(challenge.get("scope") ?? ""), MAX_SHOWN)
  const where =
    servers[0] !== undefined
      ? `Its authorization server is ${servers[0]}`
      : `How to sign in is described at ${(named === undefined ? undefined : shown(named)) ?? new URL(url).origin}`
  const problem =
    response.status === 403
      ? "refused access (HTTP status 403): what it was given does not allow that"
      : isGiven
        ? "did not accept the Authorization header that it was given (HTTP status 401)"
        : "wants to know who asks (HTTP status 401)"
  const need = scopes === "" ? "" : ` for the scopes ${scopes}`
  return `${problem}. ${where}. Get a token there${need}, and give it to the server as the header Authorization = "Bearer …": in the editor's settings of this server, or under headers in config.toml`
})
