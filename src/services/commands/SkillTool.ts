/** What a model is told of skills, and the `skill` tool by which it opens one. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { textContent } from "../../domain/Tool.ts"
import type { CommandFilesShape, Skill } from "../CommandFiles.ts"
import type { PreparedCall, ToolDefinition, ToolOutcome } from "../ToolDefinition.ts"
import { makeInput } from "../tools/support/Input.ts"
import { failed } from "../tools/support/Outcome.ts"
import { skillText } from "./Expanding.ts"

/** Skills that a model is told of, and characters of all that it is told. */
const MOST = 100
const LONGEST = 20_000

/** Nothing where there are none. */
export const describeSkills = (skills: ReadonlyArray<Skill>): string => {
  const offered = skills.filter(({ isForModel }) => isForModel)
  if (offered.length === 0) return ""
  const lines: Array<string> = []
  let length = 0
  for (const { description, name } of offered.slice(0, MOST)) {
    const line = `- ${name}: ${description}`
    length += line.length
    if (length > LONGEST) break
    lines.push(line)
  }
  return [
    "<skills>",
    "Instructions for certain tasks. Before you begin one that a skill is for, open it with the skill tool and follow it.",
    ...lines,
    ...(lines.length < offered.length ? [`- and ${offered.length - lines.length} more, which are not listed`] : []),
    "</skills>"
  ].join("\n")
}

const parameters = Schema.Struct({ name: Schema.String.annotate({ description: "As it is listed" }) })

const tool = AiTool.make("skill", { description: "Open a skill: read its instructions.", parameters })

export const makeSkillTool = (files: CommandFilesShape): ToolDefinition => {
  const decode = makeInput("skill", parameters)

  const run = Effect.fn("Tools.skill")(function* (name: string, cwd: string): Effect.fn.Return<ToolOutcome> {
    const { skills } = yield* files.of(cwd)
    const offered = skills.filter(({ isForModel }) => isForModel)
    const skill = offered.find((known) => known.name === name)
    const opened = skill === undefined ? undefined : yield* files.open(skill)
    if (skill === undefined || opened === undefined) {
      return failed(`There is no skill "${name}". The skills are: ${offered.map((known) => known.name).join(", ")}.`)
    }
    return {
      status: "completed",
      text: skillText(skill, opened, opened.body),
      content: [textContent(`Opened \`${skill.file}\``)],
      locations: [{ path: skill.file }]
    }
  })

  return {
    tool,
    kind: "read",
    title: "Open skill",
    concurrency: "shared",
    prepare: Effect.fnUntraced(function* (raw, { cwd }) {
      const { name } = yield* decode(raw)
      return {
        title: `Open the skill ${name.slice(0, 100)}`.toWellFormed(),
        kind: "read",
        locations: [],
        preview: [],
        // Its instructions are the person's words; what else lies in its folder is read as any other file.
        access: { _tag: "None" },
        run: () => run(name, cwd)
      } satisfies PreparedCall
    })
  }
}
