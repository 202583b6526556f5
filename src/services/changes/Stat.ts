/** Looks at many files at once: what `lstat` says of them, to the nanosecond. */
import { type BigIntStats, lstatSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

export interface Stat {
  /** Changes with the file, unless it changes twice within one tick of the file system's clock. */
  readonly key: string
  readonly inode: string
  readonly mode: number
  readonly size: number
  /** Milliseconds since 1970: the last change of the content or of anything else. */
  readonly changedAt: number
  /** 0 where the file system does not tell. */
  readonly bornAt: number
}

/** Files that are looked at before anybody else has a turn. */
const AT_ONCE = 500

const MILLISECOND = 1_000_000n

const statOf = ({ birthtimeNs, ctimeNs, dev, ino, mode, mtimeNs, size }: BigIntStats): Stat => ({
  key: `${mtimeNs}.${ctimeNs}.${size}.${ino}.${mode}`,
  inode: `${dev}.${ino}`,
  mode: Number(mode),
  size: Number(size),
  changedAt: Number((ctimeNs > mtimeNs ? ctimeNs : mtimeNs) / MILLISECOND),
  bornAt: Number(birthtimeNs / MILLISECOND)
})

const statOne = Option.liftThrowable((path: string) => lstatSync(path, { bigint: true, throwIfNoEntry: false }))

/** Those that are there. */
export const statAll = Effect.fnUntraced(function* (paths: Iterable<string>) {
  const found = new Map<string, Stat>()
  let looked = 0
  for (const path of paths) {
    const stat = Option.getOrUndefined(statOne(path))
    if (stat !== undefined) found.set(path, statOf(stat))
    if (++looked % AT_ONCE === 0) yield* Effect.yieldNow
  }
  return found
})
