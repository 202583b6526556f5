/** What may have been meant when a file is not there. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import { closest } from "../../../domain/text/Similar.ts"
import type { ToolContext } from "../../ToolDefinition.ts"
import { shownBelow } from "./Hidden.ts"
import type { Place } from "./Places.ts"

export interface Suggestions {
  /** A sentence that follows "… does not exist", or nothing. Names that a deny rule hides are no suggestion. */
  readonly forMissing: (place: Place, context: ToolContext) => Effect.Effect<string>
}

export const makeSuggestions = (fs: FileSystem.FileSystem, paths: Path.Path): Suggestions => ({
  forMissing: Effect.fnUntraced(function* (place, context) {
    const folder = { ...place, path: paths.dirname(place.path), real: paths.dirname(place.real) }
    const names = yield* Effect.option(fs.readDirectory(folder.real))
    if (Option.isNone(names)) {
      const isThere = yield* Effect.orElseSucceed(fs.exists(folder.real), () => false)
      return `; its folder ${folder.path} ${isThere ? "is no folder that can be listed" : "does not exist either"}`
    }
    const isShown = shownBelow(folder, yield* context.readable)
    const meant = closest(paths.basename(place.path), names.value.filter(isShown))
    return meant.length === 0 ? "" : `. Similar names there: ${meant.join(", ")}`
  })
})
