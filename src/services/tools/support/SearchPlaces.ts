/** Where `grep` and `glob` look: the place that the model names, else every folder of the workspace. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { Found, Search, SearchFailed, SearchScope } from "../../files/search/Search.ts"
import type { WorkspaceBounds } from "../../files/WorkspaceBounds.ts"
import type { SettingsIn } from "../../project/ProjectSettings.ts"
import type { ToolContext } from "../../ToolDefinition.ts"
import type { Workspace } from "../../Workspace.ts"
import { noteClosed, noteHidden, shownBelow } from "./Hidden.ts"
import type { Place, Places } from "./Places.ts"

export interface LookServices {
  readonly fs: FileSystem.FileSystem
  readonly search: Search
  readonly places: Places
  readonly bounds: WorkspaceBounds
  readonly settingsIn: SettingsIn
}

/** Said with every answer that left ignored files out, so that none is taken as not existing (F92). */
export const ignoredNote = "(git-ignored files were not searched; include_ignored searches them)"

export const findPlaces = (places: Places, path: string | undefined, workspace: Workspace) =>
  Effect.forEach(path === undefined ? workspace.roots : [path], (each) => places.find(each, workspace))

/** For a title. */
export const shownPlaces = (places: ReadonlyArray<Place>): string => {
  const [first] = places
  const more = places.length - 1
  return `${first?.shown ?? "."}${more < 1 ? "" : ` and ${more} more folder${more === 1 ? "" : "s"}`}`
}

/** What a call says, else what the settings say. */
export const includesIgnored = (
  settingsIn: SettingsIn,
  { cwd }: Workspace,
  asked: boolean | undefined
): Effect.Effect<boolean> =>
  asked === undefined ? Effect.map(settingsIn(cwd), ({ respectGitignore }) => !respectGitignore) : Effect.succeed(asked)

/**
 * Looks in one place after the other until there is enough, and tells what is hidden there and what is private. `shows`
 * says which files count, by their paths from the place.
 */
export const lookIn = <A>(
  { bounds, search }: LookServices,
  places: ReadonlyArray<Place>,
  includeIgnored: boolean,
  context: ToolContext,
  limit: number,
  look: (
    scope: SearchScope,
    shows: (relative: string) => boolean,
    limit: number
  ) => Effect.Effect<Found<A>, SearchFailed>
) =>
  Effect.gen(function* () {
    const readable = yield* context.readable
    const items: Array<A> = []
    const hidden: Array<string> = []
    let more = false
    for (const place of places) {
      if (more) break
      const scope = { root: place.path, includeIgnored }
      const { isClosed, present } = yield* bounds.closedBelow(place.real)
      const isOpen = (relative: string) => !isClosed(`${place.real}/${relative}`)
      const isShown = shownBelow(place, readable)
      const [found, notes] = yield* Effect.all(
        [
          look(scope, (relative) => isOpen(relative) && isShown(relative), limit - items.length),
          Option.isNone(readable)
            ? Effect.succeed([])
            : noteHidden(search, scope, (relative) => isOpen(relative) && !isShown(relative))
        ],
        { concurrency: 2 }
      )
      items.push(...found.items)
      hidden.push(...notes, ...noteClosed(present))
      more = found.more
    }
    return { items, more, hidden }
  })
