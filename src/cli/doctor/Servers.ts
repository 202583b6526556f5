/** MCP servers of the configuration, each started once. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { SessionId } from "../../domain/Ids.ts"
import { McpManager, type WantedServer } from "../../services/McpManager.ts"
import type { SettingsValue } from "../../services/Settings.ts"
import { type Finding, found, ok } from "./Finding.ts"

/** Longer than a server may take that names no time of its own. */
const PATIENCE = "60 seconds"

export const servers = Effect.fnUntraced(function* (settings: SettingsValue, scratch: string, offline: boolean) {
  const wanted: ReadonlyArray<WantedServer> = settings.mcpServers.map((server) => ({ ...server, origin: "settings" }))
  const tried = wanted.filter(({ spec }) => !offline || spec._tag === "Stdio")
  const skipped = wanted
    .filter((server) => !tried.includes(server))
    .map(({ spec }) => found("note", "mcp server", "not tried, because of --offline", undefined, spec.name))
  if (tried.length === 0) return skipped
  const connection = yield* McpManager.use((manager) =>
    manager.connect(tried, {
      sessionId: SessionId.make("doctor"),
      cwd: process.cwd(),
      roots: () => [process.cwd()],
      scratch,
      notify: () => Effect.void,
      elicitation: { form: false, url: false },
      elicit: () => Effect.succeed({ _tag: "Declined" })
    })
  )
  // A first session goes on without a server that takes long; here its end is waited for.
  const settled = connection.status.pipe(
    Effect.repeat({
      until: (all) => all.every(({ state }) => state !== "connecting"),
      schedule: Schedule.spaced("100 millis")
    })
  )
  yield* Effect.timeoutOption(settled, PATIENCE)
  const findings = (yield* connection.status).map(({ name, problem, software, state, tools }): Finding =>
    state === "ready"
      ? ok("mcp server", `${software ?? "it"} has ${tools.length} ${tools.length === 1 ? "tool" : "tools"}`, name)
      : found(
          "broken",
          "mcp server",
          problem ?? "it did not answer in time",
          `correct mcp_servers.${name} of config.toml, or set its enabled to false`,
          name
        )
  )
  return [...findings, ...skipped]
}, Effect.scoped)
