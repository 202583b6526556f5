/** Reads `[mcp_servers.<name>]`, and the file `.mcp.json`, which names servers as other agents do. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { McpSpec, Pair } from "../../domain/McpSpec.ts"
import type { McpServerSettings } from "../Settings.ts"
import { type Complain, configKey, rootSection, type Section, tellUnknown } from "./ConfigKey.ts"

const commandKey = configKey(Schema.NonEmptyString, "the program of the server", "the server is left out")
const argsKey = configKey(Schema.Array(Schema.String), 'a list of texts, such as ["-y", "package"]')
const pairsKey = configKey(
  Schema.Record(Schema.String, Schema.RedactedFromValue(Schema.String)),
  'a table of texts, such as { NAME = "value" }'
)
const urlKey = configKey(
  // One that begins with a variable shows what it is when the server is connected.
  Schema.String.check(Schema.isPattern(/^(?:https?:\/\/[^\s/]+|\$\{)/)),
  'an address, such as "https://example.org/mcp"',
  "the server is left out"
)
const typeKey = configKey(Schema.Literals(["stdio", "http", "streamable-http", "sse"]), '"stdio", "http" or "sse"')
const enabledKey = configKey(Schema.Boolean, "true or false without quotes", "the server is left out")
const secondsKey = configKey(Schema.Finite.check(Schema.isGreaterThan(0)), "a number of seconds")
const toolTimeoutsKey = configKey(
  Schema.Record(Schema.String, Schema.Finite.check(Schema.isGreaterThan(0))),
  "a table of seconds by tool, such as { slow_tool = 900 }"
)

const serverKeys = [
  "command",
  "args",
  "env",
  "url",
  "type",
  "headers",
  "enabled",
  "startup_timeout_sec",
  "tool_timeout_sec",
  "tool_timeouts"
]

/** Names go into names of tools and into rules. */
const serverName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

const pairs = (table: Readonly<Record<string, Redacted.Redacted<string>>> | undefined): ReadonlyArray<Pair> =>
  Object.entries(table ?? {}).map(([name, value]) => ({ name, value }))

const specOf = (name: string, table: Section, complain: Complain): McpSpec | undefined => {
  const type = table.read("type", typeKey)
  if (table.has("type") && type === undefined) return undefined
  if (table.has("url") && table.has("command")) {
    complain(table.path, "has a command and a url, and can be only one of them; the server is left out")
    return undefined
  }
  const url = table.read("url", urlKey)
  const headers = pairs(table.read("headers", pairsKey))
  const command = table.read("command", commandKey)
  const args = table.read("args", argsKey) ?? []
  const env = pairs(table.read("env", pairsKey))
  if (table.has("url")) {
    return url === undefined ? undefined : { _tag: type === "sse" ? "Sse" : "Http", name, url, headers }
  }
  if (!table.has("command")) {
    complain(table.path, "needs a command to start, or a url; the server is left out")
    return undefined
  }
  return command === undefined ? undefined : { _tag: "Stdio", name, command, args, env }
}

const readServer = (
  name: string,
  table: Section,
  complain: Complain,
  file: string
): ReadonlyArray<McpServerSettings> => {
  if (!serverName.test(name)) {
    complain(table.path, "is no name for a server: use letters, digits, _ . or -; it is left out")
    return []
  }
  tellUnknown(table, serverKeys, complain)
  if (table.has("enabled") && table.read("enabled", enabledKey) !== true) return []
  const spec = specOf(name, table, complain)
  const startup = table.read("startup_timeout_sec", secondsKey)
  const tool = table.read("tool_timeout_sec", secondsKey)
  const tools = Object.entries(table.read("tool_timeouts", toolTimeoutsKey) ?? {})
  if (spec === undefined) return []
  return [
    {
      spec,
      place: `${file}: ${table.path}`,
      ...(startup === undefined ? {} : { startupTimeout: Duration.seconds(startup) }),
      ...(tool === undefined ? {} : { toolTimeout: Duration.seconds(tool) }),
      toolTimeouts: Object.fromEntries(tools.map(([of, seconds]) => [of, Duration.seconds(seconds)]))
    }
  ]
}

/** Without those that are not enabled. Variables stay as they are written. */
export const readServers = (section: Section, complain: Complain, file: string): ReadonlyArray<McpServerSettings> =>
  section.sections().flatMap(([name, table]) => readServer(name, table, complain, file))

export interface ServerFile {
  readonly servers: ReadonlyArray<McpServerSettings>
  readonly warnings: ReadonlyArray<string>
}

/** `.mcp.json`: `{ "mcpServers": { "<name>": { … } } }`. Fails with a sentence where it is none at all. */
export const parseServerFile = (text: string, file: string): Result.Result<ServerFile, string> => {
  const document = Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
  if (!Predicate.isObject(document) || Array.isArray(document)) {
    return Result.fail(`${file} is no JSON object, so none of its servers is used; correct it or move it away`)
  }
  const warnings: Array<string> = []
  const complain: Complain = (path, problem) => void warnings.push(`${file}: ${path} ${problem}`)
  const root = rootSection({ ...document }, complain)
  tellUnknown(root, ["mcpServers"], complain, "misspelt")
  return Result.succeed({ servers: readServers(root.section("mcpServers"), complain, file), warnings })
}
