/** The HTTP interface of the inbox: every path with what it takes and gives. The OpenAPI document is made of this. */
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { SessionId } from "../../domain/Ids.ts"
import { StopReason, TurnUsage } from "../../domain/Turn.ts"
import { version } from "../../domain/Version.ts"
import { InboxEvent, PermissionEvent } from "./Event.ts"
import * as Failures from "./Failures.ts"

/** Lets a request in, or does not. */
export class Admission extends HttpApiMiddleware.Service<Admission>()("super-pi/inbox/Admission", {
  error: [Failures.Unauthorized, Failures.Forbidden, Failures.TooManyRequests],
  security: {
    bearer: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(
        OpenApi.Description,
        "The secret, or a token of /api/auth/login. What cannot set headers may use the query parameter token or server-key"
      )
    )
  }
}) {}

/** Lets everybody in whom a name or a page of this server brings. */
export class Door extends HttpApiMiddleware.Service<Door>()("super-pi/inbox/Door", {
  error: Failures.Forbidden
}) {}

/** Says what is wrong with a request, in the same shape as every other error. */
export class Explained extends HttpApiMiddleware.Service<Explained>()("super-pi/inbox/Explained", {
  error: Failures.BadRequest
}) {}

const stream = HttpApiSchema.StreamSse({ data: InboxEvent })

/** The id of the last event that was read; the header is what browsers send when they connect again. */
const place = {
  query: {
    since: Schema.optionalKey(Schema.String),
    sessionId: Schema.optionalKey(SessionId),
    token: Schema.optionalKey(Schema.String),
    "server-key": Schema.optionalKey(Schema.String)
  },
  headers: { "last-event-id": Schema.optionalKey(Schema.String) }
}

const failures = [
  Failures.BadRequest,
  Failures.NotFound,
  Failures.Conflict,
  Failures.PayloadTooLarge,
  Failures.UnsupportedMediaType,
  Failures.Unavailable
]

const ok = { ok: Schema.Literal(true) }

const Health = Schema.Struct({ ...ok, busy: Schema.Boolean, agent: Schema.String })

const Answer = Schema.Struct({
  sessionId: SessionId,
  text: Schema.String,
  stopReason: StopReason,
  usage: Schema.optionalKey(TurnUsage)
}).annotate({ identifier: "Answer" })
export type Answer = typeof Answer.Type

/** Either `message` or `text`. */
const ChatMessage = Schema.Struct({
  message: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String),
  sessionId: Schema.optionalKey(SessionId),
  cwd: Schema.optionalKey(Schema.String),
  stream: Schema.optionalKey(Schema.Boolean)
})

const Conversation = Schema.Struct({
  sessionId: SessionId,
  cwd: Schema.String,
  title: Schema.optionalKey(Schema.String),
  createdAt: Schema.String,
  updatedAt: Schema.String,
  working: Schema.Boolean
}).annotate({ identifier: "Conversation" })
export type Conversation = typeof Conversation.Type

/** An empty body means the same as an empty object. */
const Stop = Schema.NullOr(Schema.Struct({ sessionId: Schema.optionalKey(SessionId) }))

const Stopped = Schema.Struct({ ...ok, stopped: Schema.Array(SessionId) })

const health = HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("health", "/health", { success: Health }),
    HttpApiEndpoint.get("healthV1", "/v1/health", { success: Health })
  )
  .middleware(Door)

const chat = HttpApiGroup.make("chat")
  .add(
    HttpApiEndpoint.post("send", "/v1/chat", {
      headers: { accept: Schema.optionalKey(Schema.String) },
      payload: ChatMessage,
      success: [stream, Answer],
      error: failures
    }),
    HttpApiEndpoint.get("events", "/v1/chat/events", { ...place, success: stream, error: failures }),
    HttpApiEndpoint.post("stop", "/v1/chat/stop", { payload: Stop, success: Stopped, error: failures }),
    HttpApiEndpoint.get("sessions", "/v1/chat/sessions", {
      query: { cwd: Schema.optionalKey(Schema.String), cursor: Schema.optionalKey(Schema.String) },
      success: Schema.Struct({
        sessions: Schema.Array(Conversation),
        nextCursor: Schema.optionalKey(Schema.String)
      }),
      error: failures
    }),
    HttpApiEndpoint.get("permissions", "/v1/chat/permissions", {
      query: { sessionId: Schema.optionalKey(SessionId) },
      success: Schema.Struct({ permissions: Schema.Array(PermissionEvent) }),
      error: failures
    }),
    HttpApiEndpoint.post("answer", "/v1/chat/permissions/:id", {
      params: { id: Schema.String },
      payload: Schema.Struct({ optionId: Schema.String }),
      success: Schema.Struct(ok),
      error: failures
    })
  )
  .middleware(Explained)
  .middleware(Admission)

