/** Which proxy an address is called through, by the environment variables that other programs read, too. */
import * as Result from "effect/Result"

export type Variables = Readonly<Record<string, string | undefined>>

/** Every variable that is looked at. */
export const proxyVariables: ReadonlyArray<string> = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap(
  (name) => [name.toLowerCase(), name]
)

/** The lower-case spelling wins, as it does with curl. Empty means unset. */
const read = (variables: Variables, name: string): string | undefined =>
  variables[name.toLowerCase()]?.trim() || variables[name]?.trim() || undefined

const portOf = ({ port, protocol }: URL): string =>
  port || (protocol === "wss:" || protocol === "https:" ? "443" : "80")

/** Without the brackets of IPv6 and the dot of an absolute name. */
const bare = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")

/** `*`, a host, or a domain with all below it, each with or without a port; a leading dot or `*.` changes nothing. */
const matches = (entry: string, host: string, port: string): boolean => {
  if (entry === "*") return true
  // An address of IPv6 without brackets has no port.
  const spelt = /:.*:/.test(entry) && !entry.startsWith("[") ? `[${entry}]` : entry
  const [, name = "", wanted] = /^(.*?|\[.*\])(?::(\d+))?$/.exec(spelt) ?? []
  const domain = bare(name.replace(/^\*?\./, ""))
  return domain !== "" && (wanted === undefined || wanted === port) && (host === domain || host.endsWith(`.${domain}`))
}

/** Whether name and password can be read: a `%` of their own is written `%25`. */
const isEncoded = ({ password, username }: URL): boolean =>
  [username, password].every((text) => Result.isSuccess(Result.try(() => decodeURIComponent(text))))

/** The address of the proxy, or undefined where the address is called directly. One that cannot be read is an error. */
export const proxyOf = (address: URL, variables: Variables): URL | undefined | "invalid" => {
  const isSecure = address.protocol === "wss:" || address.protocol === "https:"
  const proxy = read(variables, isSecure ? "HTTPS_PROXY" : "HTTP_PROXY") ?? read(variables, "ALL_PROXY")
  if (proxy === undefined) return undefined
  const exceptions = (read(variables, "NO_PROXY") ?? "").split(/[\s,]+/)
  if (exceptions.some((entry) => matches(entry, bare(address.hostname), portOf(address)))) return undefined
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`)
  return url !== null && /^https?:$/.test(url.protocol) && isEncoded(url) ? url : "invalid"
}
