/** Whether a provider answers: one real request, on the road that the prompts of a session take. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Models } from "../Models.ts"
import * as ModelsLive from "../models/ModelsLive.ts"
import { type ProviderSettings, Settings } from "../Settings.ts"
import { toTurnError, wordsOf } from "../turn/ModelFailure.ts"

/** It did not. `message` is for the person who gave the key; `isKey`: the key is what was refused. */
export class NoGoodAnswer extends Schema.TaggedError<NoGoodAnswer>()("NoGoodAnswer", {
  message: Schema.String,
  isKey: Schema.Boolean
}) {}

/** A model on one's own machine may have to be loaded first. */
const PATIENCE = Duration.minutes(2)

const PROMPT = "Answer with the one word: OK"

/** `model` is the provider's own name of it. */
export const tryModel = Effect.fn("TryModel.tryModel")(function* (provider: ProviderSettings, model: string) {
  const id = `${provider.name}/${model}`
  const { home } = yield* Settings
  const settings = Settings.layerValues({ home, providers: [provider], defaultModel: id })
  const ask = Effect.gen(function* () {
    const models = yield* Models
    // The least effort costs the least.
    const efforts = (yield* models.list).find((known) => known.id === id)?.efforts ?? []
    const chosen = yield* models.resolve(id, efforts[0])
    yield* chosen.generateText({ prompt: PROMPT })
  })
  yield* ask.pipe(
    Effect.timeoutOrElse({
      duration: PATIENCE,
      orElse: () =>
        Effect.fail(
          new NoGoodAnswer({ message: `${id} did not answer within ${Duration.format(PATIENCE)}`, isKey: false })
        )
    }),
    Effect.catchTags({
      ModelUnavailable: ({ message }) => Effect.fail(new NoGoodAnswer({ message, isKey: false })),
      AiError: (error) => {
        const words = wordsOf(error.reason).trim()
        const isKey = toTurnError(error).kind === "authentication"
        const message = isKey
          ? `${provider.name} does not accept the key (${words})`
          : `${id} did not answer (${words})`
        return Effect.fail(new NoGoodAnswer({ message, isKey }))
      }
    }),
    Effect.provide(Layer.fresh(Layer.provide(ModelsLive.layer, settings)))
  )
})
