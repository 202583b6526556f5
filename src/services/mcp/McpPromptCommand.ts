/** A prompt of an MCP server as a command, named `mcp__server__prompt`. */
import * as Effect from "effect/Effect"
import { InvalidInput } from "../../domain/Failure.ts"
import type { Content } from "../../domain/Content.ts"
import { clip } from "../../domain/text/Clip.ts"
import { visible } from "../../domain/text/Visible.ts"
import type { McpPrompt } from "../McpManager.ts"
import type { ServerPrompt } from "./McpPrompts.ts"
import type { McpFailed } from "./transport/McpTransport.ts"

/** Characters, as they are shown in lists. */
const DESCRIPTION = 300

interface PromptOptions {
  /** The name of the server as the person gave it, and the unique one. */
  readonly name: string
  readonly alias: string
  readonly get: (given: Readonly<Record<string, string>>) => Effect.Effect<ReadonlyArray<Content>, McpFailed>
  /** Without secrets. */
  readonly problem: (failure: McpFailed) => string
}

const flat = (text: string): string => clip(visible(text).replace(/\s+/g, " ").trim(), DESCRIPTION)

export const makePrompt = (
  { arguments: wanted = [], description, name: own, title }: ServerPrompt,
  { alias, get, name, problem }: PromptOptions
): McpPrompt => ({
  name: `mcp__${alias}__${clip(visible(own).replace(/[\s/]+/g, "_"), 64)}`,
  description: flat(description ?? title ?? own) || own,
  arguments: wanted.map((argument) => ({
    name: flat(argument.name),
    ...(argument.description === undefined ? {} : { description: flat(argument.description) }),
    required: argument.required === true
  })),
  get: (given) =>
    Effect.mapError(
      get(given),
      (failure) => new InvalidInput({ field: own, message: `The MCP server "${name}" ${problem(failure)}.` })
    )
})
