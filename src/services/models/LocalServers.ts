/**
 * Servers of models on this machine, found on the ports that they usually have. Nothing else is taken for one: the answer
 * has to be what only that server says of itself.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { direct, getJson } from "./GetJson.ts"
import { isEmbedding, modelsIn } from "./OfferedModels.ts"

/** A server that was found. `models` are the ids that it knows; none where it has no model yet. */
export interface LocalServer {
  /** A name for its provider, such as `ollama`. */
  readonly name: string
  /** Where requests of the OpenAI dialect go. */
  readonly baseUrl: string
  readonly models: ReadonlyArray<string>
}

/** Where a server may be, and how it is told from any other. */
export interface Place {
  readonly name: string
  readonly origin: string
  readonly path: string
  /** The ids of its models; undefined where it is another server. */
  readonly read: (answer: unknown) => ReadonlyArray<string> | undefined
}

/** A server on this machine answers at once or not at all. */
const PATIENCE = Duration.seconds(1)

const id = Schema.String.check(Schema.isPattern(/^[^\s\p{Cc}\p{Cf}]{1,200}$/u))

const reading =
  <A>(schema: Schema.ConstraintDecoder<A>, ids: (answer: A) => ReadonlyArray<string>) =>
  (answer: unknown): ReadonlyArray<string> | undefined =>
    Option.getOrUndefined(Option.map(Schema.decodeUnknownOption(schema)(answer), ids))

const listOf = <S extends Schema.Constraint>(item: S) =>
  Schema.Struct({ object: Schema.Literal("list"), data: Schema.Array(item) })

const OllamaTags = Schema.Struct({
  models: Schema.Array(
    Schema.Struct({ name: id, digest: Schema.String.check(Schema.isPattern(/^(sha256:)?[0-9a-f]{12,64}$/)) })
  )
})

const LmStudioModels = listOf(
  Schema.Struct({
    id,
    object: Schema.Literal("model"),
    type: Schema.Literals(["llm", "vlm", "embeddings"]),
    state: Schema.String
  })
)

const ownedBy = (owner: string) =>
  listOf(Schema.Struct({ id, object: Schema.Literal("model"), owned_by: Schema.Literal(owner) }))

/** Models that answer prompts, of a list of the OpenAI dialect. */
const answering = (answer: unknown): ReadonlyArray<string> => (modelsIn(answer) ?? []).map((model) => model.id)

/** A list that says nothing could be anyone's. */
const unlessEmpty =
  (read: Place["read"]): Place["read"] =>
  (answer) => {
    const ids = read(answer)
    return ids === undefined || ids.length === 0 ? undefined : answering(answer)
  }

const ollama = reading(OllamaTags, ({ models }) => models.map(({ name }) => name))

const readers = {
  /** One that was just installed has no model yet, and says nothing else. */
  ollama: (answer: unknown) => {
    const names = ollama(answer)
    if (names?.length === 0 && Object.keys(answer ?? {}).join() !== "models") return undefined
    return names?.filter((name) => !isEmbedding({ id: name }))
  },
  lmStudio: unlessEmpty(reading(LmStudioModels, ({ data }) => data.map((model) => model.id))),
  vllm: unlessEmpty(reading(ownedBy("vllm"), ({ data }) => data.map((model) => model.id))),
  llamaCpp: unlessEmpty(reading(ownedBy("llamacpp"), ({ data }) => data.map((model) => model.id)))
}

const place = (name: string, port: number, path: string, read: Place["read"]): Place => ({
  name,
  origin: `http://127.0.0.1:${port}`,
  path,
  read
})

export const usualPlaces: ReadonlyArray<Place> = [
  place("ollama", 11_434, "/api/tags", readers.ollama),
  place("lm-studio", 1234, "/api/v0/models", readers.lmStudio),
  place("vllm", 8000, "/v1/models", readers.vllm),
  place("llama-cpp", 8080, "/v1/models", readers.llamaCpp)
]

const look = ({ name, origin, path, read }: Place): Effect.Effect<Option.Option<LocalServer>> =>
  getJson(direct, { url: `${origin}${path}`, patience: PATIENCE }).pipe(
    Effect.map((answer) =>
      Option.map(Option.fromUndefinedOr(read(answer)), (models) => ({ name, baseUrl: `${origin}/v1`, models }))
    ),
    Effect.orElseSucceed(() => Option.none<LocalServer>())
  )

/** The servers at these places. */
export const findAt = (places: ReadonlyArray<Place>): Effect.Effect<ReadonlyArray<LocalServer>> =>
  Effect.map(Effect.forEach(places, look, { concurrency: "unbounded" }), (found) => found.flatMap(Option.toArray))

/** Those that run now. Takes a second at most, and never fails. */
export const find: Effect.Effect<ReadonlyArray<LocalServer>> = Effect.withSpan(findAt(usualPlaces), "LocalServers.find")
