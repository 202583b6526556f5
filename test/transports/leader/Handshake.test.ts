import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Handshake from "../../../src/transports/leader/Handshake.ts"
import { mismatchOf } from "../../../src/transports/leader/Mismatch.ts"

describe("Handshake", () => {
  it("compares versions by their numbers", () => {
    for (const [older, newer] of [
      ["0.1.0", "0.1.1"],
      ["0.9.0", "0.10.0"],
      ["0.10.9", "1.0.0"],
      ["", "0.0.1"],
      ["1.x.0", "1.1"]
    ] as const) {
      assert.isBelow(Handshake.compareVersions(older, newer), 0)
      assert.isAbove(Handshake.compareVersions(newer, older), 0)
    }
    assert.strictEqual(Handshake.compareVersions("1.2.3", "1.2.3-beta"), 0)
  })

  it("says which of the two is the older, and what to do", () => {
    const reply = { superPiLeader: 1, version: "1.0.0", pid: 7 }
    assert.isUndefined(mismatchOf("1.0.0", reply))
    const older = mismatchOf("1.1.0", reply)
    assert.match(older?.message ?? "", /is version 1\.0\.0, older than this program, 1\.1\.0.*super-pi leader stop/)
    assert.deepStrictEqual(JSON.parse(older?.notification ?? ""), {
      jsonrpc: "2.0",
      method: "x.ai/leader/version_mismatch",
      params: { clientVersion: "1.1.0", leaderVersion: "1.0.0", message: older?.message }
    })
    assert.match(mismatchOf("0.9.0", reply)?.message ?? "", /start the agent again in the editor/)
  })

  it.effect("reads greetings with keys of later versions, and no others", () =>
    Effect.gen(function* () {
      const hello = { superPiLeader: 1, version: "1.0.0", pid: 7, role: "acp" }
      assert.deepStrictEqual(yield* Handshake.decodeHello(JSON.stringify({ ...hello, colour: "red" })), hello)
      for (const wrong of [
        "",
        "{}",
        "[]",
        "no json",
        JSON.stringify({ ...hello, role: "king" }),
        JSON.stringify({ ...hello, pid: 0 })
      ]) {
        yield* Effect.flip(Handshake.decodeHello(wrong))
      }
    })
  )
})
