/**
 * A protocol version as a value: how it opens a connection, and routes for what follows. Everything behind it is free
 * of versions; what is here is the seam where the next version joins.
 */
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { EditorCapabilities } from "../../domain/Capability.ts"
import type { Failure } from "../../domain/Failure.ts"
import type { WireError } from "../../domain/wire/ErrorCode.ts"
import type { AgentConnection, AgentDescription, AgentShape, ConnectOptions } from "../../services/Agent.ts"
import type { Editor } from "../../services/Editor.ts"
import type { PeerShape } from "../Peer.ts"
import type { IncomingRequest, NotificationRoute, RequestRoute, Routes } from "../Routes.ts"
import { decodeParams } from "./Params.ts"
import { type FieldNames, toWireError } from "./WireFailure.ts"

/** How an adapter reaches the client. */
export type Client = Pick<PeerShape, "request" | "notify" | "caughtUp" | "isClosed">

/** Who is joined: one client, the agent, and what the transport allows. `agentName` and `agentVersion` are shown to people. */
export interface Parties {
  readonly client: Client
  readonly agent: AgentShape
  /** Absent: `Super-Pi`. */
  readonly agentName?: string
  readonly agentVersion: string
  readonly options: ConnectOptions
}

export interface Opened {
  /** The answer to `initialize`. */
  readonly result: unknown
  /** Everything but `initialize`. */
  readonly routes: Routes
}

export interface Version {
  readonly version: number
  /** Answers `initialize`. The scope is the connection. */
  readonly open: (params: unknown, parties: Parties) => Effect.Effect<Opened, WireError, Scope.Scope>
}

/** A method of a contract, reduced to what a route needs. */
interface Method<Tag extends string, Params, Result> {
  readonly _tag: Tag
  readonly payloadSchema: Schema.ConstraintDecoder<Params>
  readonly successSchema: { readonly Encoded: Result }
}

interface Route<Tag extends string, Run> {
  readonly method: Tag
  readonly run: Run
}

/**
 * The route of a request. The handler gives the result in its wire form, which for what an agent sends is the decoded
 * form as well: encoding it again would only cost time. `names` are the method's own, for its errors.
 */
export const onRequest = <Tag extends string, Params, Result>(
  method: Method<Tag, Params, Result>,
  handle: (params: Params, request: IncomingRequest) => Effect.Effect<NoInfer<Result>, Failure | WireError>,
  names?: FieldNames
): Route<Tag, RequestRoute> => {
  const decode = decodeParams(method._tag, method.payloadSchema)
  return {
    method: method._tag,
    run: (params, request) =>
      Effect.mapError(
        Effect.flatMap(decode(params), (decoded) => handle(decoded, request)),
        (failure) => (failure._tag === "WireError" ? failure : toWireError(failure, names))
      )
  }
}

/** The route of a notification. Params that do not fit are logged and dropped (RPC-05). */
export const onNotification = <Tag extends string, Params>(
  method: Method<Tag, Params, unknown>,
  handle: (params: Params) => Effect.Effect<void>
): Route<Tag, NotificationRoute> => {
  const decode = decodeParams(method._tag, method.payloadSchema)
  return {
    method: method._tag,
    run: (params) => Effect.catch(Effect.flatMap(decode(params), handle), (error) => Effect.logWarning(error.message))
  }
}

/** One route for each method of a group, so that none is forgotten. */
export type Table<Group extends RpcGroup.Any, Run, Except extends string = never> = {
  readonly [Tag in Exclude<Rpc.Tag<RpcGroup.Rpcs<Group>>, Except>]: Route<Tag, Run>
}

export const routes = (
  requests: Readonly<Record<string, Route<string, RequestRoute>>>,
  notifications: Readonly<Record<string, Route<string, NotificationRoute>>>
): Routes => {
  const byRequest = new Map(Object.values(requests).map((route) => [route.method, route.run]))
  const byNotification = new Map(Object.values(notifications).map((route) => [route.method, route.run]))
  return {
    // Some clients leave out the underscore of an extension, which their libraries add or take away.
    request: (method) => byRequest.get(method) ?? byRequest.get(`_${method}`),
    notification: (method) => byNotification.get(method)
  }
}

export interface VersionOptions<Params, Result> {
  readonly version: number
  readonly initialize: Method<"initialize", Params, Result>
  readonly capabilities: (params: Params) => EditorCapabilities
  readonly editor: (client: Client, capabilities: EditorCapabilities) => Editor
  readonly describe: (description: AgentDescription, capabilities: EditorCapabilities, parties: Parties) => Result
  readonly routes: (connection: AgentConnection, description: AgentDescription) => Routes
}

export const make = <Params, Result>(options: VersionOptions<Params, Result>): Version => {
  const decode = decodeParams("initialize", options.initialize.payloadSchema)
  return {
    version: options.version,
    open: Effect.fnUntraced(function* (params, parties) {
      const capabilities = options.capabilities(yield* decode(params))
      const editor = options.editor(parties.client, capabilities)
      const connection = yield* parties.agent.connect(editor, parties.options)
      const description = yield* connection.describe
      return {
        result: options.describe(description, capabilities, parties),
        routes: options.routes(connection, description)
      }
    })
  }
}
