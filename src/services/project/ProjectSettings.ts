/** The settings as they hold in a folder, with what its project chooses. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { ProjectsShape } from "../Projects.ts"
import type { SettingsShape, SettingsValue } from "../Settings.ts"
import { inProject } from "../settings/Choices.ts"
import { OWN_FOLDER } from "./OwnFolder.ts"

export type SettingsIn = (cwd: string) => Effect.Effect<SettingsValue>

export const makeSettingsIn =
  (settings: SettingsShape, projects: ProjectsShape): SettingsIn =>
  (cwd) =>
    Effect.zipWith(settings.current, projects.of(cwd), (value, { choices }) => inProject(value, choices))

/** The same for whoever may not load the reader of projects where no folder has a configuration of its own. */
export const makeSettingsInIfAny = (
  settings: SettingsShape,
  projects: ProjectsShape,
  fs: FileSystem.FileSystem,
  path: Path.Path
): SettingsIn => {
  const look = makeSettingsIn(settings, projects)
  return Effect.fnUntraced(function* (cwd) {
    for (let at = cwd; ; at = path.dirname(at)) {
      const file = path.join(at, OWN_FOLDER, "config.toml")
      if (yield* Effect.orElseSucceed(fs.exists(file), () => false)) return yield* look(cwd)
      if (path.dirname(at) === at) return yield* settings.current
    }
  })
}
