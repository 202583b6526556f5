/** Kinds of agent of the built program: chosen by flag and file, with pages of the web, forms, and notes that outlive it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs"
import { join } from "node:path"
import { folder as madeFolder } from "../support/Program.ts"
import { always, newSession, open, questions, turn } from "../support/Probe.ts"
import type { JsonObject, RawAgent, Reply } from "../support/RawAgent.ts"
import { at } from "../support/Schema.ts"
import { callsOf, shownBy, updatesOf } from "../support/Updates.ts"
import { sends, serveWeb } from "../support/webServer.ts"

const folder = Effect.map(madeFolder, (path) => realpathSync(path))
const call = (name: string, input: JsonObject) => ({ tool: { name, input } })
const done = { parts: [{ text: "done" }] }
const allowLocal = "[toolset.web_fetch]\nallow_local = true\n"

const outcomes = (agent: RawAgent, session: string) =>
  callsOf(updatesOf(agent, session)).map(({ latest }) => ({ status: latest["status"], text: shownBy(latest) }))

const modesOf = (opened: JsonObject): ReadonlyArray<unknown> => {
  const list = at(opened, "modes", "availableModes")
  return (Array.isArray(list) ? list : []).map((mode) => at(mode, "id"))
}

describe("a kind of agent", () => {
  it.live("is chosen by the client, else by the flag, else by the file", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const here = { cwd: place, mcpServers: [] }
      const config = `[agent]\nharness = "super-pi-librarian"\n`
      const byFile = yield* open({ config, steps: [{ parts: [call("no_such", {})] }, done] })
      const session = yield* newSession(byFile, place)
      yield* turn(byFile, session, "go")
      assert.include(outcomes(byFile, session)[0]?.text, "note_search, note_write")
      const byFlag = yield* open({ config, args: ["--harness", "super-pi-planner"], steps: [done] })
      assert.deepStrictEqual(modesOf(yield* byFlag.ok("session/new", here)), ["plan"])
      const code = yield* byFlag.ok("session/new", { ...here, _meta: { harness: "super-pi-code" } })
      assert.include(modesOf(code), "always-approve")
      const wrong = yield* open({ args: ["--harness", "super-pi-hamster"], steps: [done] })
      const { error } = yield* wrong.request("session/new", here)
      assert.strictEqual(at(error, "code"), -32602)
      assert.include(
        String(at(error, "message")),
        "super-pi-code, super-pi-assistant, super-pi-librarian, super-pi-planner"
      )
    }).pipe(Effect.scoped)
  )

  it.live("without a file system makes none: an assistant's tools write and read nothing, in every mode", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const inputs: ReadonlyArray<readonly [string, JsonObject]> = [
        ["read", { path: "/etc/passwd" }],
        ["write", { path: "made", content: "x" }],
        ["bash", { command: "touch made" }],
        ["web_fetch", { url: "file:///etc/passwd" }]
      ]
      const agent = yield* open({ steps: [{ parts: inputs.map(([name, input]) => call(name, input)) }, done] })
      const session = yield* newSession(agent, place, { _meta: { harness: "super-pi-assistant", yoloMode: true } })
      yield* turn(agent, session, "go")
      const ended = outcomes(agent, session)
      assert.deepStrictEqual(
        ended.map(({ status }) => status),
        ["failed", "failed", "failed", "failed"]
      )
      assert.include(ended[0]?.text, "The tools are: web_fetch, ask_user, todo.")
      assert.include(ended[3]?.text, "only http: and https: are fetched")
      assert.notInclude(JSON.stringify(agent.seen), "root:")
      assert.deepStrictEqual(readdirSync(place), [])
    }).pipe(Effect.scoped)
  )
})

describe("web_fetch of the program", () => {
  it.live("fetches nothing of this machine unless the file says so, and asks nobody about it", () =>
    Effect.gen(function* () {
      const server = yield* serveWeb({ "/": sends("secret") })
      const agent = yield* open({ steps: [{ parts: [call("web_fetch", { url: server.url("/").href })] }, done] })
      const session = yield* newSession(agent, yield* folder, { _meta: { yoloMode: true } })
      yield* turn(agent, session, "go")
      const [outcome] = outcomes(agent, session)
      assert.strictEqual(outcome?.status, "failed")
      assert.include(outcome?.text, "toolset.web_fetch.allow_local")
      assert.deepStrictEqual([questions(agent), server.asked], [[], []])
    }).pipe(Effect.scoped)
  )

  it.live("asks once for a host, remembers what was answered, and shows which page it was", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const server = yield* serveWeb({
        "/a": sends("<title>A page</title><p>Hello <b>there</b>", "text/html"),
        "/b": sends("b")
      })
      const fetch = (path: string) => call("web_fetch", { url: server.url(path).href })
      const agent = yield* open({
        config: allowLocal,
        steps: [{ parts: [fetch("/a")] }, { parts: [fetch("/b")] }, done],
        onRequest: always("allow_always")
      })
      const session = yield* newSession(agent, place, { _meta: { harness: "super-pi-assistant" } })
      yield* turn(agent, session, "go")
      const asked = questions(agent)
      assert.lengthOf(asked, 1)
      const options = at(asked[0]?.params, "options")
      assert.deepStrictEqual(
        (Array.isArray(options) ? options : []).map((option) => at(option, "optionId")),
        ["allow-always-domain", "allow-once", "reject-once", "reject-always-domain"]
      )
      assert.deepInclude(at(asked[0]?.params, "toolCall"), { kind: "fetch", title: `Fetch ${server.url("/a").href}` })
      assert.include(outcomes(agent, session)[0]?.text, `A page (${server.url("/a").href})\ntext/html, 15 characters`)
      assert.deepStrictEqual(server.asked, ["/a", "/b"])

      const next = yield* open({ home: agent.home, steps: [{ parts: [fetch("/b")] }, done] })
      const later = yield* newSession(next, place, { _meta: { harness: "super-pi-assistant" } })
      yield* turn(next, later, "go")
      assert.deepStrictEqual(questions(next), [])
      assert.strictEqual(outcomes(next, later)[0]?.status, "completed")
    }).pipe(Effect.scoped)
  )
})

describe("ask_user of the program", () => {
  const asks = {
    parts: [call("ask_user", { questions: [{ question: "Which?", options: [{ label: "a" }, { label: "b" }] }] })]
  }
  const answering =
    (result: JsonObject) =>
    (method: string): Reply | undefined =>
      method === "elicitation/create" ? { result } : undefined

  it.live("answers permit nothing: what needs an approval is still asked about", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const answer = answering({ action: "accept", content: { answer1: "a" } })
      const agent = yield* open({
        capabilities: { elicitation: { form: {} } },
        steps: [asks, { parts: [call("bash", { command: "touch made" })] }, done],
        onRequest: (method, params) => answer(method) ?? always("reject_once")(method, params)
      })
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "go")
      const [first, second] = outcomes(agent, session)
      assert.deepStrictEqual([first?.status, first?.text], ["completed", "Which?\n→ a"])
      assert.strictEqual(second?.status, "failed")
      assert.lengthOf(questions(agent), 1)
      assert.isFalse(existsSync(join(place, "made")))
    }).pipe(Effect.scoped)
  )

  it.live("a client without forms is not asked, and one that answers with an error is told of", () =>
    Effect.gen(function* () {
      const silent = yield* open({ steps: [asks, done] })
      const session = yield* newSession(silent, yield* folder)
      yield* turn(silent, session, "go")
      assert.include(outcomes(silent, session)[0]?.text, "no form can be shown")
      assert.notInclude(JSON.stringify(silent.seen), "elicitation/create")
      const broken = yield* open({
        capabilities: { elicitation: { form: {} } },
        steps: [asks, done],
        onRequest: () => ({ error: { code: -32603, message: "No dialogs today" } })
      })
      const other = yield* newSession(broken, yield* folder)
      yield* turn(broken, other, "go")
      assert.include(outcomes(broken, other)[0]?.text, "No dialogs today. Put the question into your answer")
    }).pipe(Effect.scoped)
  )
})

describe("notes of the program", () => {
  const meta = { _meta: { harness: "super-pi-librarian" } }

  it.live("are there for the next process, for this project alone, and nobody is asked about anything", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const first = yield* open({
        steps: [
          {
            parts: [
              call("note_write", { title: "Build", text: "The build takes ten minutes.", tags: ["ci"] }),
              call("note_write", { title: "Style", text: "No semicolons anywhere.", scope: "global" }),
              call("read", { path: "/etc/hostname" }),
              call("bash", { command: "true" })
            ]
          },
          done
        ]
      })
      const session = yield* newSession(first, place, meta)
      yield* turn(first, session, "go")
      const ended = outcomes(first, session)
      assert.deepStrictEqual(
        ended.map(({ status }) => status),
        ["completed", "completed", "failed", "failed"]
      )
      assert.include(ended[2]?.text, "nobody is present to give it")
      assert.deepStrictEqual(questions(first), [])
      assert.strictEqual(statSync(join(first.home, "notes.db")).mode & 0o777, 0o600)
      yield* first.closeInput
      assert.strictEqual(yield* first.ended, 0)

      const search = { parts: [call("note_search", { query: "builds semicolons" })] }
      const next = yield* open({ home: first.home, steps: [search, done, search, done] })
      for (const [cwd, found] of [
        [place, 2],
        [yield* folder, 1]
      ] as const) {
        const later = yield* newSession(next, cwd, meta)
        yield* turn(next, later, "go")
        const latest = callsOf(updatesOf(next, later))[0]?.latest
        assert.strictEqual(at(latest, "status"), "completed")
        assert.strictEqual(at(latest, "rawOutput", "total"), found)
      }
      yield* next.closeInput
      assert.strictEqual(yield* next.ended, 0)
      assert.deepStrictEqual(readdirSync(place), [])
    }).pipe(Effect.scoped)
  )

  it.live("that cannot be kept are told of, and the session goes on", () =>
    Effect.gen(function* () {
      const agent = yield* open({ steps: [{ parts: [call("note_search", {})] }, done] })
      mkdirSync(join(agent.home, "notes.db"))
      const session = yield* newSession(agent, yield* folder, meta)
      assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
      const [outcome] = outcomes(agent, session)
      assert.strictEqual(outcome?.status, "failed")
      assert.include(outcome?.text, "notes.db cannot be opened")
    }).pipe(Effect.scoped)
  )
})
