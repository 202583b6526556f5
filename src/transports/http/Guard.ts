/**
 * Who may come in over a network, decided before anything else: the page that a browser shows, the secret, and how often
 * an address was wrong about it.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import { isIP, isIPv6 } from "node:net"
import * as Attempts from "./Attempts.ts"
import type { Refusal, UpgradeRequest } from "./Upgrades.ts"

/** What a guard looks at. Names of headers are in lower case. */
export type Knock = Pick<UpgradeRequest, "headers" | "query" | "remoteAddress">

/** The same of a request that is no upgrade. */
export const knockOf = ({ headers, remoteAddress, url }: HttpServerRequest): Knock => ({
  headers,
  query: URL.parse(url, "http://localhost")?.searchParams ?? new URLSearchParams(),
  remoteAddress: Option.getOrElse(remoteAddress, () => "")
})

export interface Guard {
  /** Nothing if the request may come in. */
  readonly check: (knock: Knock) => Effect.Effect<Refusal | undefined>
  /** Whether a page of this origin may talk to the server; for answers that a browser is to hand to it. */
  readonly admits: (headers: Knock["headers"]) => boolean
}

export interface GuardOptions {
  readonly secret: Redacted.Redacted<string>
  /** Where the server listens. */
  readonly bind: { readonly host: string; readonly port: number }
  /** Origins of pages that may come in beside those of the server itself, and names by which the server is known. */
  readonly origins?: ReadonlyArray<string>
  /** Query parameters that may hold the secret. Default `server-key`. */
  readonly query?: ReadonlyArray<string>
}

/** The subprotocol that a browser offers beside the one with the secret, for a browser wants one to be chosen. */
export const protocol = "acp"

/** In front of the secret, in base64url without padding, in the name of a subprotocol. */
export const secretProtocol = "super-pi.secret."

/** Query parameters that may hold the secret, unless others are named. */
export const usualQuery: ReadonlyArray<string> = ["server-key"]

/** Characters of a secret that is not guessed. */
const STRONG = 16

/** What is wrong with a secret for an open network; nothing if it is strong. */
export const weaknessOf = (secret: string): string | undefined => {
  if (secret.trim() === "") return "it is empty"
  if (secret.length < STRONG) return `it has ${secret.length} characters, and ${STRONG} are the least`
  return new Set(secret).size < STRONG / 2 ? "it is made of few different characters" : undefined
}

/** A name or an address in one spelling, without brackets; nothing if it is neither. */
const hostOf = (url: string): string | undefined =>
  URL.parse(url)
    ?.hostname.replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")

const plain = (host: string): string => hostOf(`http://${isIPv6(host) ? `[${host}]` : host}`) ?? host.toLowerCase()

/** Whether only this machine reaches the address or name. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || /^(127\.|::1$|::ffff:(127\.|7f..:))/.test(isIP(plain(host)) === 0 ? "" : plain(host))

const bearer = /^bearer(?:\s+(.*))?$/i

const offered = (headers: Knock["headers"]): ReadonlyArray<string> =>
  (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim())

/** The subprotocol to answer with, of those that the client offers: never the one that holds the secret. */
export const protocolOf = (headers: Knock["headers"]): string | undefined =>
  offered(headers).includes(protocol) ? protocol : undefined

/** Nothing but what the encoder writes is taken: one secret, one spelling. */
const decode = (encoded: string): string => {
  const bytes = Buffer.from(encoded, "base64url")
  return bytes.toString("base64url") === encoded ? bytes.toString() : ""
}

/** An `Authorization: Bearer` decides alone; then a query parameter, then a subprotocol. */
export const secretOf = ({ headers, query }: Knock, names: ReadonlyArray<string>): string | undefined => {
  const header = bearer.exec(headers["authorization"]?.trim() ?? "")
  if (header !== null) return header[1] ?? ""
  const name = names.find((name) => query.has(name))
  if (name !== undefined) return query.get(name) ?? ""
  const encoded = offered(headers).find((protocol) => protocol.startsWith(secretProtocol))
  return encoded === undefined ? undefined : decode(encoded.slice(secretProtocol.length))
}

const digest = (secret: string): Buffer => createHash("sha256").update(secret).digest()

const unauthorized: Refusal = {
  status: 401,
  body: "Invalid or missing authorization token",
  headers: { "WWW-Authenticate": "Bearer" }
}

const forbidden = (what: string): Refusal => ({
  status: 403,
  body: `${what} is not allowed: if it should be, name it when the server is started, with --allow-origin`
})

/** One spelling of an origin, whatever its scheme. */
const spell = (origin: string): string => origin.trim().toLowerCase().replace(/\/$/, "")

/** Which pages and names a server at `bind` knows. A page that had its own name point here is known by that name. */
const makeDoor = ({ bind, origins = [] }: GuardOptions) => {
  const local = isLoopback(bind.host)
  const pages = new Set(origins.map(spell))
  const names = new Set([plain(bind.host), ...origins.flatMap((origin) => hostOf(origin) ?? [])])
  const isOurs = (host: string): boolean => names.has(host) || isLoopback(host) || (!local && isIP(host) !== 0)
  const admits = ({ host = "", origin }: Knock["headers"]): boolean => {
    if (origin === undefined || pages.has(spell(origin))) return true
    const page = URL.parse(origin)
    if (page === null || !/^https?:$/.test(page.protocol)) return false
    const name = hostOf(origin) ?? ""
    return (local && isLoopback(name)) || name === plain(bind.host) || page.host === URL.parse(`http://${host}`)?.host
  }
  return {
    admits,
    refusal: (headers: Knock["headers"]): Refusal | undefined => {
      const host = hostOf(`http://${headers["host"] ?? ""}`)
      if (host === undefined || !isOurs(host)) return forbidden("The Host of the request")
      return admits(headers) ? undefined : forbidden("The Origin of the request")
    }
  }
}

/** A guard of its own memory: make one for each port. */
export const make = (options: GuardOptions): Effect.Effect<Guard> =>
  Effect.sync(() => {
    const expected = digest(Redacted.value(options.secret))
    const attempts = Attempts.make()
    const door = makeDoor(options)

    const check = Effect.fnUntraced(function* (knock: Knock) {
      const stranger = door.refusal(knock.headers)
      if (stranger !== undefined) return stranger
      const given = secretOf(knock, options.query ?? usualQuery)
      if (given === undefined || given === "") return unauthorized
      const now = yield* Clock.currentTimeMillis
      const wait = attempts.wait(knock.remoteAddress, now)
      if (wait > 0) {
        return {
          status: 429,
          body: "Too many wrong secrets came from this address: wait before the next one",
          headers: { "Retry-After": String(Math.ceil(wait / 1000)) }
        }
      }
      if (timingSafeEqual(digest(given), expected)) return undefined
      if (attempts.fail(knock.remoteAddress, now)) {
        yield* Effect.logWarning(`Too many wrong secrets came from ${knock.remoteAddress}: it has to wait`)
      }
      return unauthorized
    })

    return { check, admits: door.admits }
  })
