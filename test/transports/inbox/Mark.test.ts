import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SessionId } from "../../../src/domain/Ids.ts"
import * as Mark from "../../../src/transports/inbox/Mark.ts"

const Place = Schema.Struct({
  sessionId: SessionId.check(Schema.isPattern(/^[^\n\r]+$/)),
  position: Schema.UndefinedOr(
    Schema.Struct({
      seq: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 })),
      length: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))
    })
  ),
  type: Schema.Literals([
    "user",
    "typing",
    "text",
    "thought",
    "tool",
    "permission",
    "permission_closed",
    "done",
    "error"
  ])
})

describe("the id of an event", () => {
  it.prop("says where in the log it was told", [Place], ([place]) => {
    assert.deepStrictEqual(Mark.parse(Mark.format(place, "1f-2")), Option.some(place))
  })

  it("says nothing if it is none", () => {
    for (const id of ["", "a", "a:1:text", "a:x:text:1", "a:1.0:text:1", "a:1:shout:1", ":1:text:1", "a:1:text:1:"]) {
      assert.isTrue(Option.isNone(Mark.parse(id)), id)
    }
  })

  it("orders places, the beginning first", () => {
    const places = [
      undefined,
      { seq: 0, length: 0 },
      { seq: 1, length: 3 },
      { seq: 1, length: 4 },
      { seq: 2, length: 0 }
    ]
    for (const [one, first] of places.entries()) {
      for (const [other, second] of places.entries()) assert.strictEqual(Mark.isAfter(first, second), one > other)
    }
  })
})
