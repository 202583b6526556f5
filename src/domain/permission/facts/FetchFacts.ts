/** What bears on fetching an address. A no is read widely, a yes narrowly. */
import { matchWildcard } from "../CommandPattern.ts"
import type { Access, Grant } from "../Permission.ts"
import type { PermissionRule } from "../PermissionRule.ts"
import { type Facts, nothing, ruled, type Situation, subjectsOf } from "./Situation.ts"

const bare = (host: string): string => host.replace(/\.$/, "").replace(/^www\./, "")

/** The host of an address without a leading `www.`; undefined for what has none. */
export const domainOf = (url: string): string | undefined => {
  const host = bare(URL.parse(url)?.hostname ?? "")
  return host === "" ? undefined : host
}

/** A domain as somebody wrote it, in the spelling of `domainOf`. */
const domainIn = (written: string): string => domainOf(`http://${written}/`) ?? written.toLowerCase()

const liesIn = (domain: string | undefined, wanted: string): boolean =>
  domain !== undefined && (domain === wanted || domain.endsWith(`.${wanted}`))

/** Spellings under which an address may be denied: as written, as a browser reads it, decoded, without credentials. */
const spellings = (url: string): ReadonlyArray<string> => {
  const parsed = URL.parse(url)
  if (parsed === null) return [url.toLowerCase()]
  const { hash, host, pathname, protocol, search } = parsed
  const plain = [bare(parsed.hostname), host, bare(host)].map(
    (name) => `${protocol}//${name}${pathname}${search}${hash}`
  )
  const all = [url, parsed.href, ...plain]
  const decoded = all.map((text) =>
    text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)))
  )
  return [...all, ...decoded].flatMap((text) => [text.toLowerCase(), text.toLowerCase().replace(/\/$/, "")])
}

const strikesUrl = (pattern: string, url: string): boolean =>
  spellings(url).some((spelling) => matchWildcard(pattern.toLowerCase(), spelling))

const anySchemed = /^(?:([a-z*?]+):\/\/)?([^/?#]*)(.*)$/is

/** What a pattern says of scheme, host and the rest. A star at the end of a host is about the rest, and no other host. */
const partsOf = (pattern: string) => {
  const [, scheme = "*", host = "", rest = ""] = anySchemed.exec(pattern) ?? []
  if (rest !== "" || !host.endsWith("*")) return { scheme, host, rest: rest === "" ? "/" : rest }
  return { scheme, host: host === "*" ? host : host.slice(0, -1), rest: "*" }
}

const coversUrl = (pattern: string, url: string): boolean => {
  const parsed = URL.parse(url)
  if (parsed === null || parsed.username !== "" || parsed.password !== "") return false
  const { hash, host, pathname, protocol, search } = parsed
  // Some servers take an encoded slash for one, and so leave a folder that the address seems to lie in.
  if (/%2f|%5c/i.test(pathname)) return false
  const wanted = partsOf(pattern)
  return (
    matchWildcard(wanted.scheme.toLowerCase(), protocol.slice(0, -1)) &&
    matchWildcard(wanted.host.toLowerCase(), host) &&
    matchWildcard(wanted.rest, `${pathname}${search}${hash}`)
  )
}

/** `domain:` is the host and all below it; any other pattern is a glob over the whole address. */
const matching =
  (url: string, byGlob: (pattern: string, url: string) => boolean) =>
  ({ pattern, tool }: PermissionRule): boolean => {
    if (tool !== "WebFetch" || pattern === undefined) return tool === "WebFetch"
    const wanted = /^domain:(.+)$/i.exec(pattern)?.[1]
    return wanted === undefined ? byGlob(pattern, url) : liesIn(domainOf(url), domainIn(wanted.trim()))
  }

export const fetchFacts = (situation: Situation, { url }: Extract<Access, { readonly _tag: "Fetch" }>): Facts => {
  const { forgetful, grants, rules } = situation
  const domain = domainOf(url)
  const strikes = matching(url, strikesUrl)
  const covers = matching(url, coversUrl)
  const concerns = ({ access, subject, verdict }: Grant) =>
    access === "Fetch" && (verdict === "reject" ? liesIn(domain, subject) : domain === subject)
  return {
    ...nothing,
    ...ruled(
      rules,
      strikes,
      strikes,
      rules.allow.some((rule) => rule.tool === "*" || covers(rule))
    ),
    rejected: [...subjectsOf(grants, "reject", "Fetch")].some((subject) => liesIn(domain, subject)),
    granted: domain !== undefined && subjectsOf(grants, "allow", "Fetch").has(domain),
    remembered: grants.filter(concerns),
    unsettled: forgetful
  }
}
