/** The MCP servers of one session: connected in the background, so that opening a session never waits for them. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Elicitation, ElicitationAnswer } from "../../domain/Elicitation.ts"
import type { Notice } from "../../domain/Event.ts"
import type { Harness } from "../../domain/Harness.ts"
import type { SessionId } from "../../domain/Ids.ts"
import type { McpSpec } from "../../domain/McpSpec.ts"
import {
  type ElicitationForms,
  type McpConnection,
  type McpManagerShape,
  type McpPrompt,
  type McpStatus,
  noServers,
  type WantedServer
} from "../McpManager.ts"
import type { ProjectsShape } from "../Projects.ts"
import type { SettingsShape } from "../Settings.ts"
import type { ToolDefinition } from "../ToolDefinition.ts"

/** Notices that wait to be told; more are not worth anybody's time. */
const MAX_NOTICES = 50

/** What servers may ask of the session. */
export interface ServersPort {
  readonly roots: () => ReadonlyArray<string>
  readonly elicit: (request: Elicitation) => Effect.Effect<ElicitationAnswer>
}

export interface Servers {
  /**
   * Replaces all servers of the client; the old ones end, and those of the settings are connected anew (SES-14).
   * `elicitation` is what the client can show.
   */
  readonly use: (specs: ReadonlyArray<McpSpec>, elicitation?: ElicitationForms) => Effect.Effect<void>
  /** Connects the same ones again, with what the settings and the project say now. */
  readonly refresh: Effect.Effect<void>
  /** Whether these are the servers of the client. */
  readonly isUsing: (specs: ReadonlyArray<McpSpec>) => boolean
  /** The tools that are there now. Waits for servers that begin, each no longer than its time. */
  readonly tools: Effect.Effect<ReadonlyArray<ToolDefinition>>
  /** The prompts of servers that are there now. Connects none. */
  readonly prompts: Effect.Effect<ReadonlyArray<McpPrompt>>
  /** What a person should know, each once: takes it away. */
  readonly notices: Effect.Effect<ReadonlyArray<Notice>>
  readonly status: Effect.Effect<ReadonlyArray<McpStatus>>
  /** Gives them the session to turn to. */
  readonly bind: (port: ServersPort) => void
}

export interface ServersInput {
  readonly manager: McpManagerShape
  readonly settings: SettingsShape
  readonly projects: ProjectsShape
  readonly harness: Harness
  readonly sessionId: SessionId
  readonly cwd: string
  readonly scratch: string
  /** The session's. */
  readonly scope: Scope.Scope
}

const warning = (title: string, description: string): Notice => ({
  _tag: "Notice",
  severity: "warning",
  title,
  description
})

interface Present {
  readonly scope: Scope.Closeable
  readonly fiber: Fiber.Fiber<McpConnection>
  readonly replaced: Deferred.Deferred<void>
}

