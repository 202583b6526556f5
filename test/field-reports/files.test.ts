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

  it.live("F87 a patch goes on beside changes of others, and changes none of its files where one does not fit", () =>
    Effect.gen(function* () {
      const place = yield* folder
      for (const name of ["a.txt", "b.txt"]) writeFileSync(join(place, name), "one\ntwo\n")
      const hunk = "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
      const patch = `--- a.txt\n+++ a.txt\n${hunk}--- b.txt\n+++ b.txt\n${hunk}`
      const agent = yield* open({
        args: ["--yolo"],
        steps: [
          { when: "read", parts: [call("read", { path: "a.txt" }), call("read", { path: "b.txt" })] },
          { when: "read", parts: [{ text: "read" }] },
          { parts: [call("apply_patch", { patch })] },
          { parts: [bash("printf 'one\\ntwo\\n' > b.txt")] },
          { parts: [call("apply_patch", { patch })] },
          done
        ]
      })
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "read")
      writeFileSync(join(place, "a.txt"), "zero\none\ntwo\n")
      writeFileSync(join(place, "b.txt"), "one\nother\n")
      yield* turn(agent, session, "change")
      const calls = callsOf(updatesOf(agent, session)).map(({ latest }) => latest)
      assert.deepStrictEqual(
        calls.map(({ status }) => status),
        ["completed", "completed", "failed", "completed", "completed"]
      )
      assert.match(shownBy(calls[2]!), /Hunk 1 of b\.txt.*b\.txt changed since you read it\. No file was changed/)
      assert.strictEqual(readFileSync(join(place, "a.txt"), "utf8"), "zero\none\nTWO\n")
      assert.strictEqual(readFileSync(join(place, "b.txt"), "utf8"), "one\nTWO\n")
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
          if (/UTF|Latin-1/.test(name)) assert.strictEqual(statuses[1], "completed")
        })
      )
    }

    it.live("F88 a character that the encoding of the file has not is refused, and the file left alone", () =>
      Effect.gen(function* () {
        const place = yield* folder
        const before = Buffer.from("h\xe9llo word, and more words\r\n", "latin1")
        for (const name of ["a.txt", "b.txt"]) writeFileSync(join(place, name), before)
        const patch = "--- b.txt\n+++ b.txt\n@@ -1 +1 @@\n-héllo word, and more words\n+héllo → words\n"
        const { calls, statuses } = yield* run(place, {
          args: ["--yolo"],
          steps: [{ parts: [edit("a.txt", "word,", "→"), call("apply_patch", { patch })] }, done]
        })
        assert.deepStrictEqual(statuses, ["failed", "failed"])
        for (const each of calls) assert.match(shownBy(each), /is written in Windows-1252, which has no "→".*iconv/)
        for (const name of ["a.txt", "b.txt"]) {
          assert.strictEqual(readFileSync(join(place, name)).toString("hex"), before.toString("hex"))
        }
      })
    )

    it.live("F88 lines of a file with mixed ends keep theirs, and so does its end, in every tool that changes it", () =>
      Effect.gen(function* () {
        const place = yield* folder
        for (const name of ["a.txt", "b.txt", "c.txt"]) writeFileSync(join(place, name), "one\r\ntwo\nthree\r\nfour")
        const patch = "--- b.txt\n+++ b.txt\n@@ -1,4 +1,5 @@\n one\n-two\n+TWO\n+more\n three\n four\n"
        yield* run(place, {
          args: ["--yolo"],
          steps: [
            {
              parts: [
                edit("a.txt", "two\n", "TWO\nmore\n"),
                call("apply_patch", { patch }),
                call("write", { path: "c.txt", content: "one\nTWO\nmore\nthree\nfour" })
              ]
            },
            done
          ]
        })
        assert.strictEqual(readFileSync(join(place, "a.txt"), "utf8"), "one\r\nTWO\nmore\nthree\r\nfour")
        assert.strictEqual(readFileSync(join(place, "b.txt"), "utf8"), "one\r\nTWO\nmore\r\nthree\r\nfour")
        assert.strictEqual(readFileSync(join(place, "c.txt"), "utf8"), "one\r\nTWO\r\nmore\r\nthree\r\nfour")
      })
    )

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

  /** An editor whose buffers hold these texts; what it has no buffer for it does not know. */
  const showing =
    (buffers: Readonly<Record<string, string>>) =>
    (
      method: string,
      params: JsonObject
    ): { readonly result: JsonObject } | { readonly error: JsonObject } | undefined => {
      if (method !== "fs/read_text_file") return undefined
      const content = buffers[String(params["path"])]
      return content === undefined
        ? { error: { code: -32002, message: "Resource not found" } }
        : { result: { content } }
    }

  it.live("F82 F86 every tool sees the unsaved buffer, and an edit of it is written to the disk with it", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const [disk, fresh] = [join(place, "a.txt"), join(place, "new.txt")]
      writeFileSync(disk, "DISK\n")
      const { calls, statuses } = yield* run(place, {
        capabilities: { fs: { readTextFile: true } },
        args: ["--yolo"],
        onRequest: showing({ [disk]: "BUFFER\n", [fresh]: "only here\n" }),
        steps: [
          { parts: [call("read", { path: "a.txt" }), call("read", { path: "new.txt" })] },
          { parts: [edit("a.txt", "BUFFER", "X")] },
          done
        ]
      })
      assert.deepStrictEqual(statuses, ["completed", "completed", "completed"])
      assert.include(shownBy(calls[0]!), "BUFFER")
      assert.include(shownBy(calls[1]!), "only here")
      assert.strictEqual(readFileSync(disk, "utf8"), "X\n")
    })
  )

  it.live("F83 a buffer from before a command is not taken for the file", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const file = join(place, "a.txt")
      writeFileSync(file, "aaa\nkeep\n")
      const { calls } = yield* run(place, {
        capabilities: { fs: { readTextFile: true } },
        args: ["--yolo"],
        onRequest: showing({ [file]: "aaa\nkeep\n" }),
        steps: [
          { parts: [call("read", { path: "a.txt" })] },
          { parts: [bash("sed -i s/a/b/ a.txt")] },
          { parts: [call("read", { path: "a.txt" })] },
          { parts: [edit("a.txt", "keep", "kept")] },
          done
        ]
      })
      assert.include(shownBy(calls[2]!), "baa")
      assert.strictEqual(readFileSync(file, "utf8"), "baa\nkept\n")
    })
  )

  it.live("F91 blanks and letters of any kind in paths are part of them", () =>
    Effect.gen(function* () {
      const place = join(yield* folder, "a b", "ü")
      mkdirSync(place, { recursive: true })
      const { statuses } = yield* run(place, {
        args: ["--yolo"],
        steps: [
          { parts: [call("write", { path: "x y/ñ.txt", content: "one\n" }), edit("x y/ñ.txt", "one", "two")] },
          { parts: [call("grep", { pattern: "two" }), bash("cat 'x y/ñ.txt'")] },
          done
        ]
      })
      assert.deepStrictEqual(statuses, ["completed", "completed", "completed", "completed"])
      assert.strictEqual(readFileSync(join(place, "x y", "ñ.txt"), "utf8"), "two\n")
    })
  )

  it.live("F92 an ignored file can be read, and a search says that it left such files out", () =>
    Effect.gen(function* () {
      const place = yield* folder
      mkdirSync(join(place, "notes"))
      writeFileSync(join(place, ".gitignore"), "notes/\n")
      writeFileSync(join(place, "notes", "info.md"), "needle\n")
      const { calls } = yield* run(place, {
        steps: [
          {
            parts: [
              call("read", { path: "notes/info.md" }),
              call("glob", { pattern: "**/*.md" }),
              call("grep", { pattern: "needle" }),
              call("grep", { pattern: "needle", include_ignored: true }),
              call("list", {})
            ]
          },
          done
        ]
      })
      const [read = "", glob = "", grep = "", all = "", list = ""] = calls.map(shownBy)
      assert.include(read, "needle")
      for (const text of [glob, grep]) {
        assert.notInclude(text, "info.md")
        assert.include(text, "include_ignored searches them")
      }
      assert.include(all, "notes/info.md:1: needle")
      assert.include(list, "1 git-ignored name is not shown")
    })
  )

  it.live("F93 a huge file is read in parts, in little memory, and the way on is told", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const big = join(place, "big.log")
      for (let index = 0; index < 20; index++) appendFileSync(big, "a line of some length\n".repeat(500_000))
      appendFileSync(big, `${"x".repeat(30_000_000)}\nthe end\n`)
      const memoryOf = (pid: number) =>
        Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1000
      const agent = yield* open({
        steps: [
          { when: "start", parts: [{ text: "ready" }] },
          {
            parts: [
              call("read", { path: "big.log" }),
              call("read", { path: "big.log", offset: 10_000_001 }),
              call("grep", { pattern: "the end" })
            ]
          },
          done
        ]
      })
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "start")
      const before = memoryOf(agent.pid)
      yield* turn(agent, session, "go")
      assert.isBelow(memoryOf(agent.pid) - before, 100)
      const [start = "", end = "", found = ""] = callsOf(updatesOf(agent, session)).map(({ latest }) => shownBy(latest))
      assert.match(start, /go on with offset=2001/)
      assert.match(end, /x \[… \d+ characters of this line left out\]\n *10000002\tthe end/)
      assert.include(found, "big.log:10000002: the end")
    })
  )
})
