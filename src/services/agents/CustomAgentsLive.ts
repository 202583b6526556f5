/** Agents from the files of this machine. Loaded with the first session. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { readAgentObject } from "../../domain/agent/AgentFile.ts"
import { builtInAgents } from "../../domain/agent/BuiltInAgents.ts"
import { nameProblem } from "../../domain/agent/AgentName.ts"
import { sameName, within } from "../../domain/agent/Applying.ts"
import type { AgentLimits, CustomAgent, FoundAgent } from "../../domain/CustomAgent.ts"
import { InvalidInput } from "../../domain/Failure.ts"
import { render } from "../../domain/text/FrontMatter.ts"
import { type AgentList, CustomAgents, type NewAgent } from "../CustomAgents.ts"
import { Plugins } from "../Plugins.ts"
import { Projects } from "../Projects.ts"
import { Settings } from "../Settings.ts"
import { type AgentFile, makeAgentFiles } from "./AgentFiles.ts"
import { makeAgentPlaces } from "./AgentPlaces.ts"
import { makeAgentWriter } from "./NewAgentFile.ts"

/** Agents of one list; nobody chooses among more. */
const MOST_AGENTS = 200
const MOST_PROBLEMS = 20

/** In characters. */
const LONGEST = { instructions: 256 * 1024, description: 2000 }

/** Under the limits of another one of its name. */
const narrowedBy = (agent: FoundAgent, bounds: AgentLimits): FoundAgent => {
  const { mode: _mode, tools: _tools, without: _without, ...rest } = agent
  return { ...rest, ...within(agent, bounds) }
}

const profile = (message: string) => new InvalidInput({ field: "agentProfile", message })

/** Gathers agents in the order in which they count. */
const makeGathering = () => {
  const agents: Array<FoundAgent> = []
  const problems: Array<string> = []
  /** Those of the project that take the place of one of the person's. */
  const bound = new Set<string>()

  const replaced = (at: number, earlier: FoundAgent, agent: FoundAgent): void => {
    // Whoever chooses the name of one of theirs must not get more than that would have had.
    if (earlier.scope === "project" && agent.scope === "user") {
      agents[at] = narrowedBy(earlier, agent)
      bound.add(earlier.name)
    } else if (earlier.scope === agent.scope && earlier.name !== agent.name) {
      problems.push(
        `${agent.path ?? agent.name}: the name "${agent.name}" is taken by ${earlier.path ?? earlier.name}; choose another one`
      )
    }
  }

  const add = (file: AgentFile, scope: FoundAgent["scope"], nameOf = ({ name }: CustomAgent) => name): void => {
    if (Result.isFailure(file.reading)) {
      problems.push(file.reading.failure)
      return
    }
    const { agent: read, problems: its } = file.reading.success
    problems.push(...its)
    const agent: FoundAgent = { ...read, name: nameOf(read), scope, path: file.path }
    const at = agents.findIndex(({ name }) => sameName(name, agent.name))
    const earlier = agents[at]
    if (earlier !== undefined) replaced(at, earlier, agent)
    else if (agents.length < MOST_AGENTS) agents.push(agent)
  }

  /** A built-in agent counts like one of the person's, unless the person has another one of its name. */
  const bounded = (agent: FoundAgent): FoundAgent => {
    const builtIn = builtInAgents.find(({ name }) => sameName(name, agent.name))
    return builtIn === undefined || agent.scope !== "project" || bound.has(agent.name)
      ? agent
      : narrowedBy(agent, builtIn)
  }

  const list = (): AgentList => ({ agents: agents.map(bounded), problems: problems.slice(0, MOST_PROBLEMS) })

  return { add, list, problems }
}

/** Agents that files of the person, of the project and of plugins describe. Reads nothing before somebody asks. */
export const layer = Layer.effect(
  CustomAgents,
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const settings = yield* Settings
    const projects = yield* Projects
    const plugins = yield* Plugins
    const person = yield* Config.String("HOME").pipe(Effect.orElseSucceed(() => undefined))
    const files = makeAgentFiles(fs, paths)
    const places = makeAgentPlaces(fs, paths, settings.home, person)
    const write = makeAgentWriter(fs, paths)

    const list = Effect.fn("CustomAgents.list")(function* (cwd: string) {
      const gathering = makeGathering()
      const folders = yield* Effect.forEach(
        yield* places.of(cwd),
        ({ folder, root, scope }) => Effect.map(files.readFolder(folder, root), (found) => ({ found, scope })),
        { concurrency: 8 }
      )
      for (const { found, scope } of folders) {
        gathering.problems.push(...found.problems)
        for (const file of found.files) gathering.add(file, scope)
      }
      for (const { agents, name: plugin } of yield* plugins.of(cwd)) {
        const found = yield* Effect.forEach(agents, (path) => files.read(path))
        for (const file of found) gathering.add(file, "plugin", ({ name }) => `${plugin}:${name}`)
      }
      return gathering.list()
    })

    const load = Effect.fn("CustomAgents.load")(function* (path: string) {
      const { reading } = yield* files.read(path)
      if (Result.isFailure(reading)) return yield* profile(reading.failure)
      return { ...reading.success.agent, scope: "session", path } satisfies FoundAgent
    })

    const define = Effect.fn("CustomAgents.define")(function* (value: Readonly<Record<string, unknown>>) {
      const read = readAgentObject("the agent that was sent", value)
      if (Result.isFailure(read)) return yield* profile(read.failure)
      return { ...read.success.agent, scope: "session" } satisfies FoundAgent
    })

    const check = Effect.fnUntraced(function* ({ description = "", instructions, name }: NewAgent) {
      const wrongName = nameProblem(name)
      if (wrongName !== undefined) return yield* new InvalidInput({ field: "name", message: wrongName })
      if (instructions.trim() === "") {
        return yield* new InvalidInput({
          field: "instructions",
          message: "is empty; say what the agent is to do, and how"
        })
      }
      if (instructions.length > LONGEST.instructions) {
        const message = `has ${instructions.length} characters; at most ${LONGEST.instructions} fit`
        return yield* new InvalidInput({ field: "instructions", message })
      }
      if (description.length > LONGEST.description) {
        const message = `has ${description.length} characters; at most ${LONGEST.description} fit`
        return yield* new InvalidInput({ field: "description", message })
      }
    })

    const create = Effect.fn("CustomAgents.create")(function* (cwd: string, agent: NewAgent) {
      yield* check(agent)
      const { agents } = yield* list(cwd)
      const taken = agents.find(({ name }) => sameName(name, agent.name))
      if (taken !== undefined) {
        const message = `there is an agent "${taken.name}" already, in ${taken.path ?? "this session"}; choose another name, or edit that file`
        return yield* new InvalidInput({ field: "name", message })
      }
      const scope = agent.scope ?? ((yield* projects.of(cwd)).trust === "trusted" ? "project" : "user")
      const { description, instructions, name } = agent
      const fields = { name, ...(description === undefined ? {} : { description }) }
      const path = yield* write(yield* places.forNew(cwd, scope), name, render(fields, `\n${instructions.trim()}\n`))
      const { reading } = yield* files.read(path)
      if (Result.isFailure(reading)) return yield* new InvalidInput({ field: "instructions", message: reading.failure })
      return { ...reading.success.agent, scope, path } satisfies FoundAgent
    }, Effect.uninterruptible)

    return { list, create, load, define }
  })
)
