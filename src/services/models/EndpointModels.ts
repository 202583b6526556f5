/**
 * What endpoints say that they offer: each is asked in the background until it answered once in the life of the process, and
 * what it said is kept on disk, so that the next process knows it at once and an endpoint that is down loses nothing.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { ModelPrice } from "../../domain/Model.ts"
import { makeOwnFile } from "../files/OwnFile.ts"
import type { ModelSettings, ProviderSettings } from "../Settings.ts"
import type { Send } from "./GetJson.ts"
import { hasOwnList, isLoopback } from "./ModelList.ts"
import { askEndpoint } from "./OfferedModels.ts"

/** What is younger is taken for true; servers on this machine are asked in any case. */
const FRESH = Duration.hours(1)

/** One that did not answer is asked again, but not sooner: its server may have been started meanwhile. */
const AGAIN = Duration.seconds(5)

/** Endpoints that are remembered, those that were asked last. */
const MOST_ENDPOINTS = 50

const Remembered = Schema.Struct({
  /** Milliseconds. */
  at: Schema.Finite,
  models: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      name: Schema.optionalKey(Schema.String),
      contextWindow: Schema.optionalKey(Schema.Int),
      outputLimit: Schema.optionalKey(Schema.Int),
      image: Schema.optionalKey(Schema.Boolean),
      efforts: Schema.optionalKey(Schema.Array(Schema.String)),
      price: Schema.optionalKey(ModelPrice)
    })
  )
})
type Remembered = typeof Remembered.Type

const Memory = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), endpoints: Schema.Record(Schema.String, Remembered) })
)
type Memory = typeof Memory.Type

const nothing: Memory = { version: 1, endpoints: {} }

/** In the folder for what can be had again. */
export const memoryOf = (fs: FileSystem.FileSystem, paths: Path.Path, home: string) =>
  makeOwnFile({
    fs,
    paths,
    path: paths.join(home, "cache", "models.json"),
    schema: Memory,
    empty: nothing,
    what: "list of models"
  })

const keyOf = ({ baseUrl, name }: ProviderSettings): string => `${name} ${baseUrl}`

const kept = ({ endpoints }: Memory, key: string, entry: Remembered): Memory => {
  const all = Object.entries({ ...endpoints, [key]: entry }).toSorted(([, one], [, other]) => other.at - one.at)
  return { version: 1, endpoints: Object.fromEntries(all.slice(0, MOST_ENDPOINTS)) }
}

export interface EndpointModels {
  readonly offered: (provider: ProviderSettings) => ReadonlyArray<ModelSettings>
  /** Begins to ask those of these providers that were not asked yet. Waits for nothing but the disk, and that once. */
  readonly ask: (providers: ReadonlyArray<ProviderSettings>) => Effect.Effect<void>
  /** Waits for the answers that are on their way, but not longer than this. */
  readonly answered: (patience: Duration.Duration) => Effect.Effect<void>
}

export interface EndpointModelsInput {
  readonly fs: FileSystem.FileSystem
  readonly paths: Path.Path
  readonly home: string
  readonly send: Effect.Effect<Send>
  readonly scope: Scope.Scope
  /** An endpoint offers something else than was known of it. */
  readonly changed: Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* (input: EndpointModelsInput): Effect.fn.Return<EndpointModels> {
  const memory = memoryOf(input.fs, input.paths, input.home)
  const asked = new Map<string, Fiber.Fiber<void>>()
  /** When those that did not answer were given up, in milliseconds. */
  const silent = new Map<string, number>()
  const known = new Map<string, Remembered>()

  const recall = yield* Effect.cached(
    memory.read.pipe(
      Effect.orElseSucceed(() => nothing),
      Effect.map(({ endpoints }) => {
        for (const [key, entry] of Object.entries(endpoints)) known.set(key, entry)
      })
    )
  )

  const learn = Effect.fnUntraced(function* (provider: ProviderSettings, baseUrl: string) {
    const models = yield* askEndpoint(yield* input.send, { ...provider, baseUrl })
    const key = keyOf(provider)
    const before = known.get(key)?.models ?? []
    const entry: Remembered = { at: yield* Clock.currentTimeMillis, models }
    known.set(key, entry)
    if (JSON.stringify(before) !== JSON.stringify(models)) yield* input.changed
    yield* Effect.ignore(memory.change((all) => [undefined, kept(all, key, entry)]))
  })

  const isFresh = (provider: ProviderSettings, now: number): boolean => {
    const at = known.get(keyOf(provider))?.at
    return at !== undefined && !isLoopback(provider) && now - at < Duration.toMillis(FRESH)
  }

  const isDue = (key: string, now: number): boolean => {
    const since = silent.get(key)
    return !asked.has(key) || (since !== undefined && now - since >= Duration.toMillis(AGAIN))
  }

  const giveUp = Effect.fnUntraced(function* (key: string, why: string) {
    silent.set(key, yield* Clock.currentTimeMillis)
    yield* Effect.logDebug(why)
  })

  const ask = Effect.fnUntraced(function* (providers: ReadonlyArray<ProviderSettings>) {
    yield* recall
    const now = yield* Clock.currentTimeMillis
    for (const provider of providers) {
      const key = keyOf(provider)
      if (!hasOwnList(provider) || provider.baseUrl === undefined || !isDue(key, now) || isFresh(provider, now))
        continue
      const asking = learn(provider, provider.baseUrl).pipe(
        Effect.catch(({ message }) => giveUp(key, `The provider ${provider.name} ${message}`))
      )
      silent.delete(key)
      asked.set(key, yield* Effect.forkIn(asking, input.scope))
    }
  })

  return {
    offered: (provider) => known.get(keyOf(provider))?.models ?? [],
    ask,
    answered: (patience) =>
      Effect.suspend(() => Fiber.awaitAll([...asked.values()])).pipe(Effect.timeoutOption(patience), Effect.asVoid)
  }
})
