/** Which version of a file each session has seen last, in bounded memory (F87). */
import type { SessionId } from "../../../domain/Ids.ts"

/** Files of all sessions together; the ones not touched for longest are forgotten, and count as never read. */
const LIMIT = 10_000

export interface ReadLedger {
  readonly note: (session: SessionId, real: string, stamp: string) => void
  /** Whether the session saw another version. */
  readonly isOutdated: (session: SessionId, real: string, stamp: string) => boolean
}

export const makeReadLedger = (): ReadLedger => {
  const stamps = new Map<string, string>()
  const key = (session: SessionId, real: string) => `${session}\0${real}`
  return {
    note: (session, real, stamp) => {
      stamps.delete(key(session, real))
      stamps.set(key(session, real), stamp)
      const [oldest] = stamps.keys()
      if (stamps.size > LIMIT && oldest !== undefined) stamps.delete(oldest)
    },
    isOutdated: (session, real, stamp) => (stamps.get(key(session, real)) ?? stamp) !== stamp
  }
}
