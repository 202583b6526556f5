/** The socket of a leader. Whoever is let in by the folder and the socket's mode is the user. */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { chmodSync, lstatSync, rmSync } from "node:fs"
import { connect, createServer, type Server, type Socket } from "node:net"
import { LeaderFailed } from "./LeaderFailed.ts"
import { codeOf, type Place } from "./Place.ts"

/** Connections at once; further ones are ended as they come. */
const mostConnections = 256

/** Whether somebody accepts connections there. */
export const isAnswered = ({ address }: Place): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const socket = connect(address)
    const done = (answered: boolean) => {
      socket.destroy()
      resume(Effect.succeed(answered))
    }
    socket.once("connect", () => done(true))
    socket.once("error", () => done(false))
    return Effect.sync(() => socket.destroy())
  })

/** A socket that a killed leader left behind keeps its name. Nothing else is ever removed. */
const clear = (place: Place): Effect.Effect<void, LeaderFailed> =>
  Effect.try({
    try: () => lstatSync(place.socket, { throwIfNoEntry: false }),
    catch: (error) => new LeaderFailed({ message: `${place.socket} cannot be looked at (${codeOf(error)})` })
  }).pipe(
    Effect.flatMap((found) => {
      if (found === undefined) return Effect.void
      if (found.isSocket()) return Effect.sync(() => rmSync(place.socket, { force: true }))
      return Effect.fail(
        new LeaderFailed({
          message: `${place.socket} is there and is no socket: remove it, or choose another with --leader-socket`
        })
      )
    })
  )

const bind = (server: Server, { address, socket }: Place): Effect.Effect<void, LeaderFailed> =>
  Effect.callback<void, LeaderFailed>((resume) => {
    const failed = (error: unknown) =>
      resume(
        Effect.fail(
          new LeaderFailed({
            message: `${socket} cannot be made (${codeOf(error)}): choose another place with --leader-socket`
          })
        )
      )
    server.once("error", failed)
    server.listen(address, () => {
      server.off("error", failed)
      server.on("error", () => {})
      resume(Effect.void)
    })
  }).pipe(
    Effect.andThen(
      process.platform === "win32"
        ? Effect.void
        : Effect.try({
            try: () => chmodSync(socket, 0o600),
            catch: (error) =>
              new LeaderFailed({
                message: `${socket} cannot be closed to others (${codeOf(error)}): choose another place`
              })
          })
    )
  )

/**
 * The connections that come until the scope closes, or `undefined` when somebody answers there already. Only the holder of
 * the lock may call it.
 */
export const listen = Effect.fnUntraced(function* (
  place: Place
): Effect.fn.Return<Queue.Dequeue<Socket> | undefined, LeaderFailed, Scope.Scope> {
  if (yield* isAnswered(place)) return undefined
  yield* clear(place)
  const sockets = yield* Effect.acquireRelease(Queue.unbounded<Socket>(), (queue) =>
    Effect.flatMap(Queue.clear(queue), (waiting) => Effect.sync(() => waiting.forEach((socket) => socket.destroy())))
  )
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      // Half open, so that what was asked last is still answered when the other side has said its last.
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        socket.on("error", () => {})
        Queue.offerUnsafe(sockets, socket)
      })
      server.maxConnections = mostConnections
      return server
    }).pipe(Effect.tap((server) => bind(server, place))),
    (server) => Effect.sync(() => server.close())
  )
  return sockets
})
