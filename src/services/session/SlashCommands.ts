/** The slash commands of one session: its list, told again when it changed, and what becomes of one that is typed. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type CommandInfo, typedIn } from "../../domain/Command.ts"
import type { Content } from "../../domain/Content.ts"
import type { Notice } from "../../domain/Event.ts"
import type { CommandAnswer, CommandPlace, CommandSession, CommandsShape } from "../Commands.ts"
import type { Journal } from "./Journal.ts"

/** How soon a change of files or servers is told to those who watch. */
const LOOK_EVERY = "3 seconds"

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
  const lifetime = yield* Effect.scope
  const warned = new Set<string>()
  let isWatching = false
  let told = ""

  const look = Effect.gen(function* () {
    const { commands: found, problems } = yield* commands.list(place)
    for (const title of problems) {
      if (!warned.has(title)) warn({ _tag: "Notice", severity: "warning", title })
      warned.add(title)
    }
    const text = JSON.stringify(found)
    const isNew = told !== "" && text !== told
    told = text
    return { found, isNew }
  })

  const lookAgain = Effect.gen(function* () {
    if (journal.watchers() === 0) return
    const { found, isNew } = yield* look
    if (isNew) yield* journal.tellEach(() => [{ _tag: "CommandsChanged", commands: found }])
  })

  const watch = Effect.suspend(() => {
    if (isWatching) return Effect.void
    isWatching = true
    return Effect.asVoid(Effect.forkIn(Effect.forever(Effect.delay(lookAgain, LOOK_EVERY)), lifetime))
  })

  return {
    list: Effect.gen(function* () {
      const { found, isNew } = yield* look
      if (isNew) yield* journal.tellEach(() => [{ _tag: "CommandsChanged", commands: found }])
      yield* watch
      return found
    }),
    answer: (content, session) => {
      const typed = typedIn(content)
      return typed === undefined ? Effect.undefined : commands.run(typed, session)
    }
  }
})
