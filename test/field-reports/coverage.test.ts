import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { notYet } from "./notYet.ts"

/** Every report that this version answers for. */
const reports = [
  ...[1, 2, 3, 4, 6, 7, 8, 9],
  ...[11, 12, 13, 14],
  ...[16, 17, 18, 19, 21, 22, 23, 24],
  ...[26, 27, 28, 29],
  ...[31, 32, 33, 34, 36, 37, 38, 39, 41, 42, 43, 44],
  ...[46, 47, 48, 49, 51, 52, 53, 54, 56, 57, 58, 59],
  ...[61, 62, 64, 66, 67, 68, 71, 72, 73, 74, 76, 77, 78, 81, 84, 87, 88, 89],
  ...[96, 98, 101, 103, 104, 106, 111, 112]
].map((number) => `F${String(number).padStart(2, "0")}`)

/** Ids at the start of the names of tests. */
const tested = new Set(
  globSync("*.test.ts", { cwd: import.meta.dirname }).flatMap((file) =>
    Array.from(
      readFileSync(join(import.meta.dirname, file), "utf8").matchAll(/it\.live\(\s*["`]((?:F\d+ )+)/g),
      ([, ids = ""]) => ids.trim().split(" ")
    ).flat()
  )
)

describe("field reports", () => {
  it("each one is a test, or has a reason why it is none yet", () => {
    assert.deepStrictEqual(
      reports.filter((id) => !tested.has(id) && notYet[id] === undefined),
      []
    )
  })

  it("a reason is given only for what is not tested, or not in full", () => {
    for (const [id, { partly }] of Object.entries(notYet)) assert.strictEqual(tested.has(id), partly, id)
  })
})
