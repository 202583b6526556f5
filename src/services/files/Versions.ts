/**
 * Remembers what files held, in bounded memory, to tell an editor buffer that is unsaved from one that is outdated (F83)
 * or of another file.
 */
import { encode } from "../../domain/text/Encoding.ts"
import { fingerprint } from "../../domain/text/Fingerprint.ts"

const FILES = 500
const VERSIONS = 8

/** In characters: shorter texts are often the same in several files. */
const TELLING = 64

export interface Versions {
  /** `text` is what the file holds now. */
  readonly add: (path: string, text: string) => void
  /** Whether the file held `text` before what it holds now. */
  readonly isOld: (path: string, text: string) => boolean
  /** Whether `text` is what another file holds, and this one never held. */
  readonly isOfOther: (path: string, text: string) => boolean
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
    isOld: (path, text) => (files.get(path) ?? []).slice(0, -1).includes(nameOf(text)),
    isOfOther: (path, text) => {
      if (text.length < TELLING) return false
      const name = nameOf(text)
      if (files.get(path)?.includes(name) === true) return false
      return files.values().some((held) => held.at(-1) === name)
    }
  }
}
