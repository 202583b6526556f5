/** What a session tells at its next prompt because nobody may read the log of the agent. */
import type { CompactionUpdated, Notice } from "../../domain/Event.ts"
import type { ModelInfo } from "../../domain/Model.ts"
import { splitId, suggestions } from "../models/ModelList.ts"

/** Another model may cost more and know less: nobody should find that out from the bill (F43). */
export const defaultGone = (wanted: string, used: string | undefined, known: ReadonlyArray<ModelInfo>): Notice => ({
  _tag: "Notice",
  severity: "warning",
  title: `The default model ${wanted} cannot be used`,
  description:
    (splitId(wanted) === undefined ? "A model is named provider/model." : "No configured provider offers it.") +
    suggestions(wanted, known) +
    (used === undefined ? "" : ` This session uses ${used} instead.`) +
    " Correct models.default in config.toml or the flag --model, or choose another model here."
})

/** The model of a session is gone. */
export const modelGone = (gone: string, used: string, known: ReadonlyArray<ModelInfo>): Notice => ({
  _tag: "Notice",
  severity: "warning",
  title: `The model ${gone} is not offered any more`,
  description: `This session uses ${used} instead.${suggestions(gone, known)} Choose another model, or see with super-pi models which there are.`
})

const MOST_SHOWN = 3

/** What was to be forbidden or asked is not, by a rule or a hook: that must not stay in a log that few people read. */
export const rulesLost = (problems: ReadonlyArray<string>): Notice => ({
  _tag: "Notice",
  severity: "warning",
  title: "Permission rules or hooks that were to forbid something do not hold",
  description: [
    "Correct the file; it is read again before the next tool call.",
    ...problems.slice(0, MOST_SHOWN),
    ...(problems.length > MOST_SHOWN ? ["More of this is in the log of the agent, on its standard error."] : [])
  ].join("\n")
})

/** A client joined with servers of its own, and somebody works with those that are there. */
export const serversKept: Notice = {
  _tag: "Notice",
  severity: "warning",
  title: "The MCP servers of the client that joined are not used",
  description:
    "The session keeps those that it has while it works or others watch it. Load it again when neither is so."
}

/** A client that shows no summing up sees a pause and, later, a model that has forgotten details. Its end tells itself. */
export const compactionNotice = ({ error, status }: CompactionUpdated): Notice | undefined => {
  if (status === "in_progress") {
    return { _tag: "Notice", severity: "info", title: "The older part of the conversation is summed up for the model" }
  }
  return error === undefined
    ? undefined
    : { _tag: "Notice", severity: "warning", title: "The conversation could not be summed up", description: error }
}
