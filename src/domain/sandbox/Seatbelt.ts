/** A confinement as configuration of `@anthropic-ai/sandbox-runtime`, which enforces it on macOS. */
import { isWithin } from "../files/Paths.ts"
import { type BubblewrapPolicy, layersOf, type Place } from "./Bubblewrap.ts"

/** A path as it is, whatever letters are in it that patterns are made of. */
export interface SeatbeltPath {
  readonly path: string
  readonly literal: true
}

export interface SeatbeltConfiguration {
  /** Absent: the network is open. */
  readonly network?: { readonly allowedDomains: ReadonlyArray<string>; readonly deniedDomains: ReadonlyArray<string> }
  readonly filesystem: {
    readonly denyRead: ReadonlyArray<SeatbeltPath>
    /** Wins over `denyRead`, however much narrower that is. */
    readonly allowRead: ReadonlyArray<SeatbeltPath>
    readonly allowWrite: ReadonlyArray<SeatbeltPath>
    /** Wins over `allowWrite`. */
    readonly denyWrite: ReadonlyArray<SeatbeltPath>
  }
}

const literal = (paths: ReadonlyArray<string>): ReadonlyArray<SeatbeltPath> =>
  [...new Set(paths)].map((path) => ({ path, literal: true }))

const pathsOf = (layers: ReadonlyArray<Place>, ...treatments: ReadonlyArray<Place["treatment"]>) =>
  layers.flatMap(({ path, treatment }) => (treatments.includes(treatment) ? [path] : []))

/**
 * `kept` are names that must stay as they are or stay absent. Undefined where it cannot be said: something that must not
 * be read lies in a folder that must be readable within one that must not.
 */
export const seatbeltOf = (
  { network, places, temporary }: BubblewrapPolicy,
  kept: ReadonlyArray<string>
): SeatbeltConfiguration | undefined => {
  const layers = layersOf(places)
  const isAllVisible = layers.some(({ path }) => path === "/")
  const hidden = pathsOf(layers, "hidden")
  const writable = [...pathsOf(layers, "writable"), temporary]
  const allowRead = isAllVisible
    ? pathsOf(layers, "readable", "writable").filter((path) => hidden.some((one) => isWithin(one, path)))
    : [...pathsOf(layers, "readable"), ...writable]
  if (hidden.some((path) => allowRead.some((one) => isWithin(one, path)))) return undefined
  // Nothing else is writable anyway, and a denial would also hold for the temporary folder in what is denied.
  const closed = pathsOf(layers, "readable", "hidden").filter((path) =>
    writable.some((one) => one !== temporary && isWithin(one, path))
  )
  return {
    ...(network ? {} : { network: { allowedDomains: [], deniedDomains: [] } }),
    filesystem: {
      denyRead: literal(isAllVisible ? hidden : ["/"]),
      allowRead: literal(allowRead),
      allowWrite: literal(writable),
      denyWrite: literal([...closed, ...kept])
    }
  }
}
