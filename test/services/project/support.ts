/** A project on disk, and the service over a home of its own. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type { Projects } from "../../../src/services/Projects.ts"
import * as ProjectsLive from "../../../src/services/project/ProjectsLive.ts"
import { Settings, type SettingsValue } from "../../../src/services/Settings.ts"
import { platform, write } from "../../support/toolbox.ts"

export const config = [
  "[permission]",
  'allow = ["Bash(make)"]',
  'deny = ["Read(secrets/**)"]',
  "[sandbox]",
  'profile = "strict"',
  "[[hooks.PreToolUse]]",
  'command = "./check.sh"',
  "[mcp_servers.files]",
  'command = "files"',
  'env = { TOKEN = "secret" }'
].join("\n")

/** A project with a folder inside, and the service over a home of its own. */
export const within = <A, E>(
  use: (place: {
    readonly root: string
    readonly home: string
  }) => Effect.Effect<A, E, Projects | FileSystem.FileSystem>,
  settings: Partial<SettingsValue> = {},
  homeOf: (root: string) => string = (root) => `${root}/../home`
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const base = yield* Effect.flatMap(fs.makeTempDirectoryScoped(), fs.realPath)
    const root = `${base}/project`
    yield* fs.makeDirectory(`${root}/.git`, { recursive: true })
    yield* fs.makeDirectory(`${root}/.supercharge/hooks`, { recursive: true })
    yield* fs.makeDirectory(`${root}/deep/.supercharge`, { recursive: true })
    yield* write(`${root}/.supercharge/config.toml`, config)
    return yield* Effect.provide(
      use({ root, home: `${base}/home` }),
      Layer.provide(ProjectsLive.layer, [Settings.layerValues({ home: homeOf(root), ...settings }), platform])
    )
  }).pipe(Effect.scoped, Effect.provide(platform))
