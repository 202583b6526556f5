import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { folder } from "../support/Program.ts"
import { always, newSession, open, type OpenOptions, prompt, questions, turn } from "../support/Probe.ts"
import { type JsonObject } from "../support/RawAgent.ts"
import { at } from "../support/Schema.ts"
import { callsOf, shownBy, updatesOf } from "../support/Updates.ts"

const call = (name: string, input: JsonObject) => ({ tool: { name, input } })
const bash = (command: string) => call("bash", { command })
const edit = (path: string, oldText: string, newText: string) =>
  call("edit", { path, old_string: oldText, new_string: newText })
const done = { parts: [{ text: "done" }] }

const run = Effect.fnUntraced(function* (place: string, options: OpenOptions, mode?: string) {
  const agent = yield* open(options)
  const session = yield* newSession(agent, place)
  if (mode !== undefined) yield* agent.ok("session/set_mode", { sessionId: session, modeId: mode })
  assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
  const calls = callsOf(updatesOf(agent, session)).map(({ latest }) => latest)
  return { agent, calls, statuses: calls.map(({ status }) => status) }
})

describe("1j. files", () => {
  it.live("F84 a change is shown as a diff, before it is allowed and after", () =>
    Effect.gen(function* () {
      const place = yield* folder
      writeFileSync(join(place, "a.txt"), "one\ntwo\n")
      const { agent, calls } = yield* run(place, {
        capabilities: { fs: { readTextFile: true, writeTextFile: true } },
        // The buffer is what the disk has, as in an editor without unsaved changes.
        onRequest: (method, params) => {
          if (method !== "fs/read_text_file") return always("allow_once")(method, params)
          const path = String(params["path"])
          return existsSync(path)
            ? { result: { content: readFileSync(path, "utf8") } }
            : { error: { code: -32002, message: "Resource not found" } }
        },
        steps: [{ parts: [edit("a.txt", "two", "three"), call("write", { path: "b.txt", content: "new\n" })] }, done]
      })
      const diffs = [
        [{ type: "diff", path: join(place, "a.txt"), oldText: "one\ntwo\n", newText: "one\nthree\n" }],
        [{ type: "diff", path: join(place, "b.txt"), oldText: null, newText: "new\n" }]
      ]
      assert.deepStrictEqual(
        questions(agent).map(({ params }) => at(params, "toolCall", "content")),
        diffs
      )
      assert.deepStrictEqual(
        calls.map(({ content }) => content),
        diffs
      )
      assert.strictEqual(readFileSync(join(place, "a.txt"), "utf8"), "one\nthree\n")
      assert.strictEqual(readFileSync(join(place, "b.txt"), "utf8"), "new\n")
    })
  )

  it.live("F87 what others changed meanwhile is not overwritten", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const file = join(place, "a.txt")
      writeFileSync(file, "one\ntwo\n")
      const agent = yield* open({
        args: ["--yolo"],
        steps: [
          { when: "read", parts: [call("read", { path: "a.txt" })] },
          { when: "read", parts: [{ text: "read" }] },
          { parts: [call("write", { path: "a.txt", content: "ONE\ntwo\n" })] },
          { parts: [edit("a.txt", "one", "ONE"), call("write", { path: "new.txt", content: "x" })] },
          { parts: [call("read", { path: "a.txt" }), call("write", { path: "a.txt", content: "all\n" })] },
          done
        ]
      })
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "read")
      appendFileSync(file, "from somebody else\n")
      yield* turn(agent, session, "change")
      const calls = callsOf(updatesOf(agent, session)).map(({ latest }) => latest)
      assert.deepStrictEqual(
        calls.map(({ status }) => status),
        ["completed", "failed", "completed", "completed", "completed", "completed"]
      )
      assert.include(shownBy(calls[1]!), "changed since you read it")
      const [diff] = calls[2]!["content"] as unknown as ReadonlyArray<JsonObject>
      assert.strictEqual(diff?.["newText"], "ONE\ntwo\nfrom somebody else\n")
      assert.strictEqual(readFileSync(file, "utf8"), "all\n")
    })
  )

  describe("F88 an edit changes its own bytes and no others", () => {
    const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le")
    for (const [name, before, after] of [
      ["UTF-8 with a mark", Buffer.from("\uFEFFhéllo word\r\n"), Buffer.from("\uFEFFhéllo WORD\r\n")],
      ["UTF-16 with a mark", utf16("héllo word\n"), utf16("héllo WORD\n")],
      ["plain UTF-8", Buffer.from("漢字 word 🎉"), Buffer.from("漢字 WORD 🎉")],
      ["GBK", Buffer.from("c4e3bac320776f72640a", "hex"), Buffer.from("c4e3bac320574f52440a", "hex")],
      ["Latin-1", Buffer.from("h\xe9llo word\n", "latin1"), Buffer.from("h\xe9llo WORD\n", "latin1")],
      ["an invalid byte", Buffer.from("é word \xff\n", "latin1"), Buffer.from("é WORD \xff\n", "latin1")]
    ] as const) {
      it.live(`F88 ${name}`, () =>
        Effect.gen(function* () {
          const place = yield* folder
          const file = join(place, "a.txt")
          writeFileSync(file, before)
          const { calls, statuses } = yield* run(place, {
            args: ["--yolo"],
            steps: [{ parts: [edit("a.txt", "not in there", "x"), edit("a.txt", "word", "WORD")] }, done]
          })
          assert.strictEqual(statuses[0], "failed")
          // What cannot be handled is refused, and left alone.
          const bytes = readFileSync(file).toString("hex")
          assert.strictEqual(bytes, (statuses[1] === "completed" ? after : before).toString("hex"))
          if (statuses[1] === "failed") assert.match(shownBy(calls[1]!), /UTF-8|encoding|text/)
          if (/UTF/.test(name)) assert.strictEqual(statuses[1], "completed")
        })
      )
    }

    it.live("F88 a new file has no mark", () =>
      Effect.gen(function* () {
        const place = yield* folder
        yield* run(place, {
          args: ["--yolo"],
          steps: [{ parts: [call("write", { path: "n.txt", content: "é" })] }, done]
        })
        assert.strictEqual(readFileSync(join(place, "n.txt")).toString("hex"), "c3a9")
      })
    )
  })

  it.live("F89 a link does not lead out of the workspace unasked, and stays a link", () =>
    Effect.gen(function* () {
      const outer = yield* folder
      const [place, outside] = [join(outer, "w"), join(outer, "outside")]
      for (const path of [place, outside]) mkdirSync(path)
      writeFileSync(join(outside, "secret"), "SECRET\n")
      writeFileSync(join(place, "real.txt"), "one\n")
      symlinkSync(outside, join(place, "out"))
      symlinkSync("real.txt", join(place, "link.txt"))
      symlinkSync(join(outer, "not-there"), join(place, "dangling"))
      const { agent, calls, statuses } = yield* run(
        place,
        {
          onRequest: always("reject_once"),
          steps: [
            {
              parts: [
                call("write", { path: "out/x", content: "x" }),
                edit("link.txt", "one", "two"),
                call("read", { path: "out/secret" }),
                call("write", { path: "dangling", content: "x" }),
                bash("cat out/secret"),
                call("grep", { pattern: "SECRET", path: "out" }),
                call("list", { path: "out" })
              ]
            },
            done
          ]
        },
        "accept-edits"
      )
      assert.deepStrictEqual(statuses, ["failed", "completed", "failed", "failed", "failed", "failed", "failed"])
      assert.notInclude(calls.map(shownBy).join(), "SECRET\n")
      assert.isFalse(existsSync(join(outside, "x")) || existsSync(join(outer, "not-there")))
      assert.strictEqual(readFileSync(join(place, "real.txt"), "utf8"), "two\n")
      assert.isTrue(lstatSync(join(place, "link.txt")).isSymbolicLink())
      const asked = questions(agent).map(({ params }) => JSON.stringify(params))
      assert.lengthOf(asked, 6)
      for (const [index, real] of [
        [0, join(outside, "x")],
        [1, join(outside, "secret")],
        [2, join(outer, "not-there")]
      ] as const) {
        assert.include(asked[index]!, realpathSync(outer) + real.slice(outer.length))
      }
    })
  )

  it.live("F89 a workspace that is itself reached by a link is no place outside", () =>
    Effect.gen(function* () {
      const outer = yield* folder
      mkdirSync(join(outer, "real"))
      symlinkSync(join(outer, "real"), join(outer, "link"))
      const agent = yield* open({
        steps: [{ parts: [call("write", { path: "a.txt", content: "x" }), call("read", { path: "a.txt" })] }, done]
      })
      const session = yield* newSession(agent, join(outer, "link"))
      yield* agent.ok("session/set_mode", { sessionId: session, modeId: "accept-edits" })
      const { answer } = yield* prompt(agent, session, "go")
      assert.strictEqual((yield* answer).result["stopReason"], "end_turn")
      assert.deepStrictEqual(questions(agent), [])
      assert.strictEqual(readFileSync(join(outer, "real", "a.txt"), "utf8"), "x")
    })
  )
})
