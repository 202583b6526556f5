/** The methods of version 1 as intents of the agent. */
import * as Effect from "effect/Effect"
import { EFFORT_OPTION, MODEL_OPTION } from "../../../domain/session/Config.ts"
import { InvalidInput } from "../../../domain/Failure.ts"
import {
  CreateAgent,
  DiffSession,
  ForkSession,
  type ExtensionRequests,
  ListAgents,
  SetModel,
  UndoSession
} from "../../../domain/wire/Extensions.ts"
import * as Method from "../../../domain/wire/v1/AgentMethods.ts"
import type { AgentNotifications, AgentRequests } from "../../../domain/wire/v1/Contract.ts"
import type { AgentConnection, AgentDescription } from "../../../services/Agent.ts"
import type { NotificationRoute, RequestRoute, Routes } from "../../Routes.ts"
import { afterOf, agentsOf, createdOf, effortOf, tokenOf, undoOf, wishesOf, wishFields } from "../Extensions.ts"
import { onNotification, onRequest, routes, type Table } from "../Version.ts"
import { answerOf, contentsOf } from "./Prompt.ts"
import { pageOf, placeOf, stateOf } from "./Session.ts"
import { selectOption } from "./Updates.ts"

const nothing = () => ({})

const signIn = (agent: AgentConnection) => ({
  authenticate: onRequest(Method.Authenticate, ({ methodId, _meta }) =>
    Effect.map(agent.authenticate(methodId, tokenOf(_meta)), nothing)
  ),
  logout: onRequest(Method.Logout, () => Effect.map(agent.logout, nothing))
})

/** What follows an answer is sent after it: before, the client does not know the session (SES-05). */
const opening = (agent: AgentConnection, description: AgentDescription) => ({
  "session/new": onRequest(
    Method.NewSession,
    Effect.fnUntraced(function* (params, request) {
      const place = yield* placeOf(params, description)
      const snapshot = yield* agent.newSession(place, wishesOf(params._meta))
      yield* request.afterReply(agent.announce(snapshot.sessionId))
      return { sessionId: snapshot.sessionId, ...stateOf(snapshot) }
    }),
    wishFields
  ),
  // The agent tells everything before the answer; nothing may follow it (SES-07).
  "session/load": onRequest(
    Method.LoadSession,
    Effect.fnUntraced(function* (params) {
      const place = yield* placeOf(params, description)
      return stateOf(
        yield* agent.loadSession(params.sessionId, place, wishesOf(params._meta, false), afterOf(params._meta))
      )
    }),
    wishFields
  ),
  "session/resume": onRequest(
    Method.ResumeSession,
    Effect.fnUntraced(function* (params, request) {
      const place = yield* placeOf(params, description)
      const snapshot = yield* agent.resumeSession(params.sessionId, place, wishesOf(params._meta, false))
      yield* request.afterReply(agent.announce(snapshot.sessionId))
      return stateOf(snapshot)
    }),
    wishFields
  ),
  "_superpi/session/fork": onRequest(
    ForkSession,
    Effect.fnUntraced(function* (params, request) {
      const place = yield* placeOf(params, description)
      const snapshot = yield* agent.forkSession(params.sessionId, place)
      yield* request.afterReply(agent.announce(snapshot.sessionId))
      return { sessionId: snapshot.sessionId, ...stateOf(snapshot) }
    })
  )
})

const keeping = (agent: AgentConnection) => ({
  "session/list": onRequest(Method.ListSessions, ({ cwd, cursor }) =>
    Effect.map(
      agent.listSessions({
        ...(typeof cwd === "string" ? { cwd } : {}),
        ...(typeof cursor === "string" ? { cursor } : {})
      }),
      pageOf
    )
  ),
  "session/close": onRequest(Method.CloseSession, ({ sessionId }) =>
    Effect.map(agent.closeSession(sessionId), nothing)
  ),
  "session/delete": onRequest(Method.DeleteSession, ({ sessionId }) =>
    Effect.map(agent.deleteSession(sessionId), nothing)
  ),
  "session/set_mode": onRequest(
    Method.SetMode,
    ({ sessionId, modeId }) => Effect.map(agent.setMode(sessionId, modeId), nothing),
    { value: "modeId" }
  ),
  "session/set_model": onRequest(
    SetModel,
    Effect.fnUntraced(function* ({ modelId, sessionId, _meta }) {
      yield* agent.setOption(sessionId, MODEL_OPTION, modelId)
      const effort = effortOf(_meta)
      // As in a new session, one that the model does not have is none.
      if (effort !== undefined) {
        yield* Effect.catchTag(agent.setOption(sessionId, EFFORT_OPTION, effort), "InvalidInput", () => Effect.void)
      }
      return {}
    }),
    { value: "modelId" }
  ),
  "session/set_config_option": onRequest(
    Method.SetConfigOption,
    Effect.fnUntraced(function* ({ sessionId, configId, value }) {
      if (typeof value === "boolean") {
        return yield* new InvalidInput({
          field: "value",
          message: "no option here is a boolean; send the id of a choice"
        })
      }
      const options = yield* agent.setOption(sessionId, configId, value)
      return { configOptions: options.map(selectOption) }
    }),
    { option: "configId" }
  )
})

const working = (agent: AgentConnection, description: AgentDescription) => ({
  "session/prompt": onRequest(
    Method.Prompt,
    Effect.fnUntraced(function* ({ sessionId, prompt }) {
      const content = yield* contentsOf(prompt, description)
      return answerOf(yield* agent.prompt(sessionId, content))
    })
  ),
  "_superpi/session/undo": onRequest(UndoSession, ({ sessionId }) => Effect.map(agent.undo(sessionId), undoOf)),
  "_superpi/session/diff": onRequest(DiffSession, ({ sessionId }) => agent.diff(sessionId))
})

const customAgents = (agent: AgentConnection) => ({
  "_supercharge/agents/list": onRequest(ListAgents, ({ sessionId }) =>
    Effect.map(agent.listAgents(sessionId), agentsOf)
  ),
  "_supercharge/agents/create": onRequest(CreateAgent, ({ description, instructions, name, scope, sessionId }) =>
    Effect.map(
      agent.createAgent(sessionId, {
        name,
        instructions,
        ...(typeof description === "string" ? { description } : {}),
        ...(typeof scope === "string" ? { scope } : {})
      }),
      createdOf
    )
  )
})

export const makeRoutes = (agent: AgentConnection, description: AgentDescription): Routes => {
  const requests: Table<typeof AgentRequests, RequestRoute, "initialize"> &
    Table<typeof ExtensionRequests, RequestRoute> = {
    ...signIn(agent),
    ...opening(agent, description),
    ...keeping(agent),
    ...working(agent, description),
    ...customAgents(agent)
  }
  const notifications: Table<typeof AgentNotifications, NotificationRoute> = {
    "session/cancel": onNotification(Method.Cancel, ({ sessionId }) => agent.cancel(sessionId))
  }
  return routes(requests, notifications)
}
