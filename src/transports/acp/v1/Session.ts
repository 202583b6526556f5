/** Where a session works, as a client says it, and what a client learns of the session. */
import * as Effect from "effect/Effect"
import { InvalidInput } from "../../../domain/Failure.ts"
import type { McpSpec, Pair } from "../../../domain/McpSpec.ts"
import type { McpServer, SecretPair } from "../../../domain/wire/v1/Mcp.ts"
import type { ListSessionsResponse, OpenSessionResponse } from "../../../domain/wire/v1/Session.ts"
import type { AgentDescription, Place, SessionSnapshot } from "../../../services/Agent.ts"
import type { SessionPage } from "../../../services/SessionStore.ts"
import { workingMeta } from "../Extensions.ts"
import { selectOption } from "./Updates.ts"

const pairs = (entries: ReadonlyArray<typeof SecretPair.Type>): ReadonlyArray<Pair> =>
  entries.map(({ name, value }) => ({ name, value }))

/** A kind that was not advertised is refused, not ignored (MCP-05). */
const mcpSpec = (
  server: McpServer,
  index: number,
  description: AgentDescription
): Effect.Effect<McpSpec, InvalidInput> => {
  if (server.type !== undefined) {
    const { headers, name, type, url } = server
    return description.mcpHttp
      ? Effect.succeed({ _tag: type === "sse" ? "Sse" : "Http", name, url, headers: pairs(headers) })
      : Effect.fail(
          new InvalidInput({
            field: `mcpServers[${index}].type`,
            message: `${type} servers are not supported here; use stdio`
          })
        )
  }
  const { name, command, args, env } = server
  return Effect.succeed({ _tag: "Stdio", name, command, args, env: pairs(env) })
}

interface PlaceParams {
  readonly cwd: string
  readonly additionalDirectories?: ReadonlyArray<string>
  readonly mcpServers?: ReadonlyArray<McpServer>
}

export const placeOf = (params: PlaceParams, description: AgentDescription): Effect.Effect<Place, InvalidInput> =>
  Effect.map(
    Effect.forEach(params.mcpServers ?? [], (server, index) => mcpSpec(server, index, description)),
    (mcpServers) => ({ cwd: params.cwd, additionalDirectories: params.additionalDirectories ?? [], mcpServers })
  )

export const stateOf = (snapshot: SessionSnapshot): typeof OpenSessionResponse.Encoded => ({
  modes: { currentModeId: snapshot.mode, availableModes: snapshot.modes },
  configOptions: snapshot.options.map(selectOption),
  ...workingMeta(snapshot.working)
})

export const pageOf = ({ sessions, ...page }: SessionPage): typeof ListSessionsResponse.Encoded => ({
  sessions: sessions.map(({ id, cwd, title, updatedAt }) => ({
    sessionId: id,
    cwd,
    updatedAt,
    ...(title === undefined ? {} : { title })
  })),
  ...page
})
