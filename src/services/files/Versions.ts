/** Remembers what files held earlier, in bounded memory, to tell an outdated editor buffer from an unsaved one (F83). */
import { encode } from "../../domain/text/Encoding.ts"
import { fingerprint } from "../../domain/text/Fingerprint.ts"

const FILES = 500
const VERSIONS = 8

export interface Versions {
  /** `text` is what the file holds now. */
  readonly add: (path: string, text: string) => void
  /** Whether the file held `text` before what it holds now. */
  readonly isOld: (path: string, text: string) => boolean
}

const nameOf = (text: string): string => fingerprint(encode(text, "utf-8"))

export const makeVersions = (): Versions => {
  const files = new Map<string, ReadonlyArray<string>>()
  return {
    add: (path, text) => {
      const name = nameOf(text)
      const earlier = files.get(path) ?? []
      files.delete(path)
      files.set(path, [...earlier.filter((other) => other !== name), name].slice(-VERSIONS))
      const [oldest] = files.keys()
      if (files.size > FILES && oldest !== undefined) files.delete(oldest)
    },
    isOld: (path, text) => (files.get(path) ?? []).slice(0, -1).includes(nameOf(text))
  }
}
