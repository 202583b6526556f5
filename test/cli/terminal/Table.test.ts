import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Column, table, widthOf } from "../../../src/cli/terminal/Table.ts"

const columns: ReadonlyArray<Column> = [
  { title: "ID", cells: ["01a2", "77"] },
  { title: "TITLE", cells: ["Repair the parser of dates", "漢字のタイトル"], shrink: "end" },
  { title: "FOLDER", cells: ["/home/me/work/dates", "/srv/x"], shrink: "start" }
]

describe("table", () => {
  it("fits, and cuts where it may", () => {
    assert.deepStrictEqual(table(columns, 40), [
      "ID    TITLE             FOLDER",
      "01a2  Repair the pars…  …e/me/work/dates",
      "77    漢字のタイトル    /srv/x"
    ])
    assert.deepStrictEqual(table(columns, 200)[1], "01a2  Repair the parser of dates  /home/me/work/dates")
  })

  it("says all of it, and nothing that moves a cursor, where there is no terminal", () => {
    assert.deepStrictEqual(table(columns, undefined)[0], "01a2\tRepair the parser of dates\t/home/me/work/dates")
    assert.deepStrictEqual(table([{ title: "T", cells: ["a\tb\u001b[2J\nc"] }], undefined), ["a\\u{9}b\\u{1b}[2J⏎c"])
  })

  it.effect.prop(
    "is never wider than the terminal, down to what cannot shrink",
    [
      Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
      Schema.Int.check(Schema.isBetween({ minimum: 20, maximum: 120 }))
    ],
    ([rows, width]) =>
      Effect.sync(() => {
        const lines = table(
          [
            { title: "A", cells: rows.map(([one]) => one), shrink: "end" },
            { title: "B", cells: rows.map(([, other]) => other), shrink: "start" }
          ],
          width
        )
        assert.lengthOf(lines, rows.length + 1)
        for (const line of lines) assert.isAtMost(widthOf(line), width)
      })
  )
})
