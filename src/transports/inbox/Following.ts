/**
 * What a reader gets, from where it was: events of the feed and, before them, what the feed no longer has, out of the log.
 * A reader takes at its own pace and holds nothing up: one that falls behind the feed is led through the log again.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Failure } from "../../domain/Failure.ts"
import type { SessionId } from "../../domain/Ids.ts"
import type { Position } from "../../domain/session/Position.ts"
import type { Conversation } from "./Conversation.ts"
import type { Conversations } from "./Conversations.ts"
import type { Body } from "./Event.ts"
import type { Told } from "./Feed.ts"
import * as History from "./History.ts"
import * as Mark from "./Mark.ts"
import type { Turn } from "./Turn.ts"

export interface Following {
  /**
   * Events of one conversation, or of all that are joined, after the one with the id `since`; without it all of the
   * conversation, or all that are kept.
   */
  readonly follow: (sessionId: SessionId | undefined, since: string | undefined) => Stream.Stream<Told, Failure>
  /** The events of one turn, from its beginning to its end. */
  readonly followTurn: (sessionId: SessionId, turn: Turn) => Stream.Stream<Told, Failure>
}

interface Reader {
  readonly sessionId: SessionId | undefined
  /** The number of the last event, once there is one. */
  readonly end: Deferred.Deferred<number> | undefined
}

/** How far a reader was led through the log. */
interface Progress {
  readonly position: Position | undefined
  /** What it was told last. */
  readonly last: Body["type"] | undefined
  /** It was told the beginning of a turn. */
  readonly sawUser: boolean
}

const isEnd = (type: Body["type"] | undefined): boolean => type === "done" || type === "error"

/** Characters of events that a reader takes out of the feed at once: a slow one holds no more of what it no longer keeps. */
const MAX_TAKEN = 64 * 1024

/** The first of the events, as many as one take has; at least one if there is any. */
const firstOf = (news: ReadonlyArray<Told>): ReadonlyArray<Told> => {
  let size = 0
  const end = news.findIndex(({ json }) => {
    size += json.length
    return size >= MAX_TAKEN
  })
  return end === -1 ? news : news.slice(0, end + 1)
}

