/** Commands and skills as their Markdown files say them. What a file says wrong is told, and costs no more than that. */
import { clip } from "./text/Clip.ts"
import { describeProblem, parse } from "./text/FrontMatter.ts"
import { visible } from "./text/Visible.ts"

/** What both have. `model` is an id, or the last part of one. */
interface Described {
  readonly description: string
  readonly hint?: string
  readonly model?: string
  /** Without the fields. */
  readonly body: string
}

export interface CommandText extends Described {
  readonly problems: ReadonlyArray<string>
}

export interface SkillText extends Described {
  readonly name: string
  /** Whether the person can call it, and whether the model can. */
  readonly isForPeople: boolean
  readonly isForModel: boolean
  readonly problems: ReadonlyArray<string>
}

/** In characters, as they are shown in lists. */
const DESCRIPTION = 300
const HINT = 80

const SKILL_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/

type Fields = ReturnType<typeof parse>["fields"]

/** On one line, without what nobody sees. */
const flat = (text: string, limit: number): string => {
  const line = visible(text).replace(/\s+/g, " ").trim()
  return line.length <= limit ? line : `${clip(line, limit - 1)}…`
}

/** A field under any of its names. */
const valueOf = (fields: Fields, ...names: ReadonlyArray<string>) => {
  const name = names.find((known) => fields[known] !== undefined)
  return name === undefined ? undefined : fields[name]
}

const textOf = (value: ReturnType<typeof valueOf>): string | undefined => {
  if (value === undefined || value === "") return undefined
  return typeof value === "object" ? value.join(", ") : String(value)
}

/** A hint such as `[file]` is a list to whoever reads the field. */
const hintOf = (value: ReturnType<typeof valueOf>): string | undefined =>
  typeof value === "object" ? `[${value.join(" ")}]` : textOf(value)

const firstLine = (body: string): string =>
  body
    .split("\n")
    .map((line) => line.replace(/^#+\s*/, "").trim())
    .find((line) => line !== "") ?? ""

const describe = (fields: Fields, body: string): Described => {
  const hint = hintOf(valueOf(fields, "argument-hint", "argument_hint", "argumentHint"))
  const model = textOf(valueOf(fields, "model"))
  return {
    description: flat(textOf(valueOf(fields, "description")) ?? firstLine(body), DESCRIPTION),
    ...(hint === undefined ? {} : { hint: flat(hint, HINT) }),
    // Only other agents know what that means.
    ...(model === undefined || model === "inherit" ? {} : { model }),
    body: body.trim()
  }
}

export const parseCommand = (text: string, file: string): CommandText => {
  const { body, fields, problems } = parse(text)
  const empty =
    body.trim() === "" ? [`${file}: has no text, so the command asks nothing; write the prompt into it`] : []
  return {
    ...describe(fields, body),
    problems: [...problems.map((problem) => describeProblem(file, problem)), ...empty]
  }
}

/** `folder` is the name of its folder, which is its name where the file says none. Without a description there is no skill. */
export const parseSkill = (text: string, file: string, folder: string): SkillText => {
  const { body, fields, problems } = parse(text)
  const said = textOf(valueOf(fields, "name")) ?? folder
  const isName = SKILL_NAME.test(said)
  const described = describe(fields, body)
  const when = textOf(valueOf(fields, "when-to-use", "when_to_use"))
  const isDescribed = textOf(valueOf(fields, "description")) !== undefined
  return {
    ...described,
    ...(when === undefined ? {} : { description: flat(`${described.description} ${when}`, DESCRIPTION) }),
    name: isName ? said : flat(folder, 64),
    isForPeople: valueOf(fields, "user-invocable", "user_invocable") !== false,
    isForModel: isDescribed && valueOf(fields, "disable-model-invocation", "disable_model_invocation") !== true,
    problems: [
      ...problems.map((problem) => describeProblem(file, problem)),
      ...(isName ? [] : [`${file}: the name "${flat(said, 64)}" is none; use a-z, 0-9 and -, at most 64 of them`]),
      ...(isDescribed ? [] : [`${file}: has no description, so the model is not told of the skill; write one`])
    ]
  }
}
