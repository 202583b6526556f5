/** What a path in a tool's input means in a session, and whether it leads out of the workspace. */
import * as Effect from "effect/Effect"
import type * as Path from "effect/Path"
import { expandHome, parseReference, showPath } from "../../../domain/files/Paths.ts"
import type { Access } from "../../../domain/permission/Permission.ts"
import type { RealPaths } from "../../files/RealPath.ts"
import { ToolInputInvalid } from "../../ToolDefinition.ts"
import type { Workspace } from "../../Workspace.ts"

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
  readonly find: (input: string, workspace: Workspace) => Effect.Effect<Place, ToolInputInvalid>
}

export const makePlaces = (paths: Path.Path, realPaths: RealPaths, home: string | undefined): Places => ({
  find: Effect.fnUntraced(function* (input, { cwd, roots, scratch }) {
    if (input.trim() === "") return yield* new ToolInputInvalid({ message: `"path" is empty: name a file or folder` })
    if (input.includes("\0")) {
      return yield* new ToolInputInvalid({ message: `"path" holds a NUL character, which no file name can` })
    }
    const { endLine, line, path: written } = parseReference(input)
    const path = paths.resolve(cwd, expandHome(written, home))
    const real = yield* realPaths.resolve(path)
    // Spilled output lies in the session's own folder, and the model was told to read it there.
    const outside = !(yield* realPaths.isInside([...roots, scratch], real))
    return {
      path,
      real,
      outside,
      shown: showPath(cwd, path),
      ...(line === undefined ? {} : { line }),
      ...(endLine === undefined ? {} : { endLine })
    }
  })
})

/** Both names of a place count, so that a rule about either binds; what lies outside is told by its real name. */
export const accessTo = (kind: "Read" | "Edit", { outside, path, real }: Place): Access => ({
  _tag: kind,
  paths: path === real ? [path] : [path, real],
  outside: outside ? [real] : []
})
