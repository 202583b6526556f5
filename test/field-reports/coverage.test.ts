import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { notYet } from "./notYet.ts"

/** Every report that this version answers for. */
const reports = [
  "F01 F02 F03 F04 F06 F07 F08 F09",
  "F11 F12 F13 F14",
  "F16 F17 F18 F19 F21 F22 F23 F24",
  "F26 F27 F28 F29",
  "F31 F32 F33 F34 F36 F37 F38 F39 F41 F42 F43 F44",
  "F46 F47 F48 F49 F51 F52 F53 F54 F56 F57 F58 F59",
  "F61 F62 F63 F64 F66 F67 F68 F71 F72 F73 F74 F76 F77 F78 F79",
  "F81 F82 F83 F84 F86 F87 F88 F89 F91 F92 F93 F96 F98 F101 F103 F104 F106 F111 F112 F115 F117"
].flatMap((line) => line.split(" "))

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
