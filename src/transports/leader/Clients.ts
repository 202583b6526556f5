/** Who is connected to the leader, and which of their prompts are at work. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { SessionId } from "../../domain/Ids.ts"
import { Agent, type AgentConnection } from "../../services/Agent.ts"
import type { Hello, Member } from "./Handshake.ts"

interface Client {
  readonly hello: Hello
  readonly since: string
  /** The prompts at work, with the connection that each came from. */
  readonly prompts: Set<{ readonly sessionId: SessionId; readonly agent: AgentConnection }>
}

export interface Clients {
  /** Counts until the scope closes. The agent is the one to serve this client with. */
  readonly join: (hello: Hello) => Effect.Effect<Agent["Service"], never, Agent | Scope.Scope>
  readonly members: () => ReadonlyArray<Member>
  /** Waits until there is none. */
  readonly none: Effect.Effect<void>
  /** Waits until there is one. */
  readonly some: Effect.Effect<void>
  /** Cancels every running turn of theirs, each of which answers its prompt. */
  readonly cancelAll: Effect.Effect<void>
}

export const make = (): Clients => {
  const clients = new Set<Client>()
  const none = Latch.makeUnsafe(true)
  const some = Latch.makeUnsafe(false)

  const changed = (): void => {
    const [opened, closed] = clients.size === 0 ? [none, some] : [some, none]
    opened.openUnsafe()
    closed.closeUnsafe()
  }

  const watched = (agent: AgentConnection, client: Client): AgentConnection => ({
    ...agent,
    prompt: (sessionId, content) =>
      Effect.suspend(() => {
        const prompt = { sessionId, agent }
        client.prompts.add(prompt)
        return Effect.ensuring(
          agent.prompt(sessionId, content),
          Effect.sync(() => client.prompts.delete(prompt))
        )
      })
  })

  return {
    join: Effect.fnUntraced(function* (hello) {
      const agent = yield* Agent
      const client: Client = { hello, since: DateTime.formatIso(yield* DateTime.now), prompts: new Set() }
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          clients.add(client)
          changed()
        }),
        () =>
          Effect.sync(() => {
            clients.delete(client)
            changed()
          })
      )
      return Agent.of({
        ...agent,
        connect: (editor, options) =>
          Effect.map(agent.connect(editor, options), (connection) => watched(connection, client))
      })
    }),
    members: () =>
      Array.from(clients, ({ hello: { pid, role, version }, prompts, since }) => ({
        kind: role,
        pid,
        version,
        since,
        working: [...new Set(Array.from(prompts, ({ sessionId }) => sessionId))]
      })),
    none: none.await,
    some: some.await,
    cancelAll: Effect.suspend(() =>
      Effect.forEach(
        Array.from(clients).flatMap(({ prompts }) => [...prompts]),
        ({ agent, sessionId }) => agent.cancel(sessionId),
        { discard: true }
      )
    )
  }
}
