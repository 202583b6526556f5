/**
 * Waits for `initialize`, picks one version for the life of the connection, and hands over. Requests before that are
 * refused, notifications dropped (RPC-13). Requests that were sent close behind `initialize` wait for its outcome.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { ErrorCode, methodNotFound, shortName, WireError } from "../../domain/wire/ErrorCode.ts"
import { ProtocolVersion } from "../../domain/wire/v1/Initialize.ts"
import type { NotificationRoute, RequestRoute, Routes } from "../Routes.ts"
import { decodeParams } from "./Params.ts"
import type { Parties, Version } from "./Version.ts"

type State =
  | { readonly _tag: "Waiting" }
  | { readonly _tag: "Opening"; readonly done: Deferred.Deferred<void> }
  | { readonly _tag: "Open"; readonly routes: Routes }

const readVersion = decodeParams("initialize", Schema.Struct({ protocolVersion: ProtocolVersion }))

const invalidRequest = (message: string) => new WireError({ code: ErrorCode.InvalidRequest, message })

type Versions = readonly [Version, ...ReadonlyArray<Version>]

/**
 * The highest version at or below the requested one. An agent that knows only version 1 offers it whatever is
 * requested, and leaves it to the client to go (INI-03, INI-04).
 */
const select = (versions: Versions, requested: number): Effect.Effect<Version, WireError> => {
  const [only, ...others] = versions
  if (only.version === 1 && others.length === 0) return Effect.succeed(only)
  const chosen = versions
    .filter(({ version }) => version <= requested)
    .toSorted((one, other) => other.version - one.version)[0]
  if (chosen !== undefined) return Effect.succeed(chosen)
  const supported = versions.map(({ version }) => version)
  return Effect.fail(
    new WireError({
      code: ErrorCode.UnsupportedProtocolVersion,
      message: `Protocol version ${requested} is not supported: use ${supported.join(" or ")}`,
      data: { requested, supported }
    })
  )
}

/** The routes of one connection, whose scope ends with it. */
export const make = Effect.fnUntraced(function* (
  versions: Versions,
  parties: Parties
): Effect.fn.Return<Routes, never, Scope.Scope> {
  const scope = yield* Effect.scope
  let state: State = { _tag: "Waiting" }

  const open = Effect.fnUntraced(function* (params: unknown) {
    const { protocolVersion } = yield* readVersion(params)
    const version = yield* select(versions, protocolVersion)
    return yield* Scope.provide(version.open(params, parties), scope)
  })

  const initialize: RequestRoute = (params) =>
    Effect.suspend(() => {
      if (state._tag !== "Waiting") {
        return Effect.fail(invalidRequest("This connection is already initialized: open a new one to negotiate again"))
      }
      const done = Deferred.makeUnsafe<void>()
      state = { _tag: "Opening", done }
      return open(params).pipe(
        Effect.onExit((exit) => {
          state = Exit.isSuccess(exit) ? { _tag: "Open", routes: exit.value.routes } : { _tag: "Waiting" }
          return Deferred.succeed(done, undefined)
        }),
        Effect.map(({ result }) => result)
      )
    })

  const gated =
    (method: string): RequestRoute =>
    (params, request) =>
      Effect.suspend(() => {
        switch (state._tag) {
          case "Waiting":
            return Effect.fail(invalidRequest(`Send initialize before ${shortName(method)}`))
          case "Opening":
            return Effect.andThen(Deferred.await(state.done), gated(method)(params, request))
          case "Open":
            return state.routes.request(method)?.(params, request) ?? Effect.fail(methodNotFound(method))
        }
      })

  const gatedNotification =
    (method: string): NotificationRoute =>
    (params) =>
      Effect.suspend(() => {
        switch (state._tag) {
          case "Waiting":
            return Effect.void
          case "Opening":
            return Effect.andThen(Deferred.await(state.done), gatedNotification(method)(params))
          case "Open":
            return state.routes.notification(method)?.(params) ?? Effect.void
        }
      })

  return {
    request(method) {
      if (method === "initialize") return initialize
      return state._tag === "Open" ? state.routes.request(method) : gated(method)
    },
    notification: (method) => (state._tag === "Open" ? state.routes.notification(method) : gatedNotification(method))
  }
})
