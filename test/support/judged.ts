/** Calls of the real tools that pass the real broker, as a turn makes them. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ExecutionMode } from "../../src/domain/permission/ExecutionMode.ts"
import { PermissionBroker } from "../../src/services/PermissionBroker.ts"
import { defaultSettings } from "../../src/services/settings/Merge.ts"
import { nothingAsked, scripted, spoken, steps } from "./models.ts"
import { makeWorkspace, toolbox } from "./toolbox.ts"
import { runTurn, unremembered } from "./turns.ts"
import { makeSession } from "./turnSession.ts"

export type Call = readonly [string, Record<string, unknown>]

export interface Given {
  readonly cwd: string
  readonly roots?: ReadonlyArray<string>
  readonly rules?: { readonly [kind in "allow" | "ask" | "deny"]?: ReadonlyArray<string> }
  readonly mode?: ExecutionMode
  readonly programs?: string | undefined
  /** The home folder of the person. */
  readonly person?: string
  /** That of the agent. */
  readonly home?: string
}

const settingsOf = ({ home, rules = {} }: Given) => ({
  permission: { ...defaultSettings.permission, ...rules },
  ...(home === undefined ? {} : { home })
})

/** What the model reads of each call. Nobody is there to ask. */
export const use = Effect.fnUntraced(function* (given: Given, ...calls: ReadonlyArray<Call>) {
  const { cwd, mode = "always-approve", person = "/nonexistent", programs = process.env["PATH"], roots = [] } = given
  const asked = nothingAsked()
  const { session } = makeSession({
    workspace: makeWorkspace(cwd, { roots: [cwd, ...roots] }),
    mode: Effect.succeed(mode)
  })
  const tools = toolbox({ environment: { PATH: programs, HOME: person }, settings: settingsOf(given) })
  yield* runTurn(session, "go", {
    models: scripted(
      steps(
        calls.map(([name, input]) => ({ tool: { name, input: input as unknown as string } })),
        [{ text: "." }]
      ),
      asked
    ),
    tools,
    broker: Layer.provide(PermissionBroker.layer, [tools, unremembered])
  })
  return spoken(asked.prompts.at(-1) ?? []).flatMap((line) => {
    const [, status, text] = /^(result|failed) \w+ (.*)$/s.exec(line) ?? []
    return status === undefined || text === undefined ? [] : [{ status, text }]
  })
})
