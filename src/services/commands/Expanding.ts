/** Commands that ask the model something: those of files, skills, and prompts of MCP servers. */
import * as Effect from "effect/Effect"
import type { CommandInfo, Typed } from "../../domain/Command.ts"
import { expand, wordsOf } from "../../domain/CommandTemplate.ts"
import { text } from "../../domain/Content.ts"
import type { CommandFilesShape, FileCommand, OpenedSkill, Skill } from "../CommandFiles.ts"
import type { CommandAnswer } from "../Commands.ts"
import type { McpPrompt } from "../McpManager.ts"

const said = (words: string): CommandAnswer => ({ _tag: "Said", text: words })

const modelOf = ({ model }: { readonly model?: string }) => (model === undefined ? {} : { model })

export const infoOf = ({ description, hint, name }: FileCommand | Skill): CommandInfo => ({
  name,
  description: description === "" ? name : description,
  ...(hint === undefined ? {} : { hint })
})

export const askFile = (command: FileCommand, { input, rest }: Typed): CommandAnswer => ({
  _tag: "Asks",
  content: [text(expand(command.body, input)), ...rest],
  ...modelOf(command)
})

/** What a model reads of a skill, and where the rest of it is. */
export const skillText = ({ folder, name }: Skill, { files }: OpenedSkill, body: string): string =>
  [
    `<skill name="${name}" folder="${folder}">`,
    body,
    "</skill>",
    ...(files.length === 0 ? [] : [`Beside it, in its folder: ${files.join(", ")}`])
  ].join("\n")

export const askSkill = Effect.fnUntraced(function* (
  skill: Skill,
  { input, rest }: Typed,
  files: CommandFilesShape
): Effect.fn.Return<CommandAnswer> {
  const opened = yield* files.open(skill)
  if (opened === undefined) return said(`${skill.file} cannot be read any more.`)
  const task = `${skillText(skill, opened, expand(opened.body, input))}\n\nDo what this skill says.`
  return { _tag: "Asks", content: [text(task), ...rest], ...modelOf(skill) }
})

const usageOf = ({ arguments: wanted }: McpPrompt): string =>
  wanted.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(" ")

export const promptInfo = (prompt: McpPrompt): CommandInfo => {
  const hint = usageOf(prompt)
  return { name: prompt.name, description: prompt.description, ...(hint === "" ? {} : { hint }) }
}

const isNamed = /^([^\s=]+)=([^]*)$/

/** Words in the order of the arguments, or `name=value`; what is left over belongs to the last one. */
const argumentsIn = (input: string, { arguments: wanted }: McpPrompt): Readonly<Record<string, string>> => {
  const given = new Map<string, string>()
  const free: Array<string> = []
  for (const word of wordsOf(input)) {
    const [, name, value] = isNamed.exec(word) ?? []
    if (name !== undefined && value !== undefined && wanted.some((known) => known.name === name)) given.set(name, value)
    else free.push(word)
  }
  const open = wanted.filter(({ name }) => !given.has(name))
  for (const [index, { name }] of open.entries()) {
    const isLast = index === open.length - 1
    const value = isLast ? free.slice(index).join(" ") : (free[index] ?? "")
    if (value !== "") given.set(name, value)
  }
  return Object.fromEntries(given)
}

export const askServer = Effect.fnUntraced(function* (
  prompt: McpPrompt,
  { input, rest }: Typed
): Effect.fn.Return<CommandAnswer> {
  const given = argumentsIn(input, prompt)
  const missing = prompt.arguments.filter(({ name, required }) => required && !Object.hasOwn(given, name))
  if (missing.length > 0) {
    const list = prompt.arguments.map(
      ({ description, name, required }) =>
        `- \`${name}\`${required ? "" : " (may be left out)"}${description === undefined ? "" : `: ${description}`}`
    )
    return said(`Type \`/${prompt.name} ${usageOf(prompt)}\`:\n\n${list.join("\n")}`)
  }
  return yield* prompt.get(given).pipe(
    Effect.map((content): CommandAnswer => ({ _tag: "Asks", content: [...content, ...rest] })),
    Effect.catch(({ message }) => Effect.succeed(said(message)))
  )
})
