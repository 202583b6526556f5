/** What a path in a tool's input means in a session, and whether it leads out of the workspace. */
import * as Effect from "effect/Effect"
import type * as Path from "effect/Path"
import { expandHome, parseReference, showPath } from "../../../domain/files/Paths.ts"
import type { Access } from "../../../domain/permission/Permission.ts"
import type { RealPaths } from "../../files/RealPath.ts"
import type { WorkspaceBounds } from "../../files/WorkspaceBounds.ts"
import { ToolInputInvalid } from "../../ToolDefinition.ts"
import { readableScratch, type Workspace } from "../../Workspace.ts"

export interface Place {
  /** Absolute and normalised, links not followed. */
  readonly path: string
  /** Where it really is. */
  readonly real: string
  readonly outside: boolean
  /** For people: from the session's folder where it lies there. */
  readonly shown: string
  /** Lines that a `file:` URL named. */
  readonly line?: number
  readonly endLine?: number
}

export interface Places {
  /** `named` is what a complaint calls the input: a field, in quotes, unless it is `"path"`. */
  readonly find: (input: string, workspace: Workspace, named?: string) => Effect.Effect<Place, ToolInputInvalid>
  /** Whether its path still leads where it led when it was judged. */
  readonly isUnmoved: (place: Place) => Effect.Effect<boolean>
}

/** Characters. No system takes more, in a name and in all; one that counts bytes refuses what is longer for it by itself. */
const LONGEST_NAME = 255
const LONGEST_PATH = 4_095

const problemOf = (path: string): string | undefined => {
  if (path.trim() === "") return "is empty: name a file or folder"
  if (path.includes("\0")) return "holds a NUL character, which no name of a file can: write it without"
  if (path.length > LONGEST_PATH || path.split("/").some((name) => name.length > LONGEST_NAME)) {
    return `is too long: a name has at most ${LONGEST_NAME} characters, a path ${LONGEST_PATH}`
  }
  return undefined
}

export const makePlaces = (
  paths: Path.Path,
  realPaths: RealPaths,
  bounds: WorkspaceBounds,
  home: string | undefined
): Places => ({
  find: Effect.fnUntraced(function* (input, { cwd, roots, scratch }, named = `"path"`) {
    const { endLine, line, path: written } = parseReference(input)
    const problem = problemOf(written)
    if (problem !== undefined) return yield* new ToolInputInvalid({ message: `${named} ${problem}` })
    const path = paths.resolve(cwd, expandHome(written, home))
    const real = yield* realPaths.resolve(path)
    // What spilled lies in the session's own folder, and the model was told to read it there.
    const isInside = yield* bounds.within([...roots, ...readableScratch(scratch)])
    const outside = !isInside(real)
    return {
      path,
      real,
      outside,
      shown: showPath(cwd, path),
      ...(line === undefined ? {} : { line }),
      ...(endLine === undefined ? {} : { endLine })
    }
  }),
  isUnmoved: ({ path, real }) => Effect.map(realPaths.resolve(path), (now) => now === real)
})

/** Both names of a place count, so that a rule about either binds. */
const namesOf = (places: ReadonlyArray<Place>): ReadonlyArray<string> => [
  ...new Set(places.flatMap(({ path, real }) => [path, real]))
]

/** What lies outside is told by its real name. */
export const accessToAll = (kind: "Read" | "Edit", places: ReadonlyArray<Place>): Access => ({
  _tag: kind,
  paths: namesOf(places),
  outside: [...new Set(places.flatMap(({ outside, real }) => (outside ? [real] : [])))]
})

export const accessTo = (kind: "Read" | "Edit", place: Place): Access => accessToAll(kind, [place])

/** The same for a change; `sources` are those of the places whose content goes to another name. */
export const accessToEdit = (places: ReadonlyArray<Place>, sources: ReadonlyArray<Place>): Access => {
  const access = accessToAll("Edit", places)
  return access._tag === "Edit" && sources.length > 0 ? { ...access, reads: namesOf(sources) } : access
}
