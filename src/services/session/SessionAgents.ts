/** The custom agent of a session, and those that it can have: read anew at each prompt, and held to what was chosen. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mayUse, modelFor, narrowed, promptWith, sameName, within } from "../../domain/agent/Applying.ts"
import type { AgentChoice, AgentLimits, CustomAgent, FoundAgent } from "../../domain/CustomAgent.ts"
import type { Notice } from "../../domain/Event.ts"
import type { InvalidInput } from "../../domain/Failure.ts"
import type { ModelInfo } from "../../domain/Model.ts"
import type { AgentsSnapshot } from "../Agent.ts"
import type { CustomAgentsShape, NewAgent } from "../CustomAgents.ts"
import type { TurnSession } from "../Turn.ts"
import type { Configured } from "./SessionOptions.ts"
import * as Watch from "./Watch.ts"

export interface SessionAgents {
  readonly list: () => ReadonlyArray<FoundAgent>
  /** The chosen one as it is now, within the limits of its choice; absent when none is chosen, or it is gone. */
  readonly current: () => CustomAgent | undefined
  /** What the chosen one keeps the session from, also when it is gone. */
  readonly limits: () => AgentLimits
  /** The model that it brings, if it can be used and nobody chose another one since. */
  readonly model: (known: ReadonlyArray<ModelInfo>) => ModelInfo | undefined
  /** The choices of somebody: a model that is chosen under an agent takes the place of the agent's own. */
  readonly chosen: (choices: Configured) => Configured
  /** What a turn begins with, as far as the agent lets it. */
  readonly limit: (turn: Limited) => Limited
  /** Reads the files again, and tells what changed. From the first time on, that happens by itself while somebody watches. */
  readonly refresh: Effect.Effect<void>
  readonly snapshot: Effect.Effect<AgentsSnapshot>
  readonly create: (agent: NewAgent) => Effect.Effect<FoundAgent, InvalidInput>
  /** What a person should know, each once. */
  readonly notices: (known: ReadonlyArray<ModelInfo>) => ReadonlyArray<Notice>
}

type Limited = Pick<TurnSession, "harness" | "ownTools" | "skills" | "systemPrompt">

interface SessionAgentsInput {
  readonly service: CustomAgentsShape
  readonly cwd: string
  /** The present choice of the session. */
  readonly choice: () => AgentChoice | undefined
  readonly isWatched: () => boolean
  /** Tells whoever watches what can be chosen now, and what is, if that is another one. */
  readonly tell: (isModeNew: boolean) => Effect.Effect<void>
}

/** Problems of one session that are told. */
const MOST_TOLD = 100

const none: AgentLimits = {}

const warning = (title: string, description: string): Notice => ({
  _tag: "Notice",
  severity: "warning",
  title,
  description
})

const shownOf = (agents: ReadonlyArray<FoundAgent>): string =>
  JSON.stringify(agents.map(({ description, name, scope }) => [name, description, scope]))

/** The scope is the session's. */
export const make = Effect.fnUntraced(function* ({
  choice,
  cwd,
  isWatched,
  service,
  tell
}: SessionAgentsInput): Effect.fn.Return<SessionAgents, never, Scope.Scope> {
  let found: ReadonlyArray<FoundAgent> = []
  let problems: ReadonlyArray<string> = []
  let isFirst = true
  let brought: CustomAgent | undefined
  const told = new Set<string>()

  /** One that the client brought stands before the files. */
  const list = (): ReadonlyArray<FoundAgent> => {
    brought = choice()?.definition ?? brought
    const own = brought
    if (own === undefined) return found
    return [{ ...own, scope: "session" }, ...found.filter(({ name }) => !sameName(name, own.name))]
  }

  const present = (): FoundAgent | undefined => {
    const chosen = choice()
    return chosen === undefined ? undefined : list().find(({ name }) => name === chosen.name)
  }

  const current = (): CustomAgent | undefined => {
    const agent = present()
    if (agent === undefined) return undefined
    const { mode: _mode, tools: _tools, without: _without, ...rest } = agent
    return { ...rest, ...within(agent, choice()?.limits ?? none) }
  }

  const limits = (): AgentLimits => current() ?? choice()?.limits ?? none

  const model = (known: ReadonlyArray<ModelInfo>): ModelInfo | undefined => {
    const wanted = choice()?.ownModel === true ? present()?.model : undefined
    return wanted === undefined ? undefined : modelFor(known, wanted)
  }

  const once = (key: string, notice: Notice): ReadonlyArray<Notice> => {
    if (told.has(key) || told.size >= MOST_TOLD) return []
    told.add(key)
    return [notice]
  }

  const look = Effect.gen(function* () {
    const before = current()?.name
    const { agents, problems: its } = yield* service.list(cwd)
    const isChanged = shownOf(agents) !== shownOf(found)
    found = agents
    problems = its
    // Of the first list a client learns with the answer that opens the session.
    if (!isFirst && isChanged) yield* tell(current()?.name !== before)
  })

  const watch = yield* Watch.make(isWatched, look)

  const refresh = Effect.gen(function* () {
    yield* look
    isFirst = false
    yield* watch.begin
  })

  return {
    list,
    current,
    limits,
    model,
    chosen: (choices) => {
      const agent = choice()
      return choices.model === undefined || agent === undefined
        ? choices
        : { agent: { ...agent, ownModel: false }, ...choices }
    },
    limit: ({ harness, ownTools, skills, systemPrompt }) => {
      const agent = current()
      const bounds = limits()
      return {
        harness: narrowed(harness, bounds),
        ownTools: Effect.map(ownTools, (tools) => tools.filter(({ tool }) => mayUse(bounds, tool.name))),
        skills: mayUse(bounds, "skill") ? skills : Effect.succeed(""),
        systemPrompt: agent === undefined ? systemPrompt : promptWith(agent, systemPrompt ?? harness.prompt)
      }
    },
    refresh,
    snapshot: Effect.andThen(
      refresh,
      Effect.sync(() => ({ agents: list(), current: current()?.name }))
    ),
    create: Effect.fnUntraced(function* (agent) {
      const created = yield* service.create(cwd, agent)
      yield* refresh
      return created
    }),
    notices: (known) => {
      const chosen = choice()
      const agent = present()
      const wanted = agent?.model
      return [
        ...problems.flatMap((problem) => once(problem, warning("The file of an agent has a mistake", problem))),
        ...(chosen !== undefined && agent === undefined
          ? once(
              `gone ${chosen.name}`,
              warning(
                `The agent ${chosen.name} is not there any more`,
                "The session goes on without its instructions, and within the mode and tools that it had. Choose a mode or another agent to leave those limits, or bring its file back."
              )
            )
          : []),
        ...(wanted !== undefined && chosen?.ownModel === true && model(known) === undefined
          ? once(
              `model ${agent?.name ?? ""} ${wanted}`,
              warning(
                `The model ${wanted} of the agent ${agent?.name ?? ""} cannot be used`,
                "No configured provider offers it. The session goes on with the model that it had; choose another one, or correct the file of the agent."
              )
            )
          : [])
      ]
    }
  }
})
