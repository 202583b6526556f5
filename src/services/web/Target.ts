/** What may be fetched as far as its address tells: a web page on an allowed host, without credentials. */
import * as Result from "effect/Result"
import type { WebFetchSettings } from "../Settings.ts"
import { isAddress, isPublic } from "./Address.ts"

/** Characters of an address. */
export const LONGEST_URL = 2_000

const bare = (host: string): string => host.toLowerCase().replace(/\.$/, "")

/** Names that never mean a host of the public internet, wherever they resolve to. */
const isLocalName = (host: string): boolean =>
  !host.includes(".") || /\.(localhost|local|localdomain|internal|intranet|lan|home\.arpa)$/.test(host)

/** An address for `web_fetch`, without its fragment; the failure names what is wrong with it. */
export const parseTarget = (text: string): Result.Result<URL, string> => {
  if (text.length > LONGEST_URL) return Result.fail(`has ${text.length} characters; at most ${LONGEST_URL} are taken`)
  const url = URL.parse(text.trim())
  if (url === null) return Result.fail("is no complete address; write one such as https://example.com/page")
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return Result.fail(`starts with ${url.protocol}; only http: and https: are fetched`)
  }
  if (url.username !== "" || url.password !== "") {
    return Result.fail("holds a user name or password; leave them out, pages behind a sign-in cannot be fetched")
  }
  url.hash = ""
  return Result.succeed(url)
}

const remedy = "Do not try to reach it in another way; if the task needs it, ask the user to allow it"

/** Why a host may not be reached under these settings, before its name is resolved. */
export const refusalOf = ({ hostname }: URL, settings: WebFetchSettings): string | undefined => {
  const host = bare(hostname)
  const { allowLocal, allowedDomains } = settings
  const lies = (domain: string) => host === domain || host.endsWith(`.${domain}`)
  if (allowedDomains !== undefined && !allowedDomains.map(bare).some(lies)) {
    return `${host} is not among the hosts that the settings allow (toolset.web_fetch.allowed_domains). ${remedy}`
  }
  if (!allowLocal && (isAddress(host) ? !isPublic(host) : isLocalName(host))) return localRefusal(host)
  return undefined
}

export const localRefusal = (host: string): string =>
  `${host} is a host of this machine or of a private network, which is not fetched ` +
  `(toolset.web_fetch.allow_local = true in the user's configuration allows it). ${remedy}`

const usualPorts: ReadonlySet<string> = new Set(["", "80", "443"])

/** Whether a redirect stays where the user allowed: the same host but for `www.`, and never to less secrecy. */
export const staysOn = (from: URL, to: URL): boolean => {
  const name = ({ hostname }: URL) => bare(hostname).replace(/^www\./, "")
  const isSamePort = from.port === to.port || (usualPorts.has(from.port) && usualPorts.has(to.port))
  return name(from) === name(to) && isSamePort && !(from.protocol === "https:" && to.protocol === "http:")
}
