/** The prompts of one MCP server: what there are, and what the server makes of one. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Content, text } from "../../domain/Content.ts"
import { clip } from "../../domain/text/Clip.ts"
import { visible } from "../../domain/text/Visible.ts"
import * as Lenient from "../../domain/wire/Lenient.ts"
import { decode } from "./Handshake.ts"
import type { McpFailed } from "./transport/McpTransport.ts"

const MAX_PAGES = 20
const MAX_PROMPTS = 200
const MAX_ARGUMENTS = 20
/** Pieces of what a server makes of a prompt, and characters of one. */
const MAX_PIECES = 100
const MAX_TEXT = 200_000

const Prompt = Schema.Struct({
  name: Schema.NonEmptyString,
  title: Lenient.drop(Schema.String),
  description: Lenient.drop(Schema.String),
  arguments: Lenient.drop(
    Schema.Array(
      Schema.Struct({
        name: Schema.NonEmptyString,
        description: Lenient.drop(Schema.String),
        required: Lenient.drop(Schema.Boolean)
      })
    )
  )
})
export type ServerPrompt = typeof Prompt.Type

const PromptPage = Schema.Struct({
  prompts: Schema.Array(Schema.Unknown),
  nextCursor: Lenient.drop(Schema.NonEmptyString)
})
const Made = Schema.Struct({
  messages: Schema.Array(Schema.Struct({ role: Schema.Literals(["user", "assistant"]), content: Schema.Json }))
})

const decodePrompt = Schema.decodeUnknownOption(Prompt)
const decodePage = decode(PromptPage, "a list of prompts")
const decodeMade = decode(Made, "a prompt")
const decodeContent = Schema.decodeUnknownOption(Content)

const bounded = (words: string): string =>
  words.length <= MAX_TEXT ? words : `${clip(words, MAX_TEXT)}\n[the rest is left out for its length]`

/** What the model is to have said already is told as that: a prompt is the person's. */
const contentOf = ({ content, role }: (typeof Made.Type)["messages"][number]): Content => {
  const known = Option.getOrElse(decodeContent(content), () =>
    text(`[content of an unknown kind] ${JSON.stringify(content)}`)
  )
  if (known.type !== "text") return known
  const words = bounded(visible(known.text))
  return text(role === "user" ? words : `<assistant>\n${words}\n</assistant>`)
}

export interface McpPrompts {
  readonly list: Effect.Effect<ReadonlyArray<ServerPrompt>, McpFailed>
  readonly get: (
    name: string,
    given: Readonly<Record<string, string>>
  ) => Effect.Effect<ReadonlyArray<Content>, McpFailed>
}

export const make = (
  request: (method: string, params: Schema.JsonObject) => Effect.Effect<unknown, McpFailed>
): McpPrompts => ({
  list: Effect.gen(function* () {
    const prompts: Array<ServerPrompt> = []
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES && prompts.length < MAX_PROMPTS; page++) {
      const result = yield* Effect.flatMap(request("prompts/list", cursor === undefined ? {} : { cursor }), decodePage)
      prompts.push(...result.prompts.flatMap((prompt) => Option.toArray(decodePrompt(prompt))))
      cursor = result.nextCursor
      if (cursor === undefined) break
    }
    return prompts
      .slice(0, MAX_PROMPTS)
      .map((prompt) => ({ ...prompt, arguments: (prompt.arguments ?? []).slice(0, MAX_ARGUMENTS) }))
  }),
  get: Effect.fnUntraced(function* (name, given) {
    const { messages } = yield* Effect.flatMap(request("prompts/get", { name, arguments: given }), decodeMade)
    return messages.slice(0, MAX_PIECES).map(contentOf)
  })
})
