/** What a client wished for a session, checked. A wish that cannot be met is refused before anything changes. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { type ExecutionMode, offered } from "../../domain/permission/ExecutionMode.ts"
import { InvalidInput } from "../../domain/Failure.ts"
import type { FoundAgent } from "../../domain/CustomAgent.ts"
import type { Harness } from "../../domain/Harness.ts"
import type { ChosenSettings } from "../../domain/session/SessionState.ts"
import type { Place, SessionWishes } from "../Agent.ts"
import { CustomAgents } from "../CustomAgents.ts"
import { Harnesses } from "../Harnesses.ts"
import { Models } from "../Models.ts"

export interface Wishes {
  /** `usual` is the one of the settings. */
  readonly harness: (wishes: SessionWishes, usual: string | undefined) => Effect.Effect<Harness, InvalidInput>
  /** What was wished and outlives the process. */
  readonly choices: (wishes: SessionWishes, ceiling: ExecutionMode) => Effect.Effect<ChosenSettings, InvalidInput>
  /** The agent that a new session in `cwd` begins with. `usual` is the file of the settings. */
  readonly agent: (
    wishes: SessionWishes,
    cwd: string,
    usual: string | undefined
  ) => Effect.Effect<FoundAgent | undefined, InvalidInput>
  /** Every folder is there, and the ceiling of the connection allows what is to be started. */
  readonly place: (place: Place, ceiling: ExecutionMode) => Effect.Effect<void, InvalidInput>
  /** `cwd` is the folder in which the session works (SES-02). */
  readonly sameFolder: (sessionCwd: string, cwd: string) => Effect.Effect<void, InvalidInput>
}

const list = (ids: ReadonlyArray<{ readonly id: string }>): string => ids.map(({ id }) => id).join(", ")

export const make = Effect.gen(function* () {
  const models = yield* Models
  const harnesses = yield* Harnesses
  const customAgents = yield* CustomAgents
  const fileSystem = yield* FileSystem.FileSystem

  const requireFolder = Effect.fnUntraced(function* (field: string, folder: string) {
    const info = yield* Effect.option(fileSystem.stat(folder))
    if (info._tag === "Some" && info.value.type === "Directory") return
    return yield* new InvalidInput({
      field,
      message: `${folder} is not a folder on the machine that runs the agent; open the session in one that exists`
    })
  })

  const realPath = (folder: string) => Effect.orElseSucceed(fileSystem.realPath(folder), () => folder)

  const wishes: Wishes = {
    harness: Effect.fnUntraced(function* (wished, usual) {
      const id = wished.harness ?? usual
      if (id === undefined) return harnesses.list[0]
      const found = harnesses.find(id)
      if (found !== undefined) return found
      const whose = wished.harness === undefined ? ", which --harness or agent.harness of config.toml names" : ""
      const message = `There is no harness "${id}"${whose}; choose one of: ${list(harnesses.list)}`
      return yield* new InvalidInput({ field: "harness", message })
    }),

    choices: Effect.fnUntraced(function* (
      { appended, effort, mode: wanted, model, preferredMode, rules, systemPrompt },
      ceiling
    ) {
      const known = yield* models.list
      if (model !== undefined && !known.some(({ id }) => id === model)) {
        const message = `There is no model "${model}"; choose one of: ${list(known)}`
        return yield* new InvalidInput({ field: "model", message })
      }
      const modes = offered(ceiling)
      const mode = modes.find(({ id }) => id === preferredMode)?.id ?? wanted
      if (mode !== undefined && !modes.some(({ id }) => id === mode)) {
        const message = `The mode "${mode}" is not offered in this session, whose ceiling is "${ceiling}"; choose one of: ${list(modes)}`
        return yield* new InvalidInput({ field: "mode", message })
      }
      return {
        ...(mode === undefined ? {} : { mode }),
        ...(model === undefined ? {} : { model }),
        ...(effort === undefined ? {} : { effort }),
        ...(rules === undefined ? {} : { rules }),
        ...(appended === undefined ? {} : { appended }),
        ...(systemPrompt === undefined ? {} : { systemPrompt })
      }
    }),

    agent: Effect.fnUntraced(function* ({ agentProfile }, cwd, usual) {
      if (agentProfile === undefined) return usual === undefined ? undefined : yield* customAgents.load(usual)
      if (typeof agentProfile !== "string") return yield* customAgents.define(agentProfile)
      const { agents } = yield* customAgents.list(cwd)
      const found = agents.find(({ name }) => name === agentProfile)
      if (found !== undefined) return found
      const names = agents.map(({ name }) => name).join(", ")
      const message = `There is no agent "${agentProfile}"; ${names === "" ? "there are none here: write one into .supercharge/agents" : `choose one of: ${names}`}`
      return yield* new InvalidInput({ field: "agentProfile", message })
    }),

    place: Effect.fnUntraced(function* ({ additionalDirectories, cwd, mcpServers }, ceiling) {
      yield* requireFolder("cwd", cwd)
      for (const [index, folder] of additionalDirectories.entries()) {
        yield* requireFolder(`additionalDirectories[${index}]`, folder)
      }
      // A server is a program that runs outside of every tool, and so of every decision about one.
      const started = ceiling === "plan" ? mcpServers.findIndex(({ _tag }) => _tag === "Stdio") : -1
      if (started === -1) return
      return yield* new InvalidInput({
        field: `mcpServers[${started}]`,
        message: `The ceiling of this connection is "plan", and a server that is a program to start could do more; leave it out, or raise remote.execution_mode_ceiling where the agent runs`
      })
    }),

    sameFolder: Effect.fnUntraced(function* (sessionCwd, cwd) {
      if ((yield* realPath(sessionCwd)) === (yield* realPath(cwd))) return
      const message = `This session works in ${sessionCwd}; open it with that cwd, or start a new session in ${cwd}`
      return yield* new InvalidInput({ field: "cwd", message })
    })
  }
  return wishes
})
