/** What the agent adds to the protocol to show and to take back what it changed, on a real git repository. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { git, sh, treeOf } from "../support/changes.ts"
import { calls, hangs, placeOf, says, suite, type Test, type Version, yolo } from "../support/Harness.ts"
import { at } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

const repository = (folder: string) =>
  sh(
    folder,
    [
      "git init -q",
      "printf 'one\\ntwo\\n' > text.txt",
      "printf '\\0\\1' > binary.bin",
      "mkdir src && printf 'x\\n' > src/x.ts && chmod 755 src/x.ts",
      "git add -A && git commit -qm first",
      "printf 'dirty\\n' >> src/x.ts && printf 'mine\\n' > untracked.txt",
      "printf 'staged\\n' > staged.txt && git add staged.txt && git status"
    ].join(" && ")
  )

const indexOf = (folder: string): string => readFileSync(join(folder, ".git/index")).toString("hex")

const witness = (folder: string) => ({
  status: git(folder, "status", "--porcelain=v1", "--untracked-files=all"),
  head: git(folder, "rev-parse", "HEAD"),
  diff: git(folder, "diff"),
  tree: treeOf(folder)
})

const undo = ({ client }: Test, sessionId: string) => client.raw("_superpi/session/undo", { sessionId })
const diff = ({ client }: Test, sessionId: string) => client.raw("_superpi/session/diff", { sessionId })

const changing = {
  steps: [
    calls(
      ["write", { path: "made/new.txt", content: "new\n" }],
      ["edit", { path: "text.txt", old_string: "two", new_string: "2" }],
      ["bash", { command: "printf '\\2' > binary.bin; rm src/x.ts; mv untracked.txt moved.txt; echo s >> staged.txt" }]
    ),
    says("Done")
  ]
}

export const undoing = (version: Version, transport: Transport): void => {
  const { group } = suite(version, transport)

  group("undo and diff", {}, (row) => {
    row(
      "EXT-01, EXT-02 MAY take back what a turn changed in a repository, so that git sees nothing of it",
      changing,
      Effect.fnUntraced(function* (test) {
        const { folder } = test
        yield* repository(folder)
        const before = witness(folder)
        const index = indexOf(folder)
        const session = yield* test.open({ _meta: yolo })
        yield* session.run()
        assert.isTrue(existsSync(join(folder, "made/new.txt")))
        assert.isFalse(existsSync(join(folder, "src/x.ts")))

        const shown = (yield* diff(test, session.id)).result
        assert.include(String(at(shown, "diff")), "-two\n+2\n")
        assert.deepInclude(at(shown, "files"), {
          path: join(folder, "made/new.txt"),
          added: 1,
          removed: 0,
          status: "added"
        })
        assert.strictEqual(at(shown, "truncated"), false)

        const { result } = yield* undo(test, session.id)
        assert.strictEqual(at(result, "undone"), true, JSON.stringify(result))
        assert.deepInclude(at(result, "files"), { path: join(folder, "src/x.ts"), what: "recreated" })
        assert.deepStrictEqual(at(result, "refused"), [])
        assert.strictEqual(indexOf(folder), index)
        assert.deepStrictEqual(witness(folder), before)

        assert.deepStrictEqual((yield* diff(test, session.id)).result, { diff: "", files: [], truncated: false })
        const again = (yield* undo(test, session.id)).result
        assert.strictEqual(at(again, "undone"), false)
        assert.match(String(at(again, "message")), /nothing to undo/)
      })
    )

    row(
      "EXT-01 MUST NOT lose what somebody else changed since: the undo is refused as a whole, by name",
      changing,
      Effect.fnUntraced(function* (test) {
        const { folder } = test
        yield* repository(folder)
        const session = yield* test.open({ _meta: yolo })
        yield* session.run()
        appendFileSync(join(folder, "text.txt"), "by a person\n")
        const before = witness(folder)
        const { result } = yield* undo(test, session.id)
        assert.strictEqual(at(result, "undone"), false)
        const refused = at(result, "refused") as ReadonlyArray<{ readonly path: string }>
        assert.deepStrictEqual(
          refused.map(({ path }) => path),
          [join(folder, "text.txt")]
        )
        assert.match(String(at(result, "message")), /Nothing was undone.*\n- .*text\.txt: It has changed since/)
        assert.deepStrictEqual(witness(folder), before)
      })
    )

    row(
      "CMD-01 MAY do the same by the commands that are told, and say so in words",
      changing,
      Effect.fnUntraced(function* (test) {
        const { folder } = test
        yield* repository(folder)
        const before = witness(folder)
        const session = yield* test.open({ _meta: yolo })
        const told = yield* session.told("available_commands_update")
        const names = told.availableCommands.map(({ name }) => name)
        assert.includeMembers(names, ["undo", "diff"])
        yield* session.run()
        const type = "text" as const
        const shown = yield* session.run([{ type, text: "/diff" }])
        assert.include(shown.text(), "+++ b/made/new.txt")
        const undone = yield* session.run([{ type, text: "/undo" }])
        assert.match(undone.text(), /- removed made\/new\.txt/)
        assert.strictEqual(undone.response.stopReason, "end_turn")
        assert.deepStrictEqual(witness(folder), before)
      })
    )

    row(
      "EXT-01 MUST keep its promise in a session that was loaded again, and in its fork",
      { steps: [calls(["bash", { command: "echo changed > text.txt" }]), says("Done")] },
      Effect.fnUntraced(function* (test) {
        const { folder } = test
        yield* repository(folder)
        const before = witness(folder)
        const session = yield* test.open({ _meta: yolo })
        yield* session.run()
        yield* test.client.request("session/close", { sessionId: session.id })
        yield* test.client.request("session/load", { sessionId: session.id, ...placeOf(test) })
        const fork = yield* test.client.raw("_superpi/session/fork", { sessionId: session.id, ...placeOf(test) })
        const sessionId = String(at(fork.result, "sessionId"))
        assert.include(String(at((yield* diff(test, sessionId)).result, "diff")), "+changed\n")
        assert.strictEqual(at((yield* undo(test, sessionId)).result, "undone"), true)
        assert.deepStrictEqual(witness(folder), before)
        // For the session that it came from, all is as it was: there is nothing left to bring back.
        const { result } = yield* undo(test, session.id)
        assert.deepStrictEqual([at(result, "undone"), at(result, "files")], [true, []])
        yield* test.client.request("session/close", { sessionId })
      })
    )

    row(
      "EXT-01 MUST refuse to take back what is still being made, and show it meanwhile",
      { steps: [calls(["bash", { command: "echo three > text.txt" }]), hangs] },
      Effect.fnUntraced(function* (test) {
        const { folder } = test
        yield* repository(folder)
        const session = yield* test.open({ _meta: yolo })
        const turn = yield* session.prompt()
        yield* turn.told("tool_call_update", ({ status }) => status === "completed")
        const { error } = yield* undo(test, session.id)
        assert.strictEqual(error?.code, -32600, JSON.stringify(error))
        assert.match(String(error?.message), /running; cancel it or wait for its end, then undo/)
        assert.include(String(at((yield* diff(test, session.id)).result, "diff")), "+three\n")
        yield* session.cancel
        yield* turn.answer
        assert.strictEqual(at((yield* undo(test, session.id)).result, "undone"), true)
      })
    )

    row(
      "EXT-02, RPC-09 MUST answer for a session that is not open, and for no session, with an error",
      {},
      Effect.fnUntraced(function* (test) {
        for (const method of ["_superpi/session/undo", "_superpi/session/diff"]) {
          const unknown = yield* test.client.raw(method, { sessionId: "none" })
          assert.strictEqual(unknown.error?.code, -32002, JSON.stringify(unknown))
          const missing = yield* test.client.raw(method, {})
          assert.strictEqual(missing.error?.code, -32602, JSON.stringify(missing))
        }
      })
    )
  })
}
