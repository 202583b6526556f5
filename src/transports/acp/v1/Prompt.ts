/** The content of a prompt as the agent takes it, and the answer to it. */
import * as Effect from "effect/Effect"
import type { Content } from "../../../domain/Content.ts"
import { InvalidInput } from "../../../domain/Failure.ts"
import type { Outcome } from "../../../domain/Turn.ts"
import type { ContentBlock } from "../../../domain/wire/v1/Content.ts"
import type { PromptResponse } from "../../../domain/wire/v1/Prompt.ts"
import type { AgentDescription } from "../../../services/Agent.ts"
import { outcomeMeta } from "../Extensions.ts"

/** Annotations and `_meta` say how to show a block, which is of no use to a model. */
const contentOf = (block: ContentBlock): Content => {
  if (block.type === "resource") {
    const { _meta, ...resource } = block.resource
    return { type: "resource", resource }
  }
  const { annotations: _annotations, _meta, ...content } = block
  return content
}

/** A block of a kind that was not advertised is refused before anything runs (TRN-03). */
export const contentsOf = (
  blocks: ReadonlyArray<ContentBlock>,
  description: AgentDescription
): Effect.Effect<ReadonlyArray<Content>, InvalidInput> => {
  const refused = blocks.findIndex(({ type }) => type === "audio" || (type === "image" && !description.image))
  return refused === -1
    ? Effect.succeed(blocks.map(contentOf))
    : Effect.fail(
        new InvalidInput({
          field: `prompt[${refused}]`,
          message: `${blocks[refused]?.type} is not supported by this agent; send it as a resource_link, or leave it out`
        })
      )
}

export const answerOf = (outcome: Outcome): typeof PromptResponse.Encoded => ({
  stopReason: outcome.stopReason,
  ...outcomeMeta(outcome)
})
