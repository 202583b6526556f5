/** The MCP servers of one session: connected in the background, so that opening a session never waits for them. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { McpSpec } from "../../domain/McpSpec.ts"
import type { McpConnection, McpManagerShape } from "../McpManager.ts"

export interface Servers {
  /** Replaces all servers; the old ones end (SES-14). */
  readonly use: (specs: ReadonlyArray<McpSpec>) => Effect.Effect<void>
  /** Waits until every server answered or failed. */
  readonly connection: Effect.Effect<McpConnection>
}

const none: McpConnection = { tools: [], notices: [] }

/** `scope` is the session's. */
export const make = (manager: McpManagerShape, cwd: string, scope: Scope.Scope): Servers => {
  let present: { readonly scope: Scope.Closeable; readonly fiber: Fiber.Fiber<McpConnection> } | undefined
  return {
    use: Effect.fnUntraced(function* (specs) {
      const old = present
      present = undefined
      if (old !== undefined) yield* Scope.close(old.scope, Exit.void)
      if (specs.length === 0) return
      const own = yield* Scope.fork(scope)
      const fiber = yield* Effect.forkIn(Scope.provide(manager.connect(specs, cwd), own), own)
      present = { scope: own, fiber }
    }),
    connection: Effect.suspend(() =>
      present === undefined
        ? Effect.succeed(none)
        : Effect.map(Fiber.await(present.fiber), (exit) => (exit._tag === "Success" ? exit.value : none))
    )
  }
}
