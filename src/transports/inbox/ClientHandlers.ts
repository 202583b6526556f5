/** `/health` and `/api`: what a web client asks that knows one agent with one conversation at a time. */
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { SessionId } from "../../domain/Ids.ts"
import { version } from "../../domain/Version.ts"
import type { AgentShape } from "../../services/Agent.ts"
import type { SettingsShape } from "../../services/Settings.ts"
import { Api } from "./Api.ts"
import { follow, type Parts } from "./ChatHandlers.ts"
import type { Credentials } from "./Credentials.ts"
import * as Failures from "./Failures.ts"
import { explained } from "./Requests.ts"

const NAME = "Super-Pi"

/** The one person who knows the secret. */
const user = { id: "local", email: "local@localhost" }

export const healthHandlers = (agent: AgentShape) => {
  const health = Effect.map(agent.working, (working) => ({ ok: true as const, busy: working.length > 0, agent: NAME }))
  return HttpApiBuilder.group(Api, "health", (handlers) =>
    handlers.handleAll({ health: () => health, healthV1: () => health })
  )
}

export const loginHandlers = (credentials: Credentials) =>
  HttpApiBuilder.group(Api, "login", (handlers) =>
    handlers.handleAll({
      login: ({ payload, request }) =>
        Effect.map(credentials.login(request, payload.password), (token) => ({ token, user }))
    })
  )

export const clientHandlers = (parts: Parts, agent: AgentShape, settings: SettingsShape, cwd: string) => {
  const { conversations, requests } = parts

  const instance = Effect.map(agent.working, (working) => ({
    id: "local" as const,
    name: NAME,
    status: "running" as const,
    liveState: working.length > 0 ? ("working" as const) : ("idle" as const),
    paid: true,
    isFree: false,
    runtime: "supercharge" as const
  }))

  /** The named conversation, else the active one, else a new one; it is the active one from now on. */
  const meant = Effect.fnUntraced(function* (id: SessionId | undefined) {
    const wanted = id ?? conversations.active()
    const found = wanted === undefined ? yield* requests.create(undefined) : yield* requests.existing(wanted, undefined)
    conversations.activate(found)
    return found
  })

  return HttpApiBuilder.group(Api, "client", (handlers) =>
    handlers.handleAll({
      me: () => Effect.succeed(user),
      instances: () => Effect.map(instance, (local) => ({ instances: [local], freeQuota: { used: 0, limit: 0 } })),
      instance: () => instance,
      config: () =>
        Effect.map(settings.current, ({ defaultModel, remoteCeiling }) => ({
          cwd,
          model: defaultModel ?? null,
          ceiling: remoteCeiling
        })),
      cliVersion: () => Effect.succeed({ name: NAME, version }),
      wake: () => Effect.succeed({ ok: true }),
      restart: () => Effect.map(explained(conversations.stop(undefined)), (stopped) => ({ ok: true, stopped })),
      conversations: () =>
        Effect.map(requests.list({}), ({ sessions }) => ({
          conversations: sessions,
          activeSessionId: conversations.active() ?? null
        })),
      open: Effect.fnUntraced(function* ({ payload }) {
        const { cwd: folder, sessionId } = payload ?? {}
        const id = yield* sessionId === undefined ? requests.create(folder) : requests.existing(sessionId, folder)
        conversations.activate(id)
        return { ok: true, sessionId: id }
      }),
      post: Effect.fnUntraced(function* ({ payload: { sessionId, text } }) {
        if (text.trim() === "") return yield* new Failures.BadRequest({ error: "text: it is empty; say something" })
        const id = yield* meant(sessionId)
        const { queued } = yield* explained(conversations.post(id, text))
        return { ok: true, queued, sessionId: id }
      }),
      stopActive: Effect.fnUntraced(function* ({ payload }) {
        const id = payload?.sessionId ?? conversations.active()
        return { ok: true, stopped: id === undefined ? [] : yield* explained(conversations.stop(id)) }
      }),
      follow: follow(parts)
    })
  )
}
