/** A relay that a test plays: it answers each call as the test says, and holds the other end of each link. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { FramesShape } from "../../../src/transports/Frames.ts"
import { type Link, LinkFailed } from "../../../src/transports/relay/Link.ts"
import * as Links from "../../../src/transports/relay/Links.ts"
import * as Memory from "../../../src/transports/Memory.ts"

export const unreachable = new LinkFailed({ problem: "unreachable", message: "The relay cannot be reached" })
export const unauthorized = new LinkFailed({ problem: "unauthorized", message: "The relay answered 401" })

/** The relay's end of a link. */
export interface Other {
  readonly token: string | undefined
  readonly end: Memory.MemoryEnd
  /** Joins a client. */
  readonly pair: Effect.Effect<void>
  /** The next frame of the agent. */
  readonly next: Effect.Effect<string>
}

/** Serves by sending each frame back, with a name of the connection in front. */
export const echo = () => {
  let connections = 0
  const ended: Array<number> = []
  const serve = (frames: FramesShape): Effect.Effect<void> =>
    Effect.suspend(() => {
      const name = ++connections
      return Stream.runForEach(frames.incoming, (frame) =>
        frame._tag === "Text" ? frames.send([`${name} ${frame.text}`]) : Effect.void
      ).pipe(Effect.ensuring(Effect.sync(() => ended.push(name))))
    })
  return { serve, ended, count: () => connections }
}

export interface PlayOptions {
  readonly pairs?: boolean
  readonly serve?: (frames: FramesShape) => Effect.Effect<void>
  readonly clients?: number
  readonly token?: () => string
}

/** Keeps links to a relay that refuses calls with what `answers` has, one after the other, and takes those after. */
export const play = Effect.fnUntraced(function* ({
  clients,
  pairs = true,
  serve = echo().serve,
  token
}: PlayOptions = {}) {
  const calls = yield* Queue.unbounded<Other>()
  const answers: Array<LinkFailed> = []
  const told: Array<string> = []
  const tokens: Array<string | undefined> = []
  const dial = (redacted: Redacted.Redacted<string> | undefined): Effect.Effect<Link, LinkFailed> =>
    Effect.gen(function* () {
      const given = redacted === undefined ? undefined : Redacted.value(redacted)
      tokens.push(given)
      const refused = answers.shift()
      if (refused !== undefined) return yield* refused
      const link = yield* Memory.pair
      const paired = yield* Deferred.make<void>()
      const said = yield* Queue.unbounded<string>()
      yield* Effect.forkDetach(
        Stream.runForEach(link.editor.incoming, (frame) => Queue.offer(said, frame._tag === "Text" ? frame.text : ""))
      )
      yield* Queue.offer(calls, {
        token: given,
        end: link.editor,
        pair: Effect.asVoid(Deferred.succeed(paired, undefined)),
        next: Queue.take(said)
      })
      return { frames: link.agent, pairs, paired: Deferred.await(paired) }
    })
  yield* Effect.forkScoped(
    Links.keep({
      token: Effect.sync(() => (token === undefined ? undefined : Redacted.make(token()))),
      dial,
      serve,
      tell: (line) => Effect.sync(() => void told.push(line)),
      ...(clients === undefined ? {} : { clients })
    }),
    { startImmediately: true }
  )
  return {
    /** The next link that was made. */
    next: Queue.take(calls),
    /** Links that were made and not looked at. */
    waiting: Queue.size(calls),
    answers,
    told,
    tokens
  }
})
