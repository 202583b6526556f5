/** The slash commands of one session: its list, told again when it changed, and what becomes of one that is typed. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type CommandInfo, typedIn } from "../../domain/Command.ts"
import type { Content } from "../../domain/Content.ts"
import type { Notice } from "../../domain/Event.ts"
import type { CommandAnswer, CommandPlace, CommandSession, CommandsShape } from "../Commands.ts"
import type { Journal } from "./Journal.ts"
import * as Watch from "./Watch.ts"

/** Problems of one session that are told. */
const MOST_TOLD = 100

export interface SlashCommands {
  /** From the first time on, whoever watches is told of changes. */
  readonly list: Effect.Effect<ReadonlyArray<CommandInfo>>
  /** Undefined for what is no command. */
  readonly answer: (
    content: ReadonlyArray<Content>,
    session: CommandSession
  ) => Effect.Effect<CommandAnswer | undefined>
}

interface SlashCommandsInput {
  readonly commands: CommandsShape
  readonly place: CommandPlace
  readonly journal: Journal
  readonly warn: (notice: Notice) => void
}

/** The scope is the session's. */
export const make = Effect.fnUntraced(function* ({
  commands,
  journal,
  place,
  warn
}: SlashCommandsInput): Effect.fn.Return<SlashCommands, never, Scope.Scope> {
  const warned = new Set<string>()
  let told = ""

  const look = Effect.gen(function* () {
    const { commands: found, problems } = yield* commands.list(place)
    for (const title of problems) {
      if (warned.has(title) || warned.size >= MOST_TOLD) continue
      warned.add(title)
      warn({ _tag: "Notice", severity: "warning", title })
    }
    const text = JSON.stringify(found)
    const isNew = told !== "" && text !== told
    told = text
    if (isNew) yield* journal.tellEach(() => [{ _tag: "CommandsChanged", commands: found }])
    return found
  })

  const watch = yield* Watch.make(() => journal.watchers() > 0, Effect.asVoid(look))

  return {
    list: Effect.tap(look, watch.begin),
    answer: (content, session) => {
      const typed = typedIn(content)
      return typed === undefined ? Effect.undefined : commands.run(typed, session)
    }
  }
})