export const make = ({ feed, join }: Conversations): Following => {
  const isFor =
    (reader: Reader) =>
    (told: Told): boolean =>
      reader.sessionId === undefined || told.mark.sessionId === reader.sessionId

  /** The feed after a number, for as long as the reader keeps up with it. */
  const live = (reader: Reader, from: number, conversation: Conversation | undefined): Stream.Stream<Told> =>
    Stream.paginate(
      from,
      Effect.fnUntraced(function* (number) {
        const end =
          reader.end !== undefined && Deferred.isDoneUnsafe(reader.end) ? yield* Deferred.await(reader.end) : Infinity
        const news = feed.after(number)
        if (news === undefined || number >= end || conversation?.isOver() === true) return [[], Option.none()] as const
        if (news.length === 0) {
          const more = feed.beyond(number)
          yield* reader.end === undefined ? more : Effect.raceFirst(more, Deferred.await(reader.end))
        }
        const taken = firstOf(news)
        const told = taken.filter(({ number = 0 }) => number <= end).filter(isFor(reader))
        return [told, Option.some(number + taken.length)] as const
      })
    )

  /** How a reader goes on in the feed that was led through the log up to a position. */
  const present = Effect.fnUntraced(function* (
    reader: Reader,
    conversation: Conversation,
    { last, position, sawUser }: Progress
  ) {
    const { joined, questions, sessionId } = conversation
    const now = feed.last()
    const isOwn = (told: Told) => told.mark.sessionId === sessionId
    /** Of what the feed has already, what the log has not. */
    const isAhead = (told: Told): boolean => {
      const { kept, mark, number = 0 } = told
      if (number > now || !isOwn(told)) return true
      return (
        number > joined && (Mark.isAfter(mark.position, position) || (!kept && !Mark.isAfter(position, mark.position)))
      )
    }
    const ahead = feed.all().filter((told) => isOwn(told) && isAhead(told))
    const has = (type: Body["type"]) => ahead.some(({ mark }) => mark.type === type)
    const own = (body: Body) => feed.make(sessionId, body, position, false)
    const working = conversation.isWorking()
    const typing = working && sawUser && !has("typing") ? [yield* own({ type: "typing" })] : []
    const asked = questions.open().filter((told) => !ahead.includes(told))
    const done = working || last === undefined || isEnd(last) || has("done") ? [] : [yield* own({ type: "done" })]
    // The events themselves are not held here, for a reader that does not read would hold them for good.
    const from = reader.sessionId === undefined ? feed.last() - feed.all().length : (ahead[0]?.number ?? now + 1) - 1
    return Stream.concat(
      Stream.fromIterable([...typing, ...asked, ...done]),
      Stream.filter(live(reader, from, conversation), isAhead)
    )
  })

  const ledThrough = (
    reader: Reader,
    conversation: Conversation,
    mark: Mark.Mark | undefined
  ): Stream.Stream<Told, Failure> =>
    Stream.suspend(() => {
      let progress: Progress = { position: mark?.position, last: mark?.type, sawUser: mark === undefined }
      const log = History.stream(feed, conversation, mark?.position, (position) => {
        progress = { ...progress, position }
      }).pipe(
        Stream.tap(({ mark: { type } }) =>
          Effect.sync(() => {
            progress = { ...progress, last: type, sawUser: progress.sawUser || type === "user" }
          })
        )
      )
      return Stream.concat(log, Stream.unwrap(Effect.suspend(() => present(reader, conversation, progress))))
    })

  /** Goes on from the event with this id, and again whenever the reader fell behind. */
  const resume = (
    reader: Reader,
    since: string | undefined
  ): Effect.Effect<Stream.Stream<Told, Failure>, Failure, Scope.Scope> =>
    Effect.gen(function* () {
      const mark = since === undefined ? undefined : Option.getOrUndefined(Mark.parse(since))
      const number = since === undefined ? undefined : feed.find(since)
      const id = reader.sessionId ?? (number === undefined ? mark?.sessionId : undefined)
      const oldest = feed.last() - feed.all().length
      if (id === undefined) return live(reader, number ?? oldest, undefined)
      const joining = reader.sessionId === undefined ? Effect.option(join(id)) : Effect.asSome(join(id))
      const conversation = Option.getOrUndefined(yield* joining)
      if (conversation === undefined) return live(reader, oldest, undefined)
      return number !== undefined && number >= conversation.joined
        ? live(reader, number, conversation)
        : ledThrough(reader, conversation, mark?.sessionId === id ? mark : undefined)
    })

  /** Begins with `first`, and goes on from the last event whenever the reader fell behind. */
  const keepUp = (
    reader: Reader,
    first: Stream.Stream<Told, Failure>,
    since: string | undefined
  ): Stream.Stream<Told, Failure> =>
    Stream.suspend(() => {
      let last = since
      // A turn's reader that got nothing has no place to go on from.
      const isOver = () => reader.end !== undefined && (last === undefined || Deferred.isDoneUnsafe(reader.end))
      const again = Stream.unwrap(Effect.suspend(() => resume(reader, last)))
      return Stream.paginate(first, (next) =>
        Effect.sync(() =>
          next === again && isOver() ? ([[], Option.none()] as const) : ([[next], Option.some(again)] as const)
        )
      ).pipe(
        Stream.flatMap((stream) => stream),
        Stream.tap(({ id }) =>
          Effect.sync(() => {
            last = id
          })
        )
      )
    })

  return {
    follow: (sessionId, since) => {
      const reader: Reader = { sessionId, end: undefined }
      return keepUp(reader, Stream.unwrap(resume(reader, since)), since)
    },
    followTurn: (sessionId, turn) =>
      Stream.unwrap(
        Effect.gen(function* () {
          yield* Effect.raceFirst(Deferred.await(turn.begun), Deferred.await(turn.ended))
          if (!turn.isBegun()) {
            const outcome = yield* Effect.result(Deferred.await(turn.outcome))
            const text = outcome._tag === "Failure" ? outcome.failure.message : "It was cancelled before it began"
            const told = [{ type: "error", text } as const, { type: "done", stopReason: "cancelled" } as const]
            return Stream.fromIterableEffect(
              Effect.forEach(told, (body) => feed.make(sessionId, body, undefined, false))
            )
          }
          const reader: Reader = { sessionId, end: turn.ended }
          const conversation = yield* join(sessionId)
          const from = yield* Deferred.await(turn.begun)
          return keepUp(reader, live(reader, from, conversation), undefined)
        })
      )
  }
}
