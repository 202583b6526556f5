/** Where a server listens, and how a person writes that. */
import * as Result from "effect/Result"

export interface Address {
  readonly host: string
  /** 0 is any that is free. */
  readonly port: number
}

/** As a URL has it. */
export const authority = ({ host, port }: Address): string => `${host.includes(":") ? `[${host}]` : host}:${port}`

const portOf = (text: string): number | undefined => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity
  return port <= 65_535 ? port : undefined
}

/**
 * `host:port`, `[::1]:port`, or a port alone for this machine only; a host alone has the port `usual`. Fails with what
 * was expected, for the person who wrote it.
 */
export const parse = (text: string, usual: number): Result.Result<Address, string> => {
  const choice = (port: number | string) =>
    `127.0.0.1:${port} for this machine only, or 0.0.0.0:${port} for every address of it`
  const alone = portOf(text)
  if (alone !== undefined) return Result.succeed({ host: "127.0.0.1", port: alone })
  const [, open] = /^\*?:(\d+)$/.exec(text) ?? []
  if (open !== undefined) return Result.fail(`an address before the port: ${choice(open)}`)
  if (/^[a-z]+:\/\//i.test(text)) return Result.fail(`no URL, but ${choice(usual)}`)
  const [, v6, name, digits] = /^(?:\[([\da-f:.]+)\]|([^\s:/[\]]+))(?::(.*))?$/i.exec(text) ?? []
  const host = v6 ?? name
  if (host === undefined) {
    return Result.fail(
      text.split(":").length > 2 ? `brackets around an IPv6 address, such as [::1]:${usual}` : choice(usual)
    )
  }
  const port = digits === undefined ? usual : portOf(digits)
  return port === undefined
    ? Result.fail("a port from 0 to 65535, where 0 is any that is free")
    : Result.succeed({ host, port })
}
