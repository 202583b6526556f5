import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { git, sh, treeOf } from "../support/changes.ts"
import { calls, placeOf, says, suite, yolo } from "../support/Harness.ts"
import { at } from "../support/Schema.ts"
import { stdio } from "../support/Transports.ts"

const { alone } = suite(1, stdio)

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

describe("the program", () => {
  alone(
    "EXT-01 MUST take back what a turn changed after it was killed and started again, and forget it with the session",
    { steps: [calls(["bash", { command: "echo two > file.txt; mkdir made; echo n > made/new.txt" }]), says("Done")] },
    Effect.fnUntraced(function* (test) {
      const { folder, home } = test
      yield* sh(folder, "git init -q && echo one > file.txt && git add -A && git commit -qm first")
      const before = treeOf(folder)
      const session = yield* test.open({ _meta: yolo })
      yield* session.run()
      assert.match(git(folder, "status", "--porcelain"), /M file\.txt\n\?\? made\//)
      yield* test.client.cut("kill")

      const { client } = yield* test.restart()
      yield* client.request("session/load", { sessionId: session.id, ...placeOf(test) })
      const kept = filesIn(join(home, "sessions", session.id, "changes"))
      assert.isNotEmpty(kept)
      // The folder shuts out everybody else, whatever is in it.
      assert.strictEqual(statSync(join(home, "sessions", session.id, "changes")).mode & 0o077, 0)
      const { result } = yield* client.raw("_superpi/session/undo", { sessionId: session.id })
      assert.strictEqual(at(result, "undone"), true, JSON.stringify(result))
      assert.deepStrictEqual(treeOf(folder), before)
      assert.strictEqual(git(folder, "status", "--porcelain"), "")
      yield* client.request("session/delete", { sessionId: session.id })
      assert.notInclude(readdirSync(join(home, "sessions")), session.id)
    })
  )
})
