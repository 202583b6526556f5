/** Servers of settings with the variables of the environment in place. The client's come as they are meant. */
import * as Redacted from "effect/Redacted"
import type { Environment } from "../../domain/ChildEnvironment.ts"
import type { McpSpec, Pair } from "../../domain/McpSpec.ts"
import { expand } from "../../domain/text/Variables.ts"
import type { WantedServer } from "../McpManager.ts"

export interface Expanded {
  readonly spec: McpSpec
  /** What was read from the environment. */
  readonly read: ReadonlyArray<Pair>
  /** Why the server is not started, as what follows its name. */
  readonly problem: string | undefined
}

const isMissing = (field: string, place: string | undefined, name: string): string =>
  `was not started: ${place === undefined ? field : `${place}.${field}`} reads the variable ${name}, which is not set. ` +
  `Set it where the agent is started, or write \${${name}:-…} with a value to take instead`

export const expandServer = (
  { origin, place, spec }: Pick<WantedServer, "origin" | "place" | "spec">,
  environment: Environment
): Expanded => {
  if (origin === "client") return { spec, read: [], problem: undefined }
  const read: Array<Pair> = []
  const problems: Array<string> = []
  const within = (field: string, text: string): string => {
    const expansion = expand(text, (name) => (Object.hasOwn(environment, name) ? environment[name] : undefined))
    read.push(...expansion.read.map(({ name, value }) => ({ name, value: Redacted.make(value) })))
    problems.push(...expansion.missing.map((name) => isMissing(field, place, name)))
    return expansion.text
  }
  const pairs = (field: string, given: ReadonlyArray<Pair>): ReadonlyArray<Pair> =>
    given.map(({ name, value }) => ({
      name,
      value: Redacted.make(within(`${field}.${name}`, Redacted.value(value)))
    }))
  const expanded: McpSpec =
    spec._tag === "Stdio"
      ? {
          ...spec,
          command: within("command", spec.command),
          args: spec.args.map((argument, index) => within(`args[${index}]`, argument)),
          env: pairs("env", spec.env)
        }
      : { ...spec, url: within("url", spec.url), headers: pairs("headers", spec.headers) }
  if (expanded._tag === "Stdio" && expanded.command === "") problems.push("was not started: its command is empty")
  return { spec: expanded, read, problem: problems[0] }
}
