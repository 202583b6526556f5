/** The inbox as one application: everything that it answers, and what it says of requests that it cannot answer. */
import type { SecureRandom } from "effect/crypto/SecureRandom"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as Etag from "effect/http/Etag"
import * as HttpPlatform from "effect/http/HttpPlatform"
import { isHttpServerError } from "effect/http/HttpServerError"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Agent } from "../../services/Agent.ts"
import { Settings } from "../../services/Settings.ts"
import * as Cors from "../http/Cors.ts"
import type { Guard } from "../http/Guard.ts"
import type { ListenerOptions } from "../http/Listener.ts"
import { Admission, Api, Door, Explained } from "./Api.ts"
import { chatHandlers, type Parts } from "./ChatHandlers.ts"
import { clientHandlers, healthHandlers, loginHandlers } from "./ClientHandlers.ts"
import * as Conversations from "./Conversations.ts"
import * as Credentials from "./Credentials.ts"
import * as Failures from "./Failures.ts"
import * as Following from "./Following.ts"
import * as Requests from "./Requests.ts"

/** Bytes of the longest body. */
export const maxBody = 2 * 1024 * 1024

export interface InboxOptions {
  readonly guard: Guard
  readonly secret: Redacted.Redacted<string>
  /** Where conversations work that name no folder. Absolute. */
  readonly cwd: string
}

/** What a listener needs to serve it. */
export type Endpoints = Required<Pick<ListenerOptions, "app" | "upgrade" | "closing" | "maxBody">>

const failed = (status: number, error: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ error }, { status })

const noJson = `content-type: it is not application/json; with curl, add -H "content-type: application/json"`
const tooLarge = `The body is longer than ${maxBody} bytes; send less at a time`

/** A body that did not say how long it is. */
const isTooLarge = (defect: unknown): boolean =>
  isHttpServerError(defect) && defect.reason._tag === "RequestParseError" && defect.reason.reason === "BodyTooLarge"

/** What is wrong with a request before anybody reads its body. */
const refusedUnread = ({ headers, method }: HttpServerRequest): HttpServerResponse.HttpServerResponse | undefined => {
  const length = Number(headers["content-length"] ?? 0)
  if (method !== "POST") return undefined
  if (length > maxBody) return failed(413, tooLarge)
  const hasBody = length > 0 || headers["transfer-encoding"] !== undefined
  return hasBody && !/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? "") ? failed(415, noJson) : undefined
}

/** The scope is the inbox's; the turns that run at its end are the agent's. */
export const make = Effect.fnUntraced(function* ({
  cwd,
  guard,
  secret
}: InboxOptions): Effect.fn.Return<
  Endpoints,
  never,
  Agent | SecureRandom | Settings | FileSystem.FileSystem | Path.Path | Scope.Scope
> {
  const agent = yield* Agent
  const settings = yield* Settings
  const conversations = yield* Conversations.make
  const credentials = Credentials.make(guard, secret)
  const closed = yield* Deferred.make<void>()

  const groups = Layer.unwrap(
    Effect.gen(function* () {
      const requests = yield* Requests.make(conversations, cwd)
      const following = Following.make(conversations)
      const parts: Parts = { conversations, following, requests, closing: Deferred.await(closed) }
      return Layer.mergeAll(
        healthHandlers(agent),
        loginHandlers(credentials),
        chatHandlers(parts),
        clientHandlers(parts, agent, settings, cwd)
      )
    })
  )

  const middleware = Layer.mergeAll(
    Layer.succeed(Admission, {
      bearer: (answer) => Effect.andThen(Effect.flatMap(HttpServerRequest, credentials.admit), answer)
    }),
    Layer.succeed(Door, (answer) => Effect.andThen(Effect.flatMap(HttpServerRequest, credentials.receive), answer)),
    HttpApiMiddleware.layerSchemaErrorTransform(Explained, ({ cause }) =>
      Effect.fail(new Failures.BadRequest({ error: cause.message }))
    )
  )

  const router = yield* HttpRouter.toHttpEffect(
    HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(
      Layer.provide(groups),
      Layer.provide(middleware),
      Layer.provide(Layer.merge(HttpPlatform.layer, Etag.layerWeak))
    )
  )

  const answer = Effect.fnUntraced(function* (request: HttpServerRequest) {
    const refused = refusedUnread(request)
    if (refused !== undefined) return refused
    const nowhere = failed(404, `Nothing answers ${request.method} here; /openapi.json says what there is`)
    return yield* router.pipe(
      Effect.catch((error) =>
        Effect.succeed(error.reason._tag === "RouteNotFound" ? nowhere : failed(400, error.message))
      ),
      Effect.catchDefect(
        Effect.fnUntraced(function* (defect) {
          if (isTooLarge(defect)) return failed(413, tooLarge)
          yield* Effect.logError("A request to the inbox failed unexpectedly", defect)
          return failed(500, "This failed unexpectedly; the log of the agent has the details")
        })
      )
    )
  })

  return {
    app: Cors.share(guard, Effect.flatMap(HttpServerRequest, answer)),
    maxBody,
    closing: Effect.asVoid(Deferred.succeed(closed, undefined)),
    upgrade: () =>
      Effect.succeed({
        status: 404,
        body: "The inbox speaks HTTP and not ACP: start the agent with daemon --acp, or with serve, for a WebSocket"
      })
  }
})
