/** Questions of a model as the fields of a form, and what was filled in as text. What comes back is judged again (ELI-07). */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { clip } from "../../../domain/text/Clip.ts"

export const Question = Schema.Struct({
  question: Schema.String,
  header: Schema.optionalKey(Schema.String.annotate({ description: "A few words" })),
  options: Schema.optionalKey(
    Schema.Array(Schema.Struct({ label: Schema.String, description: Schema.optionalKey(Schema.String) }))
  ),
  multiSelect: Schema.optionalKey(Schema.Boolean.annotate({ description: "Several options may be chosen" }))
})
export type Question = typeof Question.Type

type Questions = ReadonlyArray<Question>

const MOST_QUESTIONS = 4
const MOST_OPTIONS = 12
const LONGEST_QUESTION = 2_000
const LONGEST_LABEL = 200
const LONGEST_ANSWER = 10_000

/** What is wrong with the questions, for the model. */
export const problemIn = (questions: Questions): string | undefined => {
  const { length } = questions
  if (length === 0) return `"questions" is empty: give one to ${MOST_QUESTIONS}`
  if (length > MOST_QUESTIONS) return `"questions" has ${length} entries; at most ${MOST_QUESTIONS} fit into a form`
  for (const [at, { header = "", options = [], question }] of questions.entries()) {
    const field = `"questions.${at}.`
    if (question.trim() === "") return `${field}question" is empty`
    if (question.length > LONGEST_QUESTION) return `${field}question" is longer than ${LONGEST_QUESTION} characters`
    if (header.length > LONGEST_LABEL) return `${field}header" is longer than ${LONGEST_LABEL} characters`
    if (options.length === 1 || options.length > MOST_OPTIONS) {
      return `${field}options" has ${options.length} entries; give 2 to ${MOST_OPTIONS}, or none for free text`
    }
    const labels = options.map(({ label }) => label.trim())
    if (labels.some((label) => label === "" || label.length > LONGEST_LABEL)) {
      return `${field}options" has a label that is empty or longer than ${LONGEST_LABEL} characters`
    }
    if (new Set(labels).size < labels.length) return `${field}options" has the same label twice`
    if (options.some(({ description = "" }) => description.length > LONGEST_QUESTION)) {
      return `${field}options" has a description that is longer than ${LONGEST_QUESTION} characters`
    }
  }
  return undefined
}

const choiceKey = (at: number): string => `answer${at + 1}`
const wordsKey = (at: number): string => `words${at + 1}`

const choicesOf = ({ options = [] }: Question) =>
  options.map(({ description, label }) => ({
    const: label.trim(),
    title: label.trim(),
    ...(description === undefined ? {} : { description })
  }))

const fieldsOf = (question: Question, at: number): Readonly<Record<string, Schema.JsonObject>> => {
  const about = { title: question.header ?? question.question, description: question.question }
  const choices = choicesOf(question)
  if (choices.length === 0) return { [wordsKey(at)]: { type: "string", ...about, maxLength: LONGEST_ANSWER } }
  const field =
    question.multiSelect === true
      ? { type: "array", ...about, items: { anyOf: choices } }
      : { type: "string", ...about, oneOf: choices }
  const words = { type: "string", title: "Or in your own words", maxLength: LONGEST_ANSWER }
  return { [choiceKey(at)]: field, [wordsKey(at)]: words }
}

/** The form of the questions. No field is required: an answer may be to some of them. */
export const formOf = (questions: Questions) => {
  const [first] = questions
  const message = questions.length === 1 && first !== undefined ? first.question : "The agent has questions"
  const properties = Object.fromEntries(questions.flatMap((question, at) => Object.entries(fieldsOf(question, at))))
  return { message, schema: { type: "object", properties } }
}

export interface Answered {
  readonly question: string
  readonly chosen: ReadonlyArray<string>
  readonly words: string
}

const toLabels = Schema.decodeUnknownOption(Schema.Union([Schema.Array(Schema.Unknown), Schema.String]))

/** Only what was offered counts as chosen, each label once. */
const chosenOf = (question: Question, value: unknown): ReadonlyArray<string> => {
  const given = Option.getOrElse(toLabels(value), (): ReadonlyArray<unknown> => [])
  const labels = typeof given === "string" ? [given] : given
  const chosen = choicesOf(question)
    .map((choice) => choice.const)
    .filter((label) => labels.includes(label))
  return question.multiSelect === true ? chosen : chosen.slice(0, 1)
}

/** What was filled in, by the questions. */
export const answersIn = (questions: Questions, content: Schema.JsonObject): ReadonlyArray<Answered> =>
  questions.map((question, at) => {
    const words = content[wordsKey(at)]
    return {
      question: question.question,
      chosen: chosenOf(question, content[choiceKey(at)]),
      words: typeof words === "string" ? clip(words.trim(), LONGEST_ANSWER).toWellFormed() : ""
    }
  })

/** Whether any question has an answer, and which, for the model. */
export const toText = (answers: ReadonlyArray<Answered>): string => {
  if (answers.every(({ chosen, words }) => chosen.length === 0 && words === "")) {
    return "The user sent the form without an answer. Decide yourself, and say what you assumed."
  }
  const lines = answers.map(({ chosen, question, words }) => {
    const said = [...chosen, ...(words === "" ? [] : [chosen.length === 0 ? words : `in their own words: ${words}`])]
    return `${question}\n→ ${said.length === 0 ? "(no answer)" : said.join("; ")}`
  })
  return lines.join("\n\n")
}
