/** The `ask_user` tool: questions to the person, as a form where the editor has forms. Its answers permit nothing. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { textContent } from "../../domain/Tool.ts"
import {
  type PreparedCall,
  type ToolContext,
  type ToolDefinition,
  ToolInputInvalid,
  type ToolOutcome
} from "../ToolDefinition.ts"
import { answersIn, formOf, problemIn, Question, toText } from "./support/QuestionForm.ts"
import { makeInput } from "./support/Input.ts"
import { failed } from "./support/Outcome.ts"
import { clip } from "../../domain/text/Clip.ts"

const parameters = Schema.Struct({ questions: Schema.Array(Question) })

const tool = AiTool.make("ask_user", {
  description:
    "Ask the user 1 to 4 questions and wait for the answers; without options the answer is free text. Not for permissions (calls ask by themselves) and never for passwords, keys or tokens.",
  parameters
})

type Questions = (typeof parameters.Type)["questions"]

const inText =
  "Put the question into your answer and end your turn there; the user then replies with the next message. " +
  "If nobody reads along, decide yourself and say what you assumed."

const noForm = `The questions were not put: no form can be shown to a user of this session. ${inText}`
const nobody =
  "The questions were not put: nobody is present. Decide yourself, and say in your answer what you assumed."

/** Characters of a title. */
const TITLE_LIMIT = 120

const titleOf = ([first, ...others]: Questions): string => {
  const text = `Ask: ${(first?.header ?? first?.question ?? "").trim().replace(/\s+/g, " ")}`
  const cut = text.length > TITLE_LIMIT ? `${clip(text, TITLE_LIMIT)}…` : text
  return others.length === 0 ? cut : `${cut} (and ${others.length} more)`
}

export const makeAskUser = (): ToolDefinition => {
  const decode = makeInput("ask_user", parameters)

  const ask = Effect.fn("Tools.askUser")(function* (questions: Questions, { callId, elicit, workspace }: ToolContext) {
    if (elicit === undefined) return failed(workspace.editor === undefined ? nobody : noForm)
    const { sessionId } = workspace
    const answer = yield* elicit({ _tag: "Form", sessionId, callId, ...formOf(questions) })
    switch (answer._tag) {
      case "Accepted": {
        const answers = answersIn(questions, answer.content)
        const text = toText(answers)
        return {
          status: "completed",
          text,
          content: [textContent(text)],
          rawOutput: { answers: answers.map(({ chosen, question, words }) => ({ question, chosen, words })) }
        } satisfies ToolOutcome
      }
      case "Declined":
        return failed(
          "The user saw the questions and declined to answer. Do not ask them again; go on without, or say what you need."
        )
      case "Cancelled":
        return failed(
          "The user closed the form without an answer. Decide yourself, or end your turn and say what is open."
        )
      case "Gone":
        return failed(`The editor went away before the user answered. ${inText}`)
      case "Unanswered":
        return failed(`The questions could not be put: ${answer.reason.replace(/\.$/, "")}. ${inText}`)
    }
  })

  return {
    tool,
    kind: "other",
    title: "Ask the user",
    // Two forms at once would be one too many.
    concurrency: "exclusive",
    prepare: Effect.fnUntraced(function* (raw) {
      const { questions } = yield* decode(raw)
      const message = problemIn(questions)
      if (message !== undefined) return yield* new ToolInputInvalid({ message })
      return {
        title: titleOf(questions),
        kind: "other",
        locations: [],
        preview: [textContent(questions.map(({ question }) => question).join("\n\n"))],
        access: { _tag: "None" },
        run: (context) => ask(questions, context)
      } satisfies PreparedCall
    })
  }
}
