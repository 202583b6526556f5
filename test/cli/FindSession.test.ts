import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { all, byPrefix } from "../../src/cli/sessions/FindSession.ts"
import { defaultHarness } from "../../src/domain/Harness.ts"
import { SessionId } from "../../src/domain/Ids.ts"
import type { SessionRecord } from "../../src/domain/session/Session.ts"
import type { SessionStoreShape } from "../../src/services/SessionStore.ts"

const record = (id: string): SessionRecord => ({
  id: SessionId.make(id),
  cwd: "/work",
  harness: defaultHarness.id,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z"
})

/** A store that gives two at a time. */
const listOf =
  (...ids: ReadonlyArray<string>): SessionStoreShape["list"] =>
  ({ cursor = "0" }) => {
    const at = Number(cursor)
    const sessions = ids.slice(at, at + 2).map(record)
    return Effect.succeed(at + 2 < ids.length ? { sessions, nextCursor: String(at + 2) } : { sessions })
  }

describe("a session by the beginning of its id", () => {
  it.effect("is found on whichever page it is, and by its whole id even where that begins another one", () =>
    Effect.gen(function* () {
      const list = listOf("a1", "b1", "a2", "abc", "abcd")
      assert.lengthOf(yield* Stream.runCollect(all(list)), 5)
      assert.strictEqual((yield* byPrefix(list, "a2")).id, "a2")
      assert.strictEqual((yield* byPrefix(list, "abcd")).id, "abcd")
      assert.strictEqual((yield* byPrefix(list, "abc")).id, "abc")
      assert.include((yield* Effect.flip(byPrefix(list, "a"))).message, '4 sessions begin with "a": a1, a2, abc, abcd;')
      assert.include((yield* Effect.flip(byPrefix(list, ""))).message, 'There is no session ""')
    })
  )
})