const User = Schema.Struct({ id: Schema.String, email: Schema.String }).annotate({ identifier: "User" })

const login = HttpApiGroup.make("login")
  .add(
    HttpApiEndpoint.post("login", "/api/auth/login", {
      payload: Schema.Struct({ password: Schema.Redacted(Schema.String) }),
      success: Schema.Struct({ token: Schema.String, user: User }),
      error: [...failures, Failures.Unauthorized, Failures.TooManyRequests]
    })
  )
  .middleware(Explained)
  .middleware(Door)

const Instance = Schema.Struct({
  id: Schema.Literal("local"),
  name: Schema.String,
  status: Schema.Literal("running"),
  liveState: Schema.Literals(["idle", "working"]),
  paid: Schema.Boolean,
  isFree: Schema.Boolean,
  runtime: Schema.Literal("supercharge")
}).annotate({ identifier: "Instance" })

const client = HttpApiGroup.make("client")
  .add(
    HttpApiEndpoint.get("me", "/api/me", { success: User }),
    HttpApiEndpoint.get("instances", "/api/instances", {
      success: Schema.Struct({
        instances: Schema.Array(Instance),
        freeQuota: Schema.Struct({ used: Schema.Int, limit: Schema.Int })
      })
    }),
    HttpApiEndpoint.get("instance", "/api/instances/local", { success: Instance }),
    HttpApiEndpoint.get("config", "/api/instances/local/config", {
      success: Schema.Struct({ cwd: Schema.String, model: Schema.NullOr(Schema.String), ceiling: Schema.String })
    }),
    HttpApiEndpoint.get("cliVersion", "/api/instances/local/cli-version", {
      success: Schema.Struct({ name: Schema.String, version: Schema.String })
    }),
    HttpApiEndpoint.post("wake", "/api/instances/local/wake", { success: Schema.Struct(ok) }),
    HttpApiEndpoint.post("restart", "/api/instances/local/restart", { success: Stopped, error: failures }),
    HttpApiEndpoint.get("conversations", "/api/instances/local/chat/conversations", {
      success: Schema.Struct({
        conversations: Schema.Array(Conversation),
        activeSessionId: Schema.NullOr(SessionId)
      }),
      error: failures
    }),
    HttpApiEndpoint.post("open", "/api/instances/local/chat/conversations", {
      payload: Schema.NullOr(
        Schema.Struct({ cwd: Schema.optionalKey(Schema.String), sessionId: Schema.optionalKey(SessionId) })
      ),
      success: Schema.Struct({ ...ok, sessionId: SessionId }),
      error: failures
    }),
    HttpApiEndpoint.post("post", "/api/instances/local/chat", {
      payload: Schema.Struct({ text: Schema.String, sessionId: Schema.optionalKey(SessionId) }),
      success: Schema.Struct({ ...ok, queued: Schema.Boolean, sessionId: SessionId }),
      error: failures
    }),
    HttpApiEndpoint.post("stopActive", "/api/instances/local/chat/stop", {
      payload: Stop,
      success: Stopped,
      error: failures
    }),
    HttpApiEndpoint.get("follow", "/api/instances/local/chat/events", { ...place, success: stream, error: failures })
  )
  .middleware(Explained)
  .middleware(Admission)

export const Api = HttpApi.make("inbox")
  .add(health, chat, login, client)
  .annotateMerge(
    OpenApi.annotations({
      title: "Super-Pi inbox",
      version,
      description:
        "Conversations with a coding agent over plain HTTP. What happens in them comes as server-sent events; each has an id, and a reader that was cut off goes on after the last id that it has."
    })
  )