export const make = Effect.fnUntraced(function* (input: ServersInput): Effect.fn.Return<Servers> {
  const { cwd, harness, manager, projects, scope, scratch, sessionId, settings } = input
  const replacing = yield* Semaphore.make(1)
  /** By title, so that a server that comes and goes has one line. */
  const waiting = new Map<string, Notice>()
  let port: ServersPort = {
    roots: () => [cwd],
    elicit: () => Effect.succeed({ _tag: "Unanswered", reason: "nobody can be asked" })
  }
  let present: Present | undefined
  let used: ReadonlyArray<McpSpec> = []
  let forms: ElicitationForms = { form: false, url: false }

  const tell = (notice: Notice): void => {
    waiting.delete(notice.title)
    if (waiting.size < MAX_NOTICES) waiting.set(notice.title, notice)
  }

  /** The nearer to the session, the more it counts: its client, then the project, then the user's settings. */
  const wanted = Effect.fnUntraced(function* (specs: ReadonlyArray<McpSpec>) {
    const servers = new Map<string, WantedServer>()
    for (const server of (yield* settings.current).mcpServers) {
      servers.set(server.spec.name, { ...server, origin: "settings" })
    }
    for (const server of (yield* projects.of(cwd)).mcpServers) {
      servers.set(server.spec.name, { ...server, origin: "project" })
    }
    // What the person set for a server of that name holds for the client's, too: the client cannot say it (F103).
    const own = specs.map((spec): WantedServer => {
      const { startupTimeout, toolTimeout, toolTimeouts = {} } = servers.get(spec.name) ?? {}
      return {
        spec,
        origin: "client",
        toolTimeouts,
        ...(startupTimeout === undefined ? {} : { startupTimeout }),
        ...(toolTimeout === undefined ? {} : { toolTimeout })
      }
    })
    for (const { name } of specs) servers.delete(name)
    return [...servers.values(), ...own]
  })

  const connect = Effect.fnUntraced(
    function* (specs: ReadonlyArray<McpSpec>) {
      if (!harness.mcp) {
        if (specs.length > 0) tell(warning("MCP servers are not used", `The harness ${harness.title} takes none`))
        return noServers
      }
      return yield* manager.connect(yield* wanted(specs), {
        sessionId,
        cwd,
        scratch,
        roots: () => port.roots(),
        notify: (notice) => Effect.sync(() => tell(notice)),
        elicitation: forms,
        elicit: (request) => port.elicit(request)
      })
    },
    Effect.catchDefect((defect) =>
      Effect.map(Effect.logError("Connecting the MCP servers failed", Cause.die(defect)), () => {
        tell(warning("MCP servers are not available", "Connecting them failed unexpectedly; the log has the details"))
        return noServers
      })
    )
  )

  const launch = Effect.fnUntraced(function* (specs: ReadonlyArray<McpSpec>, afterwards: Effect.Effect<void>) {
    const own = yield* Scope.fork(scope)
    const connecting = Effect.andThen(afterwards, Scope.provide(connect(specs), own))
    return { scope: own, fiber: yield* Effect.forkIn(connecting, own), replaced: yield* Deferred.make<void>() }
  })

  /** Without any server of the client or the user, nothing is read and loaded before the first prompt. */
  const isEager = (specs: ReadonlyArray<McpSpec>) =>
    specs.length > 0
      ? Effect.succeed(true)
      : Effect.map(settings.current, ({ mcpServers }) => harness.mcp && mcpServers.length > 0)

  /** Whoever waits for the old servers waits for the new ones then, so these are there before the old ones end. */
  const replace = Effect.fnUntraced(function* (specs: ReadonlyArray<McpSpec>, isWanted: boolean) {
    const old = present
    used = specs
    waiting.clear()
    const ended = yield* Deferred.make<void>()
    present = isWanted ? yield* launch(specs, Deferred.await(ended)) : undefined
    if (old !== undefined) {
      yield* Deferred.succeed(old.replaced, undefined)
      yield* Scope.close(old.scope, Exit.void)
    }
    yield* Deferred.succeed(ended, undefined)
  })

  const exclusively = (effect: Effect.Effect<void>) => replacing.withPermits(1)(Effect.uninterruptible(effect))

  const launched = exclusively(Effect.suspend(() => (present === undefined ? replace(used, true) : Effect.void)))

  const connectionOf = ({ fiber }: Present) =>
    Effect.map(Fiber.await(fiber), (exit) => (exit._tag === "Success" ? exit.value : noServers))

  const tools: Effect.Effect<ReadonlyArray<ToolDefinition>> = Effect.suspend(() => {
    const asked = present
    if (asked === undefined) return Effect.andThen(launched, tools)
    const given = Effect.flatMap(connectionOf(asked), (connection) => connection.tools)
    const replaced = Effect.as(Deferred.await(asked.replaced), undefined)
    return Effect.filterOrElse(
      Effect.raceFirst(given, replaced),
      (found): found is ReadonlyArray<ToolDefinition> => found !== undefined && present === asked,
      () => tools
    )
  })

  return {
    use: (specs, elicitation = forms) =>
      exclusively(
        Effect.suspend(() => {
          forms = elicitation
          return Effect.flatMap(isEager(specs), (isWanted) => replace(specs, isWanted))
        })
      ),
    isUsing: (specs) => Equal.equals(specs, used),
    refresh: exclusively(Effect.suspend(() => replace(used, true))),
    tools,
    prompts: Effect.suspend(() => {
      const exit = present?.fiber.pollUnsafe()
      return exit?._tag === "Success" ? exit.value.prompts : Effect.succeed([])
    }),
    notices: Effect.sync(() => {
      const notices = [...waiting.values()]
      waiting.clear()
      return notices
    }),
    status: Effect.suspend(() =>
      present === undefined
        ? Effect.succeed([])
        : Effect.flatMap(connectionOf(present), (connection) => connection.status)
    ),
    bind: (given) => {
      port = given
    }
  }
})
