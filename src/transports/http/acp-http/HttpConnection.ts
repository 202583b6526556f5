/**
 * One connection over many HTTP requests: what is posted comes in, and what the agent says leaves on the stream of its
 * session or of the connection (HTTP-05). It lives until it is deleted, disconnected or left alone.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { Frame, FramesShape } from "../../Frames.ts"
import * as EventStream from "./EventStream.ts"
import * as Head from "./Head.ts"
import type { HttpLimits } from "./HttpLimits.ts"
import * as Mailbox from "./Mailbox.ts"
import { type Refusal, refusal } from "./Refusal.ts"

/** Frames that the peer has not read yet; it never waits for a handler, so they are few. */
const capacity = 256

/** Questions whose answers may still come, and sessions that are remembered as this connection's. */
const remembered = 4096

/** Where the answer to a request goes, and which session's events have to be out before it. */
export interface Destination {
  /** `undefined`: the stream of the connection. */
  readonly sessionId: string | undefined
  readonly after: string | undefined
}

export interface HttpConnection {
  readonly id: string
  readonly frames: FramesShape
  /** Hands a message to the agent. A request says where its answer goes. */
  readonly receive: (
    text: string,
    request?: { readonly id: string; readonly destination: Destination }
  ) => Effect.Effect<void>
  /** Hands over the first request, whose answer is the body of its response; `undefined` when there will be none. */
  readonly initialize: (text: string, id: string) => Effect.Effect<string | undefined>
  /** The stream of a session, or of the connection. */
  readonly mailbox: (sessionId: string | undefined) => Mailbox.Mailbox | Refusal
  /** The session in which the agent asked the question `id`; `undefined`: in none. */
  readonly askedIn: (id: string) => string | undefined
  /** The question `id` is answered. */
  readonly answered: (id: string) => void
  /** Whether this connection opened a session, or is about to. */
  readonly holds: (sessionId: string) => boolean
  readonly hold: (sessionId: string) => void
  /** Ends it for both sides; harmless when repeated. */
  readonly end: Effect.Effect<void>
  readonly isOver: () => boolean
  /** Ends it once nobody has used it for too long; its sessions live on (NET-02). */
  readonly expire: Effect.Effect<void>
  /** Waits a moment until its readers have got what was said, then ends it, and cuts off who still reads. */
  readonly farewell: Effect.Effect<void>
}

/** Keeps a table from growing with what a client never comes back to. */
const forgetOldest = (table: {
  readonly size: number
  keys(): Iterator<string>
  delete(key: string): boolean
}): void => {
  if (table.size <= remembered) return
  const oldest = table.keys().next()
  if (oldest.done !== true) table.delete(oldest.value)
}

