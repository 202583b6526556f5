/** Writes the file of a new agent: whole or not at all, in its folder and nowhere else, and never over another one. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import { InvalidInput } from "../../domain/Failure.ts"
import { isWithin } from "../../domain/files/Paths.ts"
import { makeRealPaths } from "../files/RealPath.ts"
import type { AgentPlace } from "./AgentPlaces.ts"
import { uniqueName } from "../files/FileLock.ts"

export type WriteAgent = (
  place: Required<AgentPlace>,
  name: string,
  text: string
) => Effect.Effect<string, InvalidInput>

const refused = (field: string, message: string) => new InvalidInput({ field, message })

export const makeAgentWriter = (fs: FileSystem.FileSystem, paths: Path.Path): WriteAgent => {
  const realPaths = makeRealPaths(fs, paths)

  const unwritable = (path: string) => (error: PlatformError) =>
    refused("scope", `${path} cannot be written (${error.reason._tag}); make its folder writable for you`)

  const taken = (path: string) =>
    refused("name", `${path} is there already and was left as it is; choose another name, or edit that file`)

  const isTaken = (folder: string, name: string) =>
    Effect.match(fs.readDirectory(folder), {
      onFailure: () => undefined,
      onSuccess: (names) => names.find((one) => one.toLowerCase() === `${name}.md`.toLowerCase())
    })

  const isInside = Effect.fnUntraced(function* ({ folder, root, scope }: Required<AgentPlace>) {
    if (isWithin(yield* realPaths.resolve(root), yield* realPaths.resolve(folder))) return
    const where = scope === "project" ? "the project" : root
    return yield* refused(
      "scope",
      `${folder} leads out of ${where}, so nothing is written there; make it a plain folder`
    )
  })

  /** A name of its own first, which then takes the wanted one unless somebody has it: a link replaces nothing. */
  const put = Effect.fnUntraced(function* (path: string, text: string) {
    const temporary = paths.join(paths.dirname(path), `.new-agent.${yield* uniqueName}.tmp`)
    yield* Effect.gen(function* () {
      const file = yield* fs.open(temporary, { flag: "wx" })
      yield* file.writeAll(new TextEncoder().encode(text))
      yield* file.sync
    }).pipe(
      Effect.scoped,
      Effect.andThen(fs.link(temporary, path)),
      Effect.ensuring(Effect.ignore(fs.remove(temporary, { force: true })))
    )
  })

  return Effect.fnUntraced(function* (place, name, text) {
    const path = paths.join(place.folder, `${name}.md`)
    yield* isInside(place)
    yield* Effect.mapError(fs.makeDirectory(place.folder, { recursive: true }), unwritable(path))
    yield* isInside(place)
    const other = yield* isTaken(place.folder, name)
    if (other !== undefined) return yield* taken(paths.join(place.folder, other))
    yield* Effect.mapError(put(path, text), (error) =>
      error.reason._tag === "AlreadyExists" ? taken(path) : unwritable(path)(error)
    )
    return path
  })
}
