/**
 * The rows of the conformance list that belong to stable version 1, those of sessions that connections share, and which of
 * them the tests of a transport hold.
 */

const through = (area: string, ...ranges: ReadonlyArray<number | readonly [first: number, last: number]>) =>
  ranges.flatMap((range) => {
    const [first, last] = typeof range === "number" ? [range, range] : range
    return Array.from({ length: last - first + 1 }, (_, index) => `${area}-${String(first + index).padStart(2, "0")}`)
  })

/** What has to hold where several connections share an agent: views of one session, and clients that come back. */
export const shared: ReadonlyArray<string> = [...through("VIE", [1, 12]), ...through("REC", [1, 6])]

/** Whether connections of a transport can share an agent. */
export const isShared = ({ notApplicable }: { readonly notApplicable: object }): boolean =>
  !shared.every((row) => row in notApplicable)

export const rows: ReadonlyArray<string> = [
  ...through("TR", [1, 9]),
  ...through("RPC", [1, 16]),
  ...through("INI", [1, 15]),
  ...through("AUT", [1, 9], 14),
  ...through("SES", [1, 22], 27, 29, 30),
  ...through("TRN", [1, 11], 13, 14, 16, 17),
  ...through("CAN", [1, 9]),
  ...through("TOL", [1, 11]),
  ...through("PRM", [1, 7]),
  ...through("FS", [1, 5]),
  ...through("TER", 1, 6),
  ...through("PLN", 1),
  ...through("CMD", [1, 3]),
  ...through("MOD", [1, 4]),
  ...through("CFG", [1, 6]),
  ...through("ELI", [1, 3], [7, 9]),
  ...through("MCP", [1, 6], 8),
  ...through("EXT", [1, 5]),
  ...shared
]

/** The rows that a test's name begins with, such as `TR-01, TR-05 MUST …`. */
export const rowsOf = (name: string): ReadonlyArray<string> => {
  const [head] = /^[A-Z]+-\d\d(, [A-Z]+-\d\d)* /.exec(name) ?? []
  if (head === undefined) throw new Error(`The name of this test begins with no row: ${name}`)
  const found = head.trim().split(", ")
  const unknown = found.find((row) => !rows.includes(row))
  if (unknown !== undefined) throw new Error(`There is no row ${unknown}: ${name}`)
  return found
}

const held = new Map<string, Set<string>>()

/** Notes that a transport has a test of that name. */
export const hold = (transport: string, name: string): void => {
  const known = held.get(transport) ?? new Set()
  held.set(transport, known)
  for (const row of rowsOf(name)) known.add(row)
}

export const isHeld = (transport: string, row: string): boolean => held.get(transport)?.has(row) === true
