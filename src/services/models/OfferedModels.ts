/** The list of models that an endpoint of the OpenAI dialect has of itself, with the facts that some servers add to it. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { ModelPrice } from "../../domain/Model.ts"
import type { ModelSettings, ProviderSettings } from "../Settings.ts"
import { getJson, NoAnswer, type Send } from "./GetJson.ts"

const PATIENCE = Duration.seconds(10)

/** More are not listed: whoever has that many names those that matter. */
const MOST_MODELS = 1000

/** A fact that somebody else writes in another way is none. */
const ifUnderstood = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.catchDecoding<S>(() => Effect.succeedNone)(schema))

const count = ifUnderstood(Schema.Int.check(Schema.isGreaterThan(0)))
const texts = ifUnderstood(Schema.Array(Schema.String))
/** Dollars for one token, written as a text. */
const rate = ifUnderstood(Schema.FiniteFromString.check(Schema.isGreaterThanOrEqualTo(0)))

const Listed = Schema.Struct({
  id: Schema.String.check(Schema.isPattern(/^[^\s\p{Cc}\p{Cf}]{1,200}$/u)),
  name: ifUnderstood(Schema.String.check(Schema.isPattern(/^[^\p{Cc}\p{Cf}]{1,100}$/u))),
  type: ifUnderstood(Schema.String),
  context_length: count,
  max_model_len: count,
  max_context_length: count,
  loaded_context_length: count,
  meta: ifUnderstood(Schema.Struct({ n_ctx: count })),
  architecture: ifUnderstood(Schema.Struct({ input_modalities: texts })),
  top_provider: ifUnderstood(Schema.Struct({ max_completion_tokens: count })),
  pricing: ifUnderstood(
    Schema.Struct({ prompt: rate, completion: rate, input_cache_read: rate, input_cache_write: rate })
  ),
  supported_parameters: texts
})
type Listed = typeof Listed.Type

const decodeList = Schema.decodeUnknownOption(Schema.Struct({ data: Schema.Array(Schema.Unknown) }))
const decodeModel = Schema.decodeUnknownOption(Listed)

const perMillion = (price: number): number => Number((price * 1_000_000).toFixed(6))

const priceOf = ({ pricing }: Listed): ModelPrice | undefined => {
  const { completion, input_cache_read, input_cache_write, prompt } = pricing ?? {}
  if (prompt === undefined || completion === undefined) return undefined
  return {
    input: perMillion(prompt),
    output: perMillion(completion),
    cacheRead: perMillion(input_cache_read ?? prompt),
    cacheWrite: perMillion(input_cache_write ?? prompt)
  }
}

/** Models that turn texts into numbers answer no prompt. */
export const isEmbedding = ({ id, type }: Pick<Listed, "id" | "type">): boolean =>
  type === "embeddings" || /(^|[-_/.])embed/i.test(id)

const settingsOf = (listed: Listed): ModelSettings => {
  const contextWindow =
    listed.loaded_context_length ??
    listed.context_length ??
    listed.max_model_len ??
    listed.meta?.n_ctx ??
    listed.max_context_length
  const outputLimit = listed.top_provider?.max_completion_tokens
  const image = listed.type === "vlm" || listed.architecture?.input_modalities?.includes("image") === true
  const price = priceOf(listed)
  return {
    id: listed.id,
    ...(listed.name === undefined ? {} : { name: listed.name }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(outputLimit === undefined ? {} : { outputLimit }),
    ...(image ? { image } : {}),
    ...(listed.supported_parameters?.includes("reasoning_effort") === true
      ? { efforts: ["low", "medium", "high"] }
      : {}),
    ...(price === undefined ? {} : { price })
  }
}

/** The models in such a list; undefined when it is none. What of it is no model is left out. */
export const modelsIn = (answer: unknown): ReadonlyArray<ModelSettings> | undefined =>
  Option.getOrUndefined(
    Option.map(decodeList(answer), ({ data }) =>
      data
        .slice(0, MOST_MODELS)
        .flatMap((item) => Option.toArray(decodeModel(item)))
        .filter((listed) => !isEmbedding(listed))
        .map(settingsOf)
    )
  )

/** Asks an endpoint, at an address such as `http://127.0.0.1:8080/v1`, what it offers. */
export const askEndpoint = (
  send: Send,
  { apiKey, baseUrl }: Required<Pick<ProviderSettings, "baseUrl">> & Pick<ProviderSettings, "apiKey">
): Effect.Effect<ReadonlyArray<ModelSettings>, NoAnswer> => {
  const headers: Record<string, string> =
    apiKey === undefined ? {} : { authorization: `Bearer ${Redacted.value(apiKey)}` }
  return Effect.flatMap(getJson(send, { url: `${baseUrl}/models`, headers, patience: PATIENCE }), (answer) => {
    const models = modelsIn(answer)
    return models === undefined
      ? Effect.fail(new NoAnswer({ message: "answers with something that is no list of models" }))
      : Effect.succeed(models)
  })
}
