/** A session that several clients use: what each was told of it, and where the log has it. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { isBeyond, parse, type Position } from "../../src/domain/session/Position.ts"
import type { Client } from "./Client.ts"
import type { Test } from "./Harness.ts"
import { at, isObject } from "./Schema.ts"
import type { Entry } from "./Transcript.ts"

type Json = Schema.Json
type JsonObject = Schema.JsonObject

const ACTIVITY = "_superpi/session/activity"

const isOf = ({ from, message }: Entry, method: string, id: string): boolean =>
  from === "agent" && message.method === method && at(message.params, "sessionId") === id

/** Params of the updates of a session, in order. */
export const paramsOf = (
  { transcript }: Client,
  id: string,
  since = 0,
  until = transcript.entries.length
): ReadonlyArray<JsonObject> =>
  transcript.entries.slice(since, until).flatMap((entry) => {
    const { params } = entry.message
    return isOf(entry, "session/update", id) && isObject(params) ? [params] : []
  })

export const updateIn = (params: JsonObject): JsonObject => {
  const update = params["update"]
  return isObject(update) ? update : assert.fail("no update")
}

export const kindOf = (params: JsonObject): Json | undefined => updateIn(params)["sessionUpdate"]

/** Where the log has what an update tells; undefined for what is not kept. */
export const entryOf = (params: JsonObject): string | undefined => {
  const entry = at(params, "_meta", "superPi", "entry")
  return typeof entry === "string" ? entry : undefined
}

/** The last place of the log that a client was told. */
export const lastEntry = (client: Client, id: string): string | undefined =>
  paramsOf(client, id)
    .flatMap((params) => entryOf(params) ?? [])
    .at(-1)

const positionOf = (entry: string): Position =>
  Option.getOrElse(parse(entry), () => assert.fail(`no position: ${entry}`))

/** Nothing is told twice or out of order: what is kept comes in the order of the log. */
export const isInOrder = (told: ReadonlyArray<JsonObject>): void => {
  let last: Position | undefined
  let before: JsonObject | undefined
  for (const params of told) {
    const entry = entryOf(params)
    // A replay tells the usage once, behind everything else.
    if (entry === undefined || kindOf(params) === "usage_update") continue
    const position = positionOf(entry)
    assert.isTrue(isBeyond(position, last), `${JSON.stringify(params)} after ${JSON.stringify(before)}`)
    last = position
    before = params
  }
}

/** What a client was told of turns that others began, such as `working` and `idle end_turn`. */
export const activitiesOf = ({ transcript }: Client, id: string): ReadonlyArray<string> =>
  transcript.entries.flatMap((entry) =>
    isOf(entry, ACTIVITY, id)
      ? [[at(entry.message.params, "state"), at(entry.message.params, "stopReason")].filter(Boolean).join(" ")]
      : []
  )

/** Waits until somebody else's turn runs. */
export const begun = ({ client: { transcript } }: Test, id: string): Effect.Effect<true> =>
  transcript.find((entry) =>
    isOf(entry, ACTIVITY, id) && at(entry.message.params, "state") === "working" ? true : undefined
  )

/** Waits until somebody else's turn is over; the index of the line that says so. */
export const idle = ({ transcript }: Client, id: string, since = 0): Effect.Effect<number> =>
  transcript.find(
    (entry, index) => (isOf(entry, ACTIVITY, id) && at(entry.message.params, "state") === "idle" ? index : undefined),
    since
  )

/** Waits until that many updates that are kept have come since then, or the turn is over. */
export const untilTold = ({ transcript }: Client, id: string, count: number, since: number): Effect.Effect<void> => {
  let left = count
  return Effect.asVoid(
    transcript.find((entry) => {
      const { message } = entry
      const isKept = isOf(entry, "session/update", id) && at(message.params, "_meta", "superPi", "entry") !== undefined
      if (isKept) left -= 1
      const isOver =
        (isOf(entry, ACTIVITY, id) && at(message.params, "state") === "idle") ||
        (entry.from === "agent" && at(message.result, "stopReason") !== undefined)
      return left <= 0 || isOver ? true : undefined
    }, since)
  )
}

/** Opens a session that others use. `told` is what was heard of it before the answer. */
export const joins = Effect.fnUntraced(function* (
  { client, folder, session }: Pick<Test, "client" | "folder" | "session">,
  id: string,
  how: "session/load" | "session/resume" = "session/load",
  after?: string
) {
  const asked = yield* client.ask(how, {
    sessionId: id,
    cwd: folder,
    mcpServers: [],
    ...(after === undefined ? {} : { _meta: { superPi: { after } } })
  })
  const answer = yield* asked.answer
  const answeredAt = yield* asked.answeredAt
  return {
    session: session(id, answer),
    /** Whether a turn was said to run. */
    working: at(answer, "_meta", "superPi", "working") === true,
    at: asked.at,
    told: paramsOf(client, id, asked.at, answeredAt)
  }
})

/** Remote clients may do what the local user may. */
export const unlimited = '[remote]\nexecution_mode_ceiling = "always-approve"\n'

/** Two clients that see one session, which is the first one's. */
export const together = Effect.fnUntraced(function* (test: Test, meta: object = {}) {
  const one = yield* test.another()
  const two = yield* test.another()
  const mine = yield* one.open({ _meta: { ...meta } })
  const { session: theirs } = yield* joins(two, mine.id, "session/resume")
  return { one, two, mine, theirs, id: mine.id }
})

/** Waits until a question was taken back. */
export const withdrawn = ({ client }: Test, id: Json): Effect.Effect<true> =>
  client.transcript.find(({ from, message }) =>
    from === "agent" && message.method === "$/cancel_request" && at(message.params, "requestId") === id
      ? true
      : undefined
  )
