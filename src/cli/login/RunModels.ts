/** The models of the providers, with what is known of each. Endpoints with a list of their own are asked for it. */
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Scope from "effect/Scope"
import type { ModelInfo } from "../../domain/Model.ts"
import { catalogue } from "../../services/models/Catalogue.ts"
import { dollars, tokens } from "../../services/models/Description.ts"
import * as EndpointModels from "../../services/models/EndpointModels.ts"
import { listModels } from "../../services/models/ModelList.ts"
import * as ProviderHttp from "../../services/models/provider/ProviderHttp.ts"
import { Settings } from "../../services/Settings.ts"
import { table } from "../terminal/Table.ts"
import { here } from "./Here.ts"
import { terminalWidth } from "./Terminal.ts"

/** Who gives this command waits for it. */
const PATIENCE = Duration.seconds(10)

const column = (title: string, models: ReadonlyArray<ModelInfo>, cell: (model: ModelInfo) => string) => ({
  title,
  cells: models.map(cell)
})

const printTable = (models: ReadonlyArray<ModelInfo>) => {
  const columns = [
    { ...column("MODEL", models, ({ id }) => id), shrink: "end" as const },
    { ...column("NAME", models, ({ name }) => name), shrink: "end" as const },
    column("CONTEXT", models, ({ contextWindow }) => tokens(contextWindow)),
    column("OUTPUT", models, ({ outputLimit }) => (outputLimit === undefined ? "" : tokens(outputLimit))),
    column("$ IN/OUT", models, ({ price }) =>
      price === undefined ? "" : `${dollars(price.input)}/${dollars(price.output)}`
    ),
    column("IMAGES", models, ({ image }) => (image ? "yes" : "no")),
    { ...column("EFFORT", models, ({ efforts }) => efforts.join(" ")), shrink: "end" as const }
  ]
  return Effect.forEach(table(columns, terminalWidth()), (line) => Console.log(line), { discard: true })
}

export const run = Effect.fnUntraced(
  function* (json: boolean) {
    const { current, home } = yield* Settings
    const value = yield* current
    const scope = yield* Scope.Scope
    const { answered, ask, offered } = yield* EndpointModels.make({
      fs: yield* FileSystem.FileSystem,
      paths: yield* Path.Path,
      home,
      send: Effect.map(Scope.provide(ProviderHttp.make, scope), ({ send }) => send),
      scope,
      changed: Effect.void
    })
    yield* ask(value.providers)
    yield* answered(PATIENCE)
    const models = listModels(value, catalogue, offered)
    if (models.length === 0) {
      return yield* Console.error("There is no model yet. Sign in to a provider with: super-pi login")
    }
    if (!json) return yield* printTable(models)
    for (const [index, model] of models.entries())
      yield* Console.log(JSON.stringify({ ...model, default: index === 0 }))
  },
  Effect.scoped,
  here
)
