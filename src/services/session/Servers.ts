/** The MCP servers of one session: connected in the background, so that opening a session never waits for them. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Harness } from "../../domain/Harness.ts"
import type { McpSpec } from "../../domain/McpSpec.ts"
import type { McpConnection, McpManagerShape } from "../McpManager.ts"

export interface Servers {
  /** Replaces all servers; the old ones end (SES-14). */
  readonly use: (specs: ReadonlyArray<McpSpec>) => Effect.Effect<void>
  /** Whether these are the servers that are there. */
  readonly isUsing: (specs: ReadonlyArray<McpSpec>) => boolean
  /** Waits until every server answered or failed. Each notice is given once. */
  readonly connection: Effect.Effect<McpConnection>
}

const none: McpConnection = { tools: [], notices: [] }

const warning = (title: string, description: string): McpConnection => ({
  tools: [],
  notices: [{ _tag: "Notice", severity: "warning", title, description }]
})

interface Present {
  readonly scope: Scope.Closeable
  readonly fiber: Fiber.Fiber<McpConnection>
  told: boolean
}

/** `scope` is the session's. */
export const make = Effect.fnUntraced(function* (
  manager: McpManagerShape,
  harness: Harness,
  cwd: string,
  scope: Scope.Scope
): Effect.fn.Return<Servers> {
  const replacing = yield* Semaphore.make(1)
  let present: Present | undefined
  let used: ReadonlyArray<McpSpec> = []

  const connect = (specs: ReadonlyArray<McpSpec>) =>
    harness.mcp
      ? Effect.catchDefect(manager.connect(specs, cwd), (defect) =>
          Effect.as(
            Effect.logError("Connecting the MCP servers failed", Cause.die(defect)),
            warning("MCP servers are not available", "Connecting them failed unexpectedly; the log has the details")
          )
        )
      : Effect.succeed(warning("MCP servers are not used", `The harness ${harness.title} takes none`))

  const connection: Effect.Effect<McpConnection> = Effect.suspend(() => {
    const waitedFor = present
    if (waitedFor === undefined) return Effect.succeed(none)
    return Effect.flatMap(Fiber.await(waitedFor.fiber), (exit) => {
      if (present !== waitedFor) return connection
      if (exit._tag === "Failure") return Effect.succeed(none)
      const notices = waitedFor.told ? [] : exit.value.notices
      waitedFor.told = true
      return Effect.succeed({ tools: exit.value.tools, notices })
    })
  })

  const launch = Effect.fnUntraced(function* (specs: ReadonlyArray<McpSpec>, afterwards: Effect.Effect<void>) {
    const own = yield* Scope.fork(scope)
    const connecting = Effect.andThen(afterwards, Scope.provide(connect(specs), own))
    return { scope: own, fiber: yield* Effect.forkIn(connecting, own), told: false }
  })

  /** Whoever waits for the old servers waits for the new ones then, so these are there before the old ones end. */
  const replace = Effect.fnUntraced(function* (specs: ReadonlyArray<McpSpec>) {
    const old = present
    used = specs
    const ended = yield* Deferred.make<void>()
    present = specs.length === 0 ? undefined : yield* launch(specs, Deferred.await(ended))
    if (old !== undefined) yield* Scope.close(old.scope, Exit.void)
    yield* Deferred.succeed(ended, undefined)
  })

  return {
    use: (specs) => replacing.withPermits(1)(Effect.uninterruptible(replace(specs))),
    isUsing: (specs) => Equal.equals(specs, used),
    connection
  }
})
