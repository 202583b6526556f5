/** What a session says about itself: `/status`, `/context`, `/cost`, `/agents`. Nothing is changed. */
import type * as Schema from "effect/Schema"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Harness } from "../../domain/Harness.ts"
import type { ModelInfo } from "../../domain/Model.ts"
import { ExecutionMode } from "../../domain/permission/ExecutionMode.ts"
import { roleOf } from "../../domain/session/ContextMessage.ts"
import { emptyUsage, type TurnUsage } from "../../domain/Turn.ts"
import { version } from "../../domain/Version.ts"
import type { CommandSession } from "../Commands.ts"
import type { McpStatus } from "../McpManager.ts"
import { MODE_OPTION } from "../../domain/session/Config.ts"
import { add } from "../turn/Usage.ts"

const grouped = (count: number): string => Math.round(count).toLocaleString("en-US")

const dollars = (cost: number): string => `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`

const table = (rows: ReadonlyArray<readonly [what: string, value: string]>): string =>
  ["| | |", "| --- | --- |", ...rows.map(([what, value]) => `| ${what} | ${value.replaceAll("|", "\\|")} |`)].join("\n")

const percent = (part: number, whole: number): string => (whole === 0 ? "" : ` (${Math.round((part / whole) * 100)} %)`)

const fullness = ({ state }: CommandSession, model: ModelInfo | undefined): string => {
  const { usage } = state()
  const size = model?.contextWindow ?? usage?.size
  if (usage === undefined) return size === undefined ? "not known yet" : `nothing yet of ${grouped(size)} tokens`
  const of = size ?? usage.size
  return `${grouped(usage.used)} of ${grouped(of)} tokens${percent(usage.used, of)}`
}

const serverLine = (servers: ReadonlyArray<McpStatus>): string =>
  servers.length === 0
    ? "none"
    : servers
        .map(({ name, state, tools }) => `${name} (${state === "ready" ? `${tools.length} tools` : state})`)
        .join(", ")

export const describeStatus = Effect.fnUntraced(function* (session: CommandSession, model: ModelInfo | undefined) {
  const { harness, state, workspace } = session
  const { title, turns } = state()
  const options = yield* session.options
  return table([
    ["Super-Pi", version],
    ["Session", `${workspace.sessionId}${title === undefined ? "" : `, “${title}”`}`],
    ["Agent", `${harness.title} (${harness.id})`],
    ...options.map(({ currentValue, name }) => [name, currentValue] as const),
    ["Folders", workspace.roots.join(", ")],
    ["Turns", String(turns)],
    ["Context", fullness(session, model)],
    ["MCP servers", serverLine(yield* session.servers)]
  ])
})

const CHARACTERS_PER_TOKEN = 3.5

const lengthOf = (messages: ReadonlyArray<Schema.Json>): number =>
  messages.reduce((sum: number, message) => sum + JSON.stringify(message).length, 0)

const sizeLine = (messages: ReadonlyArray<Schema.Json>): string =>
  `${messages.length} messages, about ${grouped(lengthOf(messages) / CHARACTERS_PER_TOKEN)} tokens`

export const describeContext = (session: CommandSession, model: ModelInfo | undefined): string => {
  const { context } = session.state()
  const of = (role: string) => sizeLine(context.filter((message) => roleOf(message) === role))
  return [
    table([
      ["Model", model?.id ?? "not configured any more"],
      ["Full", fullness(session, model)],
      ["From you", of("user")],
      ["From the model", of("assistant")],
      ["From tools", of("tool")]
    ]),
    "",
    "The rest is what the model is told before the conversation: the instructions and the tools. When the window is nearly full, the older part is replaced by a summary; `/compact` does so now, `/clear` empties it."
  ].join("\n")
}

const spent = (session: CommandSession) =>
  Stream.runFold(
    session.history,
    (): TurnUsage => emptyUsage,
    (sum, { entry }) =>
      entry._tag === "TurnEnded" && entry.outcome.usage !== undefined ? add(sum, entry.outcome.usage) : sum
  )

export const describeCost = Effect.fnUntraced(
  function* (session: CommandSession, model: ModelInfo | undefined) {
    const usage = yield* spent(session)
    const cost = session.state().usage?.cost
    const price = model?.price
    return table([
      [
        "Cost",
        cost !== undefined ? dollars(cost) : price === undefined ? "not known: the model has no price here" : dollars(0)
      ],
      ["Tokens read", grouped(usage.inputTokens)],
      [
        "of them from the cache",
        `${grouped(usage.cachedReadTokens)}${percent(usage.cachedReadTokens, usage.inputTokens)}`
      ],
      ["written to the cache", grouped(usage.cachedWriteTokens)],
      ["Tokens written", grouped(usage.outputTokens)],
      ["of them thoughts", grouped(usage.thoughtTokens)]
    ])
  },
  Effect.catch(({ message }) => Effect.succeed(`The history of this session cannot be read: ${message}.`))
)

const isMode = (value: string): boolean => ExecutionMode.literals.some((mode) => mode === value)

export const describeAgents = Effect.fnUntraced(function* (session: CommandSession, harnesses: ReadonlyArray<Harness>) {
  const mode = (yield* session.options).find(({ id }) => id === MODE_OPTION)
  const own = (mode?.options ?? []).filter(({ value }) => !isMode(value))
  const { harness } = session
  const others = harnesses.filter(({ id }) => id !== harness.id)
  return [
    `This session is run by **${harness.title}** (\`${harness.id}\`): ${harness.description}.`,
    "",
    ...(own.length === 0
      ? [
          "There are no agents of your own. Each is a Markdown file in `.supercharge/agents` of a project, or of your home."
        ]
      : [
          "Agents of your own, which `/mode` chooses:",
          "",
          ...own.map(({ description, name, value }) => `- \`${value}\` ${description ?? name}`)
        ]),
    "",
    "New sessions can be run by others, which the client, `--harness` or `agent.harness` name:",
    "",
    ...others.map(({ description, id }) => `- \`${id}\` ${description}`)
  ].join("\n")
})
