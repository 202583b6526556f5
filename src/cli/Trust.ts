/** `trust`, `trust list` and `trust revoke`: which folders may bring hooks, servers and allow rules of their own. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { settings } from "../composition/Platform.ts"
import { makeProjects } from "../services/project/ProjectsLive.ts"
import { shown } from "../services/project/Trustable.ts"
import { Settings } from "../services/Settings.ts"
import { explained, failed } from "./Explained.ts"
import { jsonFlag } from "./JsonFlag.ts"

const folder = Argument.String("folder").pipe(
  Argument.withDescription("A folder of the project; the one you are in unless given"),
  Argument.withDefault(".")
)

const provided = Effect.provide(settings({ alwaysApprove: false }))

const list = Command.make(
  "list",
  { json: jsonFlag },
  Effect.fnUntraced(function* ({ json }) {
    const projects = yield* makeProjects
    const decisions = yield* explained(projects.list)
    if (decisions.length === 0)
      yield* Console.error("No folder was decided about. Trust one with: super-pi trust FOLDER")
    for (const { decidedAt, root, trusted } of decisions) {
      if (json) yield* Console.log(JSON.stringify({ root, trusted, decidedAt }))
      else
        yield* Console.log([trusted ? "trusted" : "never", shown(root), `since ${decidedAt.slice(0, 10)}`].join("\t"))
    }
  }, provided)
).pipe(Command.withDescription("List the folders that were decided about"))

const revoke = Command.make(
  "revoke",
  { folder },
  Effect.fnUntraced(function* ({ folder: given }) {
    const path = yield* Path.Path
    const projects = yield* makeProjects
    const forgotten = yield* explained(projects.forget(path.resolve(given)))
    yield* Option.match(forgotten, {
      onNone: () =>
        failed(`Nothing was decided about ${shown(path.resolve(given))}; super-pi trust list shows what was`),
      onSome: ({ root }) => Console.log(`${shown(root)} is asked about again when something of it needs trust`)
    })
  }, provided)
).pipe(Command.withDescription("Forget what was decided about a folder, in running agents too"))

export const trust = Command.make(
  "trust",
  { folder },
  Effect.fnUntraced(function* ({ folder: given }) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const at = path.resolve(given)
    const info = yield* Effect.option(fs.stat(at))
    if (Option.isNone(info) || info.value.type !== "Directory") return yield* failed(`${shown(at)} is no folder`)
    const { folderTrust } = yield* Settings.use(({ current }) => current)
    const projects = yield* makeProjects
    const project = yield* projects.of(at)
    const root = shown(project.root)
    yield* Effect.forEach(project.warnings, (warning) => Console.error(`warning: ${warning}`))
    if (project.trust === "off") return yield* Console.log(`${root} has nothing that needs trust`)
    if (!folderTrust) {
      return yield* Console.log("Nothing needs trust: folder_trust.enabled is false in config.toml")
    }
    if (project.trust === "trusted") return yield* Console.log(`${root} is trusted already`)
    if (project.withheld.length === 0) return yield* failed(`${root} cannot be trusted: it wants too much`)
    yield* Console.log(`${root} brings:`)
    for (const line of project.withheld) yield* Console.log(`- ${line}`)
    yield* explained(projects.keep(project, true))
    yield* Console.log("It is trusted with that. When any of it changes, you are asked again. To take it back:")
    yield* Console.log(`super-pi trust revoke ${root}`)
  }, provided)
).pipe(
  Command.withDescription("Trust a folder's own hooks, MCP servers and allow rules, as they are now"),
  Command.withSubcommands([list, revoke])
)