export const make = Effect.fnUntraced(function* (id: string, limits: HttpLimits): Effect.fn.Return<HttpConnection> {
  const incoming = yield* Queue.bounded<Frame, Cause.Done>(capacity)
  const closed = yield* Deferred.make<void>()
  const greeting = yield* Deferred.make<string | undefined>()
  const sessions = new Map<string, Mailbox.Mailbox>()
  const answers = new Map<string, Destination & { open: number }>()
  const questions = new Map<string, string>()
  const held = new Set<string>()
  let greetingId: string | undefined
  let waitingBytes = 0
  let waitingEvents = 0
  let readers = 0
  let hadReader = false
  let lastUsed = yield* Clock.currentTimeMillis
  const clock = yield* Clock.Clock
  let resumeWriter: (() => void) | undefined
  let over = false

  const touch = (): void => {
    lastUsed = clock.currentTimeMillisUnsafe()
  }

  const hasRoom = (): boolean => over || (waitingBytes <= limits.waitingBytes && waitingEvents <= limits.waitingEvents)

  const changed = (bytes: number, events: number): void => {
    waitingBytes += bytes
    waitingEvents += events
    if (hasRoom()) resumeWriter?.()
  }

  const makeMailbox = (forget: (mailbox: Mailbox.Mailbox) => void): Mailbox.Mailbox => {
    let isRead = false
    const mailbox: Mailbox.Mailbox = Mailbox.make((bytes, events) => {
      changed(bytes, events)
      const hasReader = mailbox.hasReader()
      if (hasReader === isRead) return
      isRead = hasReader
      hadReader = true
      readers += hasReader ? 1 : -1
      touch()
      if (!hasReader && mailbox.isEmpty()) forget(mailbox)
    })
    return mailbox
  }

  const common = makeMailbox(() => {})

  const mailbox: HttpConnection["mailbox"] = (sessionId) => {
    if (sessionId === undefined) return common
    const known = sessions.get(sessionId)
    if (known !== undefined) return known
    if (sessions.size >= limits.streams) {
      return refusal(409, `This connection has ${sessions.size} session streams already: close one of them first`)
    }
    const made = makeMailbox((mailbox) => {
      if (sessions.get(sessionId) === mailbox) sessions.delete(sessionId)
    })
    sessions.set(sessionId, made)
    return made
  }

  const hold = (sessionId: string): void => {
    held.add(sessionId)
    forgetOldest(held)
  }

  const streams = (): ReadonlyArray<Mailbox.Mailbox> => [common, ...sessions.values()]

  const end = Effect.suspend(() => {
    if (over) return Effect.void
    over = true
    for (const one of streams()) one.end()
    resumeWriter?.()
    return Effect.asVoid(
      Effect.all([Queue.end(incoming), Deferred.succeed(closed, undefined), Deferred.succeed(greeting, undefined)])
    )
  })

  const disconnect = (reason: string): Effect.Effect<void> =>
    Effect.andThen(over ? Effect.void : Effect.logWarning(`An HTTP connection is ended: ${reason}`), end)

  const put = (sessionId: string | undefined, text: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      const target = mailbox(sessionId)
      if ("_tag" in target) return disconnect(`${target.message}, and there is something to say in one more`)
      target.put(EventStream.event(text))
      return Effect.void
    })

  /** Two streams have no order between them, so the first gets a head start over the network (SES-06). */
  const outBefore = (mailbox: Mailbox.Mailbox): Effect.Effect<void> =>
    mailbox.hasReader() ? Effect.andThen(mailbox.written, Effect.sleep(limits.headStart)) : Effect.void

  const answer = (head: Head.Answer, text: string): Effect.Effect<void> => {
    if (head.id === greetingId) {
      greetingId = undefined
      return Effect.asVoid(Deferred.succeed(greeting, text))
    }
    const to = answers.get(head.id)
    if (to === undefined) return put(undefined, text)
    to.open--
    if (to.open === 0) answers.delete(head.id)
    const before = to.after === undefined ? undefined : sessions.get(to.after)
    return Effect.andThen(before === undefined ? Effect.void : outBefore(before), put(to.sessionId, text))
  }

  const call = (head: Head.Call, text: string): Effect.Effect<void> => {
    const { id, sessionId, withdrawn } = head
    if (withdrawn !== undefined) return put(questions.get(withdrawn), text)
    if (sessionId !== undefined) {
      hold(sessionId)
      if (id !== undefined) {
        questions.set(id, sessionId)
        forgetOldest(questions)
      }
    }
    return put(sessionId, text)
  }

  /** Over the limit the writer of the peer waits, and the peer ends a connection whose writer waits for too long. */
  const room: Effect.Effect<void> = Effect.callback((resume) => {
    if (hasRoom()) return resume(Effect.void)
    resumeWriter = () => {
      resumeWriter = undefined
      resume(Effect.void)
    }
    return Effect.sync(() => {
      resumeWriter = undefined
    })
  })

  const send = Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
    for (const text of texts) {
      if (over) return
      const head = Head.read(text)
      yield* head._tag === "Answer" ? answer(head, text) : call(head, text)
      if (!hasRoom()) yield* room
    }
  })

  const offer = (text: string): Effect.Effect<void> => {
    touch()
    return Effect.asVoid(Queue.offer(incoming, { _tag: "Text", text }))
  }

  const expire = Effect.gen(function* () {
    while (!over) {
      const patience = Duration.toMillis(hadReader ? limits.abandoned : limits.idle)
      const left = readers > 0 ? patience : lastUsed + patience - (yield* Clock.currentTimeMillis)
      if (left <= 0) return yield* disconnect("no stream was open and nothing was posted for too long")
      yield* Effect.sleep(left)
    }
  })

  const soon = (wait: (mailbox: Mailbox.Mailbox) => Effect.Effect<void>) =>
    Effect.suspend(() =>
      Effect.timeoutOption(
        Effect.forEach(streams(), wait, { discard: true, concurrency: "unbounded" }),
        limits.farewell
      )
    )

  return {
    id,
    frames: { incoming: Stream.fromQueue(incoming), send, closed: Deferred.await(closed), disconnect },
    receive: (text, request) =>
      Effect.suspend(() => {
        if (request !== undefined) {
          // Of two requests with one id the second is refused at once, and no client can tell the answers apart.
          const known = answers.get(request.id)
          if (known === undefined) answers.set(request.id, { ...request.destination, open: 1 })
          else known.open++
        }
        return offer(text)
      }),
    initialize: (text, id) =>
      Effect.suspend(() => {
        greetingId = id
        return Effect.andThen(offer(text), Deferred.await(greeting))
      }),
    mailbox,
    askedIn: (id) => questions.get(id),
    answered: (id) => questions.delete(id),
    holds: (sessionId) => held.has(sessionId),
    hold,
    end,
    isOver: () => over,
    expire,
    farewell: Effect.gen(function* () {
      yield* soon((one) => one.written)
      yield* end
      yield* soon((one) => one.left)
      for (const one of streams()) one.abort()
    })
  }
})
