/** The client's files and terminals: conformance §12 and §13. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { callIn, outputOf } from "../support/Calls.ts"
import { calls, says, suite, type Version, yolo } from "../support/Harness.ts"
import type { Transport } from "../support/Transports.ts"
import { everything } from "./Initialize.ts"

const reading = [calls(["read", { path: "a.txt" }]), says("Read")]

export const usingClient = (version: Version, transport: Transport): void => {
  const { group } = suite(version, transport)

  group("the files of a client that reads", { capabilities: { fs: { readTextFile: true } } }, (row) => {
    row(
      "FS-01 MUST ask for a file by its absolute path, and show what the client gives",
      { steps: reading },
      Effect.fnUntraced(function* (test) {
        const path = join(test.folder, "a.txt")
        writeFileSync(path, "on the disk\n")
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const { answer, params } = yield* session.asked("fs/read_text_file")
        assert.strictEqual(params.path, path)
        if (typeof params.line === "number") assert.isAbove(params.line, 0)
        yield* answer({ content: "not saved yet\n" })
        yield* turn.answer
        assert.include(outputOf(callIn(turn.updates())), "not saved yet")
      })
    )

    row(
      "FS-01 MAY ask for lines alone, counted from 1, and MUST NOT take an answer of others for all of the file",
      { steps: [calls(["read", { path: "a.txt", offset: 2, limit: 1 }]), says("Read")] },
      Effect.fnUntraced(function* (test) {
        writeFileSync(join(test.folder, "a.txt"), "one\ntwo\nthree\n")
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const part = yield* session.asked("fs/read_text_file")
        assert.deepStrictEqual([part.params.line, part.params.limit], [2, 1])
        yield* part.answer({ content: "not saved\n" })
        const whole = yield* session.asked("fs/read_text_file")
        assert.isUndefined(whole.params.line ?? undefined)
        yield* whole.answer({ content: "one\nnot saved\nthree\nfour\n" })
        yield* turn.answer
        assert.include(outputOf(callIn(turn.updates())), "2\tnot saved")
        assert.include(outputOf(callIn(turn.updates())), "of 4")
      })
    )

    row(
      "FS-03 MUST NOT write through a client that only reads",
      { steps: [calls(["write", { path: "b.txt", content: "new" }]), says("Written")] },
      Effect.fnUntraced(function* (test) {
        test.client.always("fs/read_text_file", () => ({ content: "" }))
        const session = yield* test.open({ _meta: yolo })
        const turn = yield* session.run()
        test.client.always("fs/read_text_file", undefined)
        assert.strictEqual(callIn(turn.updates()).status, "completed")
        assert.strictEqual(readFileSync(join(test.folder, "b.txt"), "utf8"), "new")
      })
    )

    for (const [name, reply] of Object.entries({
      "no such file": { error: { code: -32002, message: "Resource not found" } },
      "an internal error": { error: { code: -32603, message: "The editor\nis busy" } },
      "no method": { error: { code: -32601, message: "Method not found" } },
      "no content": { result: {} },
      null: { result: null },
      "a content that is no text": { result: { content: 5 } },
      "neither result nor error": {}
    })) {
      row(
        `FS-04 SHOULD fall back to the disk when the client answers with ${name}`,
        { steps: reading },
        Effect.fnUntraced(function* (test) {
          writeFileSync(join(test.folder, "a.txt"), "on the disk\n")
          const session = yield* test.open()
          const turn = yield* session.prompt()
          yield* (yield* session.asked("fs/read_text_file")).say(reply)
          assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
          const call = callIn(turn.updates())
          assert.strictEqual(call.status, "completed")
          assert.include(outputOf(call), "on the disk")
        })
      )
    }

    row(
      "FS-04 SHOULD fail the tool, not the turn, when neither the client nor the disk has the file",
      { steps: reading },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        yield* (yield* session.asked("fs/read_text_file")).refuse(-32002, "Resource not found")
        assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
        assert.strictEqual(callIn(turn.updates()).status, "failed")
        assert.strictEqual(turn.text(), "Read")
      })
    )

    row(
      "FS-05 SHOULD edit what the client shows, not what lies on the disk",
      { steps: [calls(["edit", { path: "a.txt", old_string: "unsaved", new_string: "edited" }]), says("Edited")] },
      Effect.fnUntraced(function* (test) {
        const path = join(test.folder, "a.txt")
        writeFileSync(path, "one\ntwo\n")
        test.client.always("fs/read_text_file", () => ({ content: "one\nunsaved\ntwo\n" }))
        const session = yield* test.open({ _meta: yolo })
        const turn = yield* session.run()
        test.client.always("fs/read_text_file", undefined)
        const [diff] = callIn(turn.updates()).content ?? []
        assert.deepStrictEqual(diff, {
          type: "diff",
          path,
          oldText: "one\nunsaved\ntwo\n",
          newText: "one\nedited\ntwo\n"
        })
        assert.strictEqual(readFileSync(path, "utf8"), "one\nedited\ntwo\n")
      })
    )
  })

  group("the files of a client that only writes", { capabilities: { fs: { writeTextFile: true } } }, (row) => {
    row(
      "FS-01, FS-02, FS-03 MUST NOT read through a client that only writes; writing is done here",
      {
        steps: [
          calls(["read", { path: "a.txt" }]),
          calls(["edit", { path: "a.txt", old_string: "one", new_string: "1" }]),
          says("Done")
        ]
      },
      Effect.fnUntraced(function* (test) {
        const path = join(test.folder, "a.txt")
        writeFileSync(path, "one\n")
        const session = yield* test.open({ _meta: yolo })
        yield* session.run()
        assert.strictEqual(readFileSync(path, "utf8"), "1\n")
        const asked = test.client.transcript.entries.filter(
          ({ from, message }) => from === "agent" && message.method?.startsWith("fs/") === true
        )
        assert.deepStrictEqual(asked, [])
      })
    )
  })

  group("a client that can do everything", { capabilities: everything }, (row) => {
    row(
      "TER-01, TER-06, TOL-08 MAY run commands by itself: no terminal of the client, and the output as text",
      { steps: [calls(["bash", { command: "echo hello" }]), says("Done")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: yolo })
        const turn = yield* session.run()
        const call = callIn(turn.updates())
        assert.deepStrictEqual([call.kind, call.status], ["execute", "completed"])
        assert.include(outputOf(call), "hello")
        assert.deepStrictEqual(
          (call.content ?? []).map(({ type }) => type),
          ["content"]
        )
        const methods = test.client.transcript.entries.flatMap(({ from, message }) =>
          from === "agent" && message.method !== undefined ? [message.method] : []
        )
        assert.deepStrictEqual([...new Set(methods)], ["session/update"])
      })
    )
  })
}
