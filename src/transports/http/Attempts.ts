/** How often each address was wrong of late. Of all addresses only the latest are kept, so that no flood fills memory. */

/** Wrong secrets that an address may send at once. */
const BURST = 10

/** Milliseconds after which one more is allowed. */
const REFILL = 6_000

const KEPT = 1024

export interface Attempts {
  /** Milliseconds until the address may try again; 0 is now. Times are in milliseconds. */
  readonly wait: (address: string, now: number) => number
  /** Notes a wrong secret. Whether the address has to wait from now on. */
  readonly fail: (address: string, now: number) => boolean
}

/** Who has one address of IPv6 has its whole network. */
const networkOf = (address: string): string => {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address
  const [left = "", right = ""] = address.split("::")
  const [before, after] = [left, right].map((part) => part.split(":").filter((group) => group !== ""))
  const groups = [
    ...(before ?? []),
    ...Array<string>(Math.max(0, 8 - (before ?? []).length - (after ?? []).length)).fill("0"),
    ...(after ?? [])
  ]
  return groups.slice(0, 4).join(":")
}

export const make = (): Attempts => {
  /** When an address will have had enough time for all that it sent, the latest to fail at the end. */
  const settled = new Map<string, number>()

  const wait = (address: string, now: number): number =>
    // More than a whole burst is owed only by a clock that was set back.
    Math.max(0, Math.min((settled.get(networkOf(address)) ?? now) - now, BURST * REFILL) - (BURST - 1) * REFILL)

  return {
    wait,
    fail(address, now) {
      const network = networkOf(address)
      const before = settled.get(network) ?? now
      settled.delete(network)
      settled.set(network, Math.min(Math.max(before, now), now + (BURST - 1) * REFILL) + REFILL)
      const [oldest] = settled.keys()
      if (settled.size > KEPT && oldest !== undefined) settled.delete(oldest)
      return wait(address, now) > 0
    }
  }
}
