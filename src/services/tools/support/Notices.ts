/** What a session has to be told once, such as that its editor does not answer. In bounded memory. */
import type { SessionId } from "../../../domain/Ids.ts"

/** Of all sessions together; the oldest are forgotten, and told again. */
const LIMIT = 1_000

export interface Notices {
  /** The notice as a paragraph that follows a text, or nothing if the session knows it. */
  readonly once: (session: SessionId, notice: string | undefined) => string
}

export const makeNotices = (): Notices => {
  const told = new Set<string>()
  return {
    once: (session, notice) => {
      const key = `${session}\0${notice}`
      if (notice === undefined || told.has(key)) return ""
      told.add(key)
      const [oldest] = told
      if (told.size > LIMIT && oldest !== undefined) told.delete(oldest)
      return `\n(${notice})`
    }
  }
}
