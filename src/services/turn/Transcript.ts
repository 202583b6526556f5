/** The conversation as the model of this turn can take it, and as the log keeps it. */
import * as Effect from "effect/Effect"
import * as Prompt from "effect/ai/Prompt"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Content } from "../../domain/Content.ts"
import { userMessage } from "../../domain/session/ContextMessage.ts"
import type { ModelInfo } from "../../domain/Model.ts"
import type { TurnSession } from "../Turn.ts"
import { repairCalls } from "./ContextRepair.ts"

export interface Transcript {
  /** What the model is asked with, behind the system prompt. */
  readonly messages: (model: ModelInfo) => ReadonlyArray<Prompt.Message>
  /** The same for a model that takes everything. */
  readonly stored: () => ReadonlyArray<Prompt.Message>
  /** How many of them were there before this turn. */
  readonly known: number
  readonly append: (messages: ReadonlyArray<Prompt.Message>) => Effect.Effect<void>
  /** These are all that the model sees from now on. A prompt that waits for its answer is still the last of them. */
  readonly replace: (messages: ReadonlyArray<Prompt.Message>) => Effect.Effect<void>
  /**
   * Leaves out what was told and not appended, such as an error. Without `keepPrompt`, the prompt of this turn and all
   * that followed it is left out as well.
   */
  readonly end: (options: { readonly keepPrompt: boolean }) => Effect.Effect<void>
}

const decodeMessage = Schema.decodeUnknownOption(Prompt.Message)
const encodeMessage = Schema.encodeEffect(Prompt.Message)
const toJson = Schema.decodeUnknownEffect(Schema.Json)

const known = new WeakMap<object, Option.Option<Prompt.Message>>()

/** Decoded once per message, so that a turn costs the same however long the conversation is. */
const readMessage = (message: Schema.Json): Option.Option<Prompt.Message> => {
  if (typeof message !== "object" || message === null) return Option.none()
  const read = known.get(message) ?? decodeMessage(message)
  known.set(message, read)
  return read
}

const isImage = (part: Prompt.UserMessagePart): part is Prompt.FilePart =>
  part.type === "file" && part.mediaType.startsWith("image/")

/** Another model may have taken the images; this one must not fail over them for the rest of the session (F98). */
const withoutImages = (message: Prompt.Message): Prompt.Message =>
  message.role === "user" && message.content.some(isImage)
    ? Prompt.userMessage({
        options: message.options,
        content: message.content.map((part) =>
          isImage(part)
            ? Prompt.textPart({ text: `[An image (${part.mediaType}) was attached, but this model takes no images]` })
            : part
        )
      })
    : message

/** What the session's model has seen, and `asked` behind it, which is logged. */
export const open = Effect.fnUntraced(function* (
  session: TurnSession,
  prompt?: ReadonlyArray<Content>
): Effect.fn.Return<Transcript> {
  const before = yield* session.context
  const asked = prompt === undefined ? [] : [userMessage(prompt)]
  let messages = [...repairCalls([...before, ...asked].flatMap((message) => Option.toArray(readMessage(message))))]
  /** In the log. */
  let beginning = before.length
  if (asked.length > 0) yield* session.log({ _tag: "ContextAppended", messages: asked })

  const encode = Effect.fnUntraced(function* (added: ReadonlyArray<Prompt.Message>) {
    return yield* Effect.forEach(added, (message) => Effect.flatMap(encodeMessage(message), toJson))
  }, Effect.orDie)

  return {
    messages: ({ image }) => (image ? messages : messages.map(withoutImages)),
    stored: () => messages,
    known: messages.length - asked.length,
    append: Effect.fnUntraced(function* (added) {
      if (added.length === 0) return
      yield* session.log({ _tag: "ContextAppended", messages: yield* encode(added) })
      messages.push(...added)
    }),
    replace: Effect.fnUntraced(function* (all) {
      yield* session.log({ _tag: "Compacted", messages: yield* encode(all) })
      messages = [...all]
      beginning = all.length - asked.length
    }),
    end: ({ keepPrompt }) =>
      Effect.flatMap(session.context, (present) =>
        session.log({ _tag: "ContextTruncated", length: keepPrompt ? present.length : beginning })
      )
  }
})
