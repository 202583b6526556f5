/** Which addresses belong to the public internet. Everything else, and whatever cannot be read, is not reached. */

type Range = readonly [network: string, bits: number]

/** What IANA keeps from the public internet, and the one public address at which a cloud serves its own machines. */
const special4: ReadonlyArray<Range> = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3]
]

/** Of `2000::/3`, which is all that is handed out. 6to4 and Teredo stand for addresses of version 4. */
const special6: ReadonlyArray<Range> = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20]
]

const global6: Range = ["2000::", 3]

/** Addresses of version 4 in the lowest 32 bits, as the system and translators write them. */
const embedding6: ReadonlyArray<Range> = [
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96]
]

const number4 = (text: string): bigint | undefined => {
  const parts = text.split(".")
  const isFine = parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)
  return isFine ? parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n) : undefined
}

/** The groups of one side of `::`; a dotted end counts as two. */
const groupsOf = (text: string): ReadonlyArray<bigint> | undefined => {
  if (text === "") return []
  const groups: Array<bigint> = []
  const parts = text.split(":")
  for (const [at, part] of parts.entries()) {
    const dotted = at === parts.length - 1 ? number4(part) : undefined
    if (dotted !== undefined) groups.push(dotted >> 16n, dotted & 0xffffn)
    else if (/^[\da-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`))
    else return undefined
  }
  return groups
}

const number6 = (text: string): bigint | undefined => {
  const sides = text.split("::").map(groupsOf)
  const [head, tail] = sides
  if (head === undefined || sides.length > 2 || (sides.length === 2 && tail === undefined)) return undefined
  const missing = 8 - head.length - (tail?.length ?? 0)
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...head, ...Array.from({ length: missing }, () => 0n), ...(tail ?? [])]
  return groups.reduce((sum, group) => sum * 65_536n + group, 0n)
}

const within =
  (parse: (text: string) => bigint | undefined, width: number) =>
  (address: bigint) =>
  ([network, bits]: Range): boolean =>
    (parse(network) ?? 0n) >> BigInt(width - bits) === address >> BigInt(width - bits)

const within4 = within(number4, 32)
const within6 = within(number6, 128)

const isPublic4 = (address: bigint): boolean => !special4.some(within4(address))

/** Whether an address, as a resolver or a URL writes it, is one of the public internet. */
export const isPublic = (text: string): boolean => {
  const bare = text.replace(/^\[(.*)\]$/, "$1")
  const short = number4(bare)
  if (short !== undefined) return isPublic4(short)
  const long = number6(bare)
  if (long === undefined) return false
  const lies = within6(long)
  if (embedding6.some(lies)) return isPublic4(long & 0xffff_ffffn)
  return lies(global6) && !special6.some(lies)
}

/** Whether a host of a URL is an address rather than a name. */
export const isAddress = (host: string): boolean => host.startsWith("[") || number4(host) !== undefined
