/** What may have been meant when a file is not there. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import { closest } from "../../../domain/text/Similar.ts"
import type { Place } from "./Places.ts"

export interface Suggestions {
  /** A sentence that follows "… does not exist", or nothing. */
  readonly forMissing: (place: Place) => Effect.Effect<string>
}

export const makeSuggestions = (fs: FileSystem.FileSystem, paths: Path.Path): Suggestions => ({
  forMissing: Effect.fnUntraced(function* ({ path, real }) {
    const folder = paths.dirname(real)
    const names = yield* Effect.option(fs.readDirectory(folder))
    if (Option.isNone(names)) return `; its folder ${paths.dirname(path)} does not exist either`
    const meant = closest(paths.basename(path), names.value)
    return meant.length === 0 ? "" : `. Similar names there: ${meant.join(", ")}`
  })
})
