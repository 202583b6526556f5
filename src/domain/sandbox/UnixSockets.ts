/** Servers of this machine that can be reached by a path, whatever may be read or written: `/proc/net/unix`. */

/** Flag of a socket that accepts connections, and the type of one that needs none to be accepted. */
const ACCEPTS = 0x10000
const DATAGRAM = 2

export const socketPaths = (table: string): ReadonlyArray<string> => [
  ...new Set(
    table.split("\n").flatMap((line) => {
      const match = /^\S+ \S+ \S+ (\S+) (\S+) \S+ +\d+ (\/.+)$/.exec(line)
      const [, flags = "0", type = "0", path] = match ?? []
      const serves = (Number.parseInt(flags, 16) & ACCEPTS) !== 0 || Number.parseInt(type, 16) === DATAGRAM
      return path !== undefined && serves ? [path] : []
    })
  )
]
