import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { FileChange, type FileVersion, isSameVersion } from "../../../src/domain/session/Changes.ts"
import { netOf } from "../../../src/domain/session/NetChanges.ts"
import { Entry } from "../../../src/domain/session/Session.ts"
import { empty, foldAll } from "../../../src/domain/session/SessionState.ts"
import { describeUndo, undoneMessage } from "../../../src/domain/session/Undo.ts"

const file = (hash: string, mode = 0o100644): FileVersion => ({ hash, mode, size: hash.length })
const link = (hash: string, mode = 0o120777): FileVersion => ({ hash, mode, size: hash.length })
const folder = (mode = 0o040755): FileVersion => ({ hash: "", mode, size: 0 })

const changed = (path: string, before: FileVersion | null, after: FileVersion | null): Entry => ({
  _tag: "FileChanged",
  change: { path, before, after }
})

const began: Entry = { _tag: "TurnStarted" }
const ended: Entry = { _tag: "TurnEnded", outcome: { stopReason: "end_turn" } }

describe("versions", () => {
  it("are the same by type, content and, of files, permissions", () => {
    assert.isTrue(isSameVersion(null, null))
    assert.isFalse(isSameVersion(null, file("a")))
    assert.isTrue(isSameVersion(file("a"), file("a")))
    assert.isFalse(isSameVersion(file("a"), file("b")))
    assert.isFalse(isSameVersion(file("a"), file("a", 0o100755)))
    assert.isFalse(isSameVersion(file("a"), link("a")))
    assert.isTrue(isSameVersion(link("a"), link("a", 0o120755)))
    assert.isTrue(isSameVersion(folder(), folder(0o040700)))
  })
})

describe("what changes come to", () => {
  it("is from the first to the last of each path, without what came to nothing", () => {
    const net = netOf([
      { path: "/a", before: null, after: file("1") },
      { path: "/b", before: file("1"), after: null },
      { path: "/a", before: file("1"), after: file("2") },
      { path: "/b", before: null, after: file("1") },
      { path: "/c", missed: "too large" },
      { path: "/c", missed: "too large" }
    ])
    assert.deepStrictEqual(net.files, [{ path: "/a", before: null, after: file("2"), mixed: false }])
    assert.deepStrictEqual(net.missed, [{ path: "/c", missed: "too large" }])
  })

  it("is mixed where somebody else's content is in between, and not for a folder", () => {
    const mixed = (first: FileVersion | null, second: FileVersion | null) =>
      netOf([
        { path: "/a", before: file("0"), after: first },
        { path: "/a", before: second, after: file("9") }
      ]).files[0]?.mixed
    assert.isFalse(mixed(file("1"), file("1")))
    assert.isTrue(mixed(file("1"), file("2")))
    assert.isTrue(mixed(null, file("2")))
    assert.isTrue(mixed(file("1"), null))
    assert.isTrue(mixed(file("1"), file("1", 0o100755)))
    assert.isFalse(mixed(folder(), null))
  })
})

describe("a session's changes", () => {
  it("are kept by turn, also what a command in the background did after its turn", () => {
    const state = foldAll(empty, [
      began,
      changed("/a", null, file("1")),
      ended,
      changed("/late", null, file("1")),
      began,
      ended,
      began,
      changed("/b", null, file("1")),
      ended
    ])
    assert.deepStrictEqual(
      state.changes.map(({ changes, turn }) => [turn, changes.map(({ path }) => path)]),
      [
        [1, ["/a", "/late"]],
        [3, ["/b"]]
      ]
    )
  })

  it("are gone when they were taken back, and not those that came meanwhile", () => {
    const log: ReadonlyArray<Entry> = [began, changed("/a", null, file("1")), changed("/b", null, file("1"))]
    assert.deepStrictEqual(foldAll(empty, [...log, { _tag: "ChangesUndone", turn: 1, count: 2 }]).changes, [])
    const left = foldAll(empty, [...log, changed("/c", null, file("1")), { _tag: "ChangesUndone", turn: 1, count: 2 }])
    assert.deepStrictEqual(
      left.changes.map(({ changes }) => changes.map(({ path }) => path)),
      [["/c"]]
    )
    assert.deepStrictEqual(foldAll(empty, [{ _tag: "ChangesUndone", turn: 7, count: 2 }]).changes, [])
  })

  it.prop(
    "are the same however the log was cut, and survive being stored",
    [Schema.Array(Schema.Union([FileChange, Schema.Literals(["turn", "undo"])])), Schema.Natural],
    ([steps, cut]) => {
      const log = steps.map((step): Entry => {
        if (step === "turn") return began
        if (step === "undo") return { _tag: "ChangesUndone", turn: 1, count: 2 }
        return { _tag: "FileChanged", change: step }
      })
      const codec = Schema.fromJsonString(Schema.toCodecJson(Schema.Array(Entry)))
      const stored = Schema.decodeSync(codec)(Schema.encodeSync(codec)(log))
      assert.deepStrictEqual(stored, log)
      const at = cut % (log.length + 1)
      const whole = foldAll(empty, log)
      assert.deepStrictEqual(foldAll(foldAll(empty, log.slice(0, at)), stored.slice(at)), whole)
    }
  )
})

describe("words about an undo", () => {
  it("name a hundred files at most", () => {
    const files = Array.from({ length: 250 }, (_, index) => ({ path: `/w/f${index}`, what: "restored" as const }))
    for (const text of [describeUndo({ _tag: "Undone", files, notes: [] }, "/w"), undoneMessage(files, "/w")]) {
      assert.include(text, "- restored f99\n- and 150 more")
      assert.notInclude(text, "f100")
    }
  })

  it("do not claim what was not done", () => {
    const text = describeUndo({ _tag: "Undone", files: [], notes: ["Only a part of it was recorded."] })
    assert.notInclude(text, "taken back")
    assert.include(text, "Only a part of it was recorded.")
    assert.include(
      describeUndo({ _tag: "Refused", reasons: [{ path: "/w/a", reason: "It is gone." }] }),
      "- /w/a: It is gone."
    )
  })
})
