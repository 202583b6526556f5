/** `trust`, `trust list` and `trust revoke`: which folders may bring hooks, servers and allow rules of their own. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { settings } from "../composition/Platform.ts"
import { makeProjects } from "../services/project/ProjectsLive.ts"
import { explained } from "./Explained.ts"

const folder = Argument.String("folder").pipe(
  Argument.withDescription("A folder of the project; the one you are in unless given"),
  Argument.withDefault(".")
)

const provided = Effect.provide(settings({ alwaysApprove: false }))

const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const projects = yield* makeProjects
    const decisions = yield* explained(projects.list)
    if (decisions.length === 0)
      yield* Console.error("No folder was decided about. Trust one with: super-pi trust FOLDER")
    for (const { decidedAt, root, trusted } of decisions) {
      yield* Console.log([trusted ? "trusted" : "never", root, `since ${decidedAt.slice(0, 10)}`].join("\t"))
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
      onNone: () => Console.error(`Nothing was decided about ${path.resolve(given)}`),
      onSome: ({ root }) => Console.log(`${root} is asked about again when something of it needs trust`)
    })
  }, provided)
).pipe(Command.withDescription("Forget what was decided about a folder, in running agents too"))

export const trust = Command.make(
  "trust",
  { folder },
  Effect.fnUntraced(function* ({ folder: given }) {
    const path = yield* Path.Path
    const projects = yield* makeProjects
    const { trust: before, withheld, root } = yield* projects.of(path.resolve(given))
    if (before === "off") return yield* Console.log(`${root} has nothing that needs trust`)
    if (before === "trusted") return yield* Console.log(`${root} is trusted already`)
    yield* explained(projects.keep(root, true))
    yield* Console.log(`${root} is trusted, with:`)
    for (const line of withheld) yield* Console.log(`- ${line}`)
    yield* Console.log("When any of this changes, you are asked again.")
  }, provided)
).pipe(
  Command.withDescription("Trust a folder's own hooks, MCP servers and allow rules, as they are now"),
  Command.withSubcommands([list, revoke])
)
