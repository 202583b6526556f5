/** The slash commands. Loaded after the first session is open. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type BuiltIn, type BuiltInName, builtInsOf } from "../../domain/BuiltInCommands.ts"
import type { CommandInfo, Typed } from "../../domain/Command.ts"
import { text } from "../../domain/Content.ts"
import { describeUndo } from "../../domain/session/Undo.ts"
import { Changes } from "../Changes.ts"
import { CommandFiles } from "../CommandFiles.ts"
import { type CommandAnswer, type CommandPlace, Commands, type CommandSession, type SkillOffer } from "../Commands.ts"
import { Harnesses } from "../Harnesses.ts"
import { describeServers } from "../mcp/McpDescription.ts"
import { Models } from "../Models.ts"
import { Projects } from "../Projects.ts"
import { Settings } from "../Settings.ts"
import { Turn } from "../Turn.ts"
import { chooseBy } from "./Choosing.ts"
import { clear, compact, exportTo } from "./Conversation.ts"
import { describeDiff } from "./Diffs.ts"
import { askFile, askServer, askSkill, infoOf, promptInfo } from "./Expanding.ts"
import { describePermissions } from "./Permissions.ts"
import { describeAgents, describeContext, describeCost, describeStatus } from "./Reporting.ts"
import { initPrompt, reviewPrompt } from "./Tasks.ts"

const said = (words: string): CommandAnswer => ({ _tag: "Said", text: words })

const asks = (words: string, { rest }: Typed): CommandAnswer => ({ _tag: "Asks", content: [text(words), ...rest] })

const noSkills: SkillOffer = { text: "", tools: [] }

/** The first of each name, where what asks the model gives way to files that ask it better. */
const joined = (builtIns: ReadonlyArray<BuiltIn>, others: ReadonlyArray<CommandInfo>): ReadonlyArray<CommandInfo> => {
  const all = new Map<string, CommandInfo>()
  for (const { isFor: _isFor, isPrompt: _isPrompt, ...info } of builtIns) all.set(info.name, info)
  const replaceable = new Set<string>(builtIns.flatMap(({ isPrompt, name }) => (isPrompt === true ? [name] : [])))
  for (const info of others) {
    if (all.has(info.name) && !replaceable.delete(info.name)) continue
    all.set(info.name, info)
  }
  return [...all.values()]
}

const helpOf = (commands: ReadonlyArray<CommandInfo>): string =>
  [
    "Type one of these as a prompt of its own:",
    "",
    ...commands.map(
      ({ description, hint, name }) => `- \`/${name}${hint === undefined ? "" : ` ${hint}`}\` ${description}`
    )
  ].join("\n")

export const layer: Layer.Layer<Commands, never, Changes | CommandFiles | Models | Projects | Settings | Turn> =
  Layer.effect(
    Commands,
    Effect.gen(function* () {
      const changes = yield* Changes
      const files = yield* CommandFiles
      const harnesses = yield* Harnesses
      const models = yield* Models
      const projects = yield* Projects
      const settings = yield* Settings
      const turn = yield* Turn
      /** With what tools are made of, which no list needs. */
      const skillOffer = yield* Effect.cached(
        Effect.map(
          Effect.promise(() => import("./SkillTool.ts")),
          ({ describeSkills, makeSkillTool }) => ({ describeSkills, tools: [makeSkillTool(files)] })
        )
      )

      const undo = Effect.fn("Commands.undo")(({ log, state, workspace }: CommandSession) =>
        changes.undo(workspace, state(), log)
      )
      const diff = Effect.fn("Commands.diff")(({ state, workspace }: CommandSession) =>
        changes.diff(workspace, state())
      )

      const list = Effect.fn("Commands.list")(function* ({ cwd, harness, prompts }: CommandPlace) {
        const { commands, problems, skills } = yield* files.of(cwd)
        const others = [
          ...commands.map(infoOf),
          ...skills.filter(({ isForPeople }) => isForPeople).map(infoOf),
          ...(yield* prompts).map(promptInfo)
        ]
        return { commands: joined(builtInsOf(harness), others), problems }
      })

      const modelOf = Effect.fnUntraced(function* (session: CommandSession) {
        const { id } = yield* session.turn.model
        return (yield* models.list).find((model) => model.id === id)
      })

      const builtIn = Effect.fnUntraced(function* (name: BuiltInName, typed: Typed, session: CommandSession) {
        const { input } = typed
        switch (name) {
          case "help":
            return said(helpOf((yield* list(session)).commands))
          case "status":
            return said(yield* describeStatus(session, yield* modelOf(session)))
          case "model":
          case "mode":
          case "effort":
            return said(yield* chooseBy(name, input, session))
          case "context":
            return said(describeContext(session, yield* modelOf(session)))
          case "cost":
            return said(yield* describeCost(session, yield* modelOf(session)))
          case "compact":
            return { _tag: "Said", ...(yield* compact(session, turn, input)) } satisfies CommandAnswer
          case "clear":
            return said(yield* clear(session))
          case "undo":
            return said(describeUndo(yield* Effect.uninterruptible(undo(session)), session.cwd))
          case "diff":
            return said(describeDiff(yield* diff(session), session.cwd))
          case "mcp":
            return said(describeServers(yield* session.servers))
          case "permissions":
            return said(yield* describePermissions(session, settings, projects))
          case "agents":
            return said(yield* describeAgents(session, harnesses.list))
          case "init":
            return asks(initPrompt(input), typed)
          case "review":
            return asks(reviewPrompt(input), typed)
          case "export":
            return said(yield* exportTo(session, turn, input))
        }
      })

      const ofFile = Effect.fnUntraced(function* (typed: Typed, session: CommandSession) {
        const { commands, skills } = yield* files.of(session.cwd)
        const command = commands.find(({ name }) => name === typed.name)
        if (command !== undefined) return askFile(command, typed)
        const skill = skills.find(({ isForPeople, name }) => isForPeople && name === typed.name)
        return skill === undefined ? undefined : yield* askSkill(skill, typed, files)
      })

      return {
        undo,
        diff,
        list,
        run: Effect.fn("Commands.run")(function* (typed, session) {
          const own = builtInsOf(session.harness).find(({ name }) => name === typed.name)
          if (own !== undefined && own.isPrompt !== true) {
            // What was attached is a question about that, and no command.
            if (typed.rest.length > 0) return undefined
            return typed.input !== "" && own.hint === undefined
              ? said(
                  `\`/${own.name}\` takes nothing behind its name: ${own.description.toLowerCase()}. Nothing was done.`
                )
              : yield* builtIn(own.name, typed, session)
          }
          const found = yield* ofFile(typed, session)
          if (found !== undefined) return found
          if (own !== undefined) return yield* builtIn(own.name, typed, session)
          if (!typed.name.startsWith("mcp__")) return undefined
          const prompt = (yield* session.prompts).find(({ name }) => name === typed.name)
          return prompt === undefined ? undefined : yield* askServer(prompt, typed)
        }),
        skills: Effect.fn("Commands.skills")(function* ({ cwd, harness }) {
          if (!harness.tools.includes("read")) return noSkills
          const { skills } = yield* files.of(cwd)
          if (skills.length === 0) return noSkills
          const { describeSkills, tools } = yield* skillOffer
          const told = describeSkills(skills)
          return told === "" ? noSkills : { text: told, tools }
        })
      }
    })
  )
