/**
 * Where a reader of a stream is: what the id of an event says. An id that this process no longer knows, or that another one
 * gave, still names a place in the log.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SessionId } from "../../domain/Ids.ts"
import * as Position from "../../domain/session/Position.ts"
import type { Body } from "./Event.ts"

export interface Mark {
  readonly sessionId: SessionId
  /** How far the log was told with the event, or before it if the log does not have it. */
  readonly position: Position.Position | undefined
  readonly type: Body["type"]
}

const types: ReadonlyArray<string> = [
  "user",
  "typing",
  "text",
  "thought",
  "tool",
  "permission",
  "permission_closed",
  "done",
  "error"
] satisfies ReadonlyArray<Body["type"]>

const isType = (type: string): type is Body["type"] => types.includes(type)
const toSessionId = Schema.decodeUnknownOption(SessionId)

/** `unique` is different for each event and free of colons. */
export const format = ({ position, sessionId, type }: Mark, unique: string): string =>
  `${sessionId}:${position === undefined ? "" : Position.format(position)}:${type}:${unique}`

/** Nothing if no inbox gave this id. */
export const parse = (id: string): Option.Option<Mark> => {
  const [, session = "", written = "", type = ""] = /^(.+):([^:]*):([^:]*):[^:]*$/.exec(id) ?? []
  const sessionId = toSessionId(session)
  if (Option.isNone(sessionId) || !isType(type)) return Option.none()
  const position = Position.parse(written)
  return written !== "" && Option.isNone(position)
    ? Option.none()
    : Option.some({ sessionId: sessionId.value, position: Option.getOrUndefined(position), type })
}

/** Whether the first is further on in the log. */
export const isAfter = (one: Position.Position | undefined, other: Position.Position | undefined): boolean =>
  one !== undefined && Position.isBeyond(one, other)
