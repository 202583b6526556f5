/** A connection to the leader, which is started when there is none. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { dial, type Line } from "./Dial.ts"
import type { Hello } from "./Handshake.ts"
import { type Launched, lastWords } from "./Launch.ts"
import { LeaderFailed } from "./LeaderFailed.ts"
import { type Place, secureFolder } from "./Place.ts"

export interface ReachOptions {
  readonly place: Place
  readonly hello: Hello
  readonly launch: Effect.Effect<Launched, LeaderFailed>
}

/** How long a leader may take to start; one that makes room for it may finish first. */
const patience = "15 seconds"

const pause = Effect.sleep("25 millis")

/** The scope ends the connection. Many may call it at once: the lock of the place decides whose leader stays. */
export const reach = Effect.fn("Reach.reach")(function* ({
  hello,
  launch,
  place
}: ReachOptions): Effect.fn.Return<Line, LeaderFailed, Scope.Scope> {
  yield* secureFolder(place)
  const scope = yield* Effect.scope
  let launched: Launched | undefined

  const attempt = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    const found = yield* Scope.provide(dial(place, hello), own)
    if (Option.isSome(found) && found.value.reply.refused === undefined) return found.value
    yield* Scope.close(own, Exit.void)
    if (Option.isSome(found)) {
      const { pid, refused, retiring } = found.value.reply
      if (retiring === true) return undefined
      return yield* new LeaderFailed({
        message: `The leader at ${place.socket} (pid ${pid}) refused the connection: ${refused}`
      })
    }
    const code = launched?.ended()
    if (code !== undefined && code !== 0) {
      return yield* new LeaderFailed({ message: `The leader ended with code ${code}: ${yield* lastWords(place)}` })
    }
    // One that ended with 0 found another, which may have ended since.
    if (launched === undefined || code === 0) launched = yield* launch
    return undefined
  })

  const reached = yield* attempt.pipe(
    Effect.tap((line) => (line === undefined ? pause : Effect.void)),
    Effect.repeat({ until: (line) => line !== undefined }),
    Effect.timeoutOption(patience)
  )
  const line = Option.getOrUndefined(reached)
  if (line !== undefined) return line
  return yield* new LeaderFailed({ message: `The leader did not start in time: ${yield* lastWords(place)}` })
})
