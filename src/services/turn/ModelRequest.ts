/** One request to the model, tried again while nothing of an answer came (a repeated answer would be told twice). */
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Conversation } from "../models/Conversation.ts"
import type { TurnSession } from "../Turn.ts"
import { pauseBeforeRetry, wordsOf } from "./ModelFailure.ts"
import type { Step } from "./Step.ts"
import type { DescribedToolkit } from "./ToolDescriptions.ts"

export interface ModelRequest {
  readonly model: LanguageModel.LanguageModel
  readonly messages: ReadonlyArray<Prompt.Message>
  readonly toolkit: DescribedToolkit
}

/** Streams the answer into `step`. */
export const send = (
  { messages, model, toolkit }: ModelRequest,
  step: Step,
  session: TurnSession
): Effect.Effect<void, AiError.AiError> => {
  const once = model
    .streamText({
      prompt: Prompt.fromMessages(messages),
      toolkit,
      disableToolCallResolution: true,
      toolCallValidation: "deferred"
    })
    .pipe(Stream.runForEachArray(step.accept), Effect.provideService(Conversation, session.workspace.sessionId))

  const attempt = (tries: number): Effect.Effect<void, AiError.AiError> =>
    Effect.catch(once, (error) => {
      const pause = step.begun() ? undefined : pauseBeforeRetry(error, tries)
      if (pause === undefined) return Effect.fail(error)
      return session
        .emit({
          _tag: "Notice",
          severity: "warning",
          title: `The model did not answer; trying again in ${Duration.format(pause)}`,
          description: wordsOf(error.reason)
        })
        .pipe(Effect.andThen(Effect.sleep(pause)), Effect.andThen(attempt(tries + 1)))
    })

  return attempt(1)
}
