/** A session by its id, or by the beginning of it that no other one has. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Option from "effect/Option"
import { InvalidInput, type StoreFailed } from "../../domain/Failure.ts"
import type { SessionRecord } from "../../domain/session/Session.ts"
import type { SessionFilter, SessionStoreShape } from "../../services/SessionStore.ts"

type List = SessionStoreShape["list"]

/** All of them, the newest first. */
export const all = (list: List, filter: SessionFilter = {}): Stream.Stream<SessionRecord, StoreFailed | InvalidInput> =>
  Stream.paginate(filter, (page) =>
    Effect.map(
      list(page),
      ({ nextCursor, sessions }) =>
        [
          sessions,
          nextCursor === undefined ? Option.none<SessionFilter>() : Option.some({ ...filter, cursor: nextCursor })
        ] as const
    )
  )

/** How many of those that fit are named. */
const MAX_NAMED = 5

export const byPrefix = Effect.fnUntraced(function* (
  list: List,
  prefix: string
): Effect.fn.Return<SessionRecord, StoreFailed | InvalidInput> {
  const found = yield* all(list).pipe(
    Stream.filter(({ id }) => prefix !== "" && id.startsWith(prefix)),
    Stream.runCollect
  )
  const exact = found.find(({ id }) => id === prefix) ?? (found.length === 1 ? found[0] : undefined)
  if (exact !== undefined) return exact
  const message =
    found.length === 0
      ? `There is no session ${JSON.stringify(prefix)}; super-pi sessions list shows those that there are`
      : `${found.length} sessions begin with ${JSON.stringify(prefix)}: ${found
          .slice(0, MAX_NAMED)
          .map(({ id }) => id)
          .join(", ")}${found.length > MAX_NAMED ? ", …" : ""}; write more of the id`
  return yield* new InvalidInput({ field: "id", message })
})
