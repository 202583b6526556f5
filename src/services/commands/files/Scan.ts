/** Looks for the Markdown files of commands and skills. Bounded in depth and number, and out of a project no link is followed. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import { isWithin } from "../../../domain/files/Paths.ts"

/** A folder in which commands, or the folders of skills, lie. */
export interface CommandPlace {
  readonly kind: "command" | "skill"
  readonly folder: string
  /** Stands before each name: a plugin's. */
  readonly prefix: string
  /** The project that its files must really lie in. Absent where the person put them. */
  readonly within?: string
}

export interface Candidate {
  readonly kind: CommandPlace["kind"]
  readonly name: string
  /** As it is found, absolute. */
  readonly path: string
  /** Where it really lies. */
  readonly real: string
  /** Differs when the file may have changed. */
  readonly stamp: string
}

export interface Scanned {
  readonly found: ReadonlyArray<Candidate>
  readonly problems: ReadonlyArray<string>
}

/** Of one file, in bytes. */
export const LARGEST = 64 * 1024
const MOST = 200
const DEEPEST = 4
/** Folders of one place. */
const MOST_FOLDERS = 50

/** A part of a name that can be typed. */
const WORD = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u

export const makeScan = (fs: FileSystem.FileSystem, path: Path.Path) => {
  const namesIn = (folder: string) =>
    Effect.orElseSucceed(
      Effect.map(fs.readDirectory(folder), (names) => names.toSorted().slice(0, MOST)),
      (): ReadonlyArray<string> => []
    )

  /** Undefined where there is nothing that counts, a sentence where it should count and does not. */
  const examine = Effect.fnUntraced(function* (file: string, within: string | undefined) {
    const real = yield* fs.realPath(file)
    if (within !== undefined && !isWithin(within, real)) {
      return `${file} leads out of the project, so it is not used; put the file itself there`
    }
    const { mtime, size, type } = yield* fs.stat(real)
    if (type !== "File") return { type, real, stamp: "" }
    if (size > LARGEST) return `${file} has more than ${LARGEST} bytes, so it is not used; shorten it`
    const time = Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
    return { type, real, stamp: `${time}:${size}` }
  }, Effect.option)

  return (place: CommandPlace): Effect.Effect<Scanned> => {
    const found: Array<Candidate> = []
    const problems: Array<string> = []
    /** By where they really are: links may lead to one again and again. */
    const visited = new Set<string>()

    const isNew = (real: string): boolean => {
      if (visited.has(real) || visited.size >= MOST_FOLDERS) return false
      visited.add(real)
      return true
    }

    const look = Effect.fnUntraced(function* (file: string) {
      const seen = Option.getOrUndefined(yield* examine(file, place.within))
      if (typeof seen !== "string") return seen
      problems.push(seen)
      return undefined
    })

    const add = (name: string, file: string, { real, stamp }: { readonly real: string; readonly stamp: string }) => {
      if (found.length < MOST) found.push({ kind: place.kind, name: place.prefix + name, path: file, real, stamp })
    }

    const skills = Effect.fnUntraced(function* () {
      for (const name of yield* namesIn(place.folder)) {
        if (name.startsWith(".")) continue
        const file = path.join(place.folder, name, "SKILL.md")
        const seen = yield* look(file)
        if (seen?.type === "File") add(name, file, seen)
      }
    })

    const commands: (folder: string, prefix: string, depth: number) => Effect.Effect<void> = Effect.fnUntraced(
      function* (folder, prefix, depth) {
        for (const entry of yield* namesIn(folder)) {
          if (entry.startsWith(".")) continue
          const file = path.join(folder, entry)
          const isMarkdown = entry.endsWith(".md")
          const word = isMarkdown ? entry.slice(0, -3) : entry
          const seen = yield* look(file)
          if (seen === undefined) continue
          if (seen.type === "Directory" && depth < DEEPEST && WORD.test(entry) && isNew(seen.real)) {
            yield* commands(file, `${prefix}${entry}:`, depth + 1)
          }
          if (seen.type !== "File" || !isMarkdown) continue
          if (WORD.test(word)) add(prefix + word, file, seen)
          else problems.push(`${file} has no name that can be typed; name it by letters, digits, _ . or -`)
        }
      }
    )

    const all = Effect.andThen(
      Effect.map(Effect.option(fs.realPath(place.folder)), Option.map(isNew)),
      commands(place.folder, "", 1)
    )
    return Effect.as(place.kind === "skill" ? skills() : all, { found, problems })
  }
}
