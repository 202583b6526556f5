import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { configFor, conversationOf } from "../support/LocalProvider.ts"
import { oddServer } from "../support/mcp/odd.ts"
import { folder } from "../support/Program.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { always, load, newSession, open, questions, turn } from "../support/Probe.ts"
import { callsOf, shownBy, updatesOf } from "../support/Updates.ts"

describe("1g. working directory and project context", () => {
  it.live("F61 everything happens in the session's folder, wherever the agent was started", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const names = ["w1", "w2"]
      for (const name of names) {
        mkdirSync(join(place, name))
        writeFileSync(join(place, name, `only-in-${name}.md`), "needle")
      }
      const steps = names.flatMap((when) => [
        {
          when,
          parts: [
            { tool: { name: "bash", input: { command: "pwd" } } },
            { tool: { name: "write", input: { path: "rel.txt", content: when } } },
            { tool: { name: "read", input: { path: "rel.txt" } } },
            { tool: { name: "glob", input: { pattern: "*" } } },
            { tool: { name: "grep", input: { pattern: "needle" } } },
            { tool: { name: "list", input: {} } },
            { tool: { name: "mcp__m__where", input: {} } }
          ]
        },
        { when, parts: [{ text: "done" }] }
      ])
      const agent = yield* open({ cwd: "/", args: ["--yolo"], steps })
      for (const name of names) {
        const other = names.find((one) => one !== name)
        const session = yield* newSession(agent, join(place, name), { mcpServers: [oddServer("m")] })
        yield* turn(agent, session, name)
        const shown = callsOf(updatesOf(agent, session)).map(({ latest }) => shownBy(latest))
        const [pwd = "", , read = "", ...found] = shown
        assert.include(pwd, join(place, name))
        assert.include(read, `1\t${name}`)
        const where = found.pop() ?? ""
        assert.include(where, `"cwd":"${join(place, name)}"`)
        assert.lengthOf(found, 3)
        for (const text of found) {
          assert.include(text, `only-in-${name}.md`)
          assert.notInclude(text, `only-in-${other}`)
        }
        assert.strictEqual(readFileSync(join(place, name, "rel.txt"), "utf8"), name)
      }
    })
  )

  it.live("F62 the instructions are those of the session's folder", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "ok" }] })
      const place = yield* folder
      for (const name of ["launch", "work"]) {
        mkdirSync(join(place, name))
        writeFileSync(join(place, name, "AGENTS.md"), `say ${name.toUpperCase()}`)
      }
      const agent = yield* open({ cwd: join(place, "launch"), config: configFor(server) })
      const session = yield* newSession(agent, join(place, "work"))
      yield* turn(agent, session, "hi")
      writeFileSync(join(place, "work", "AGENTS.md"), "say CHANGED")
      yield* turn(agent, session, "hi")
      const [first = "", second = ""] = server.seen().map((seen) => conversationOf(seen)[0])
      assert.include(first, "say WORK")
      assert.include(first, `Working directory: ${join(place, "work")}`)
      for (const text of [first, second]) assert.notInclude(text, "LAUNCH")
      assert.include(second, "say CHANGED")
    })
  )

  it.live("F64 every folder of the workspace counts, for as long as the client names it", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const place = yield* folder
      const [one, two] = [join(place, "w1"), join(place, "w2")]
      for (const path of [one, two]) mkdirSync(path)
      writeFileSync(join(two, "AGENTS.md"), "say SECOND")
      const write = (path: string) => ({
        pieces: [{ call: { id: "c", name: "write", args: JSON.stringify({ path, content: "x" }) } }],
        finish: "calls" as const
      })
      const done = { pieces: [{ text: "ok" }] }
      server.answer(write(join(two, "a")), write(join(place, "elsewhere")), done, write(join(two, "b")), done)
      const agent = yield* open({ config: configFor(server), onRequest: always("reject_once") })
      assert.include(JSON.stringify(agent.seen[0]), '"additionalDirectories":{}')
      const session = yield* newSession(agent, one, { additionalDirectories: [two] })
      yield* agent.ok("session/set_mode", { sessionId: session, modeId: "accept-edits" })
      yield* turn(agent, session, "hi")
      assert.isTrue(existsSync(join(two, "a")))
      assert.isFalse(existsSync(join(place, "elsewhere")))
      assert.lengthOf(questions(agent), 1)
      assert.include(conversationOf(server.seen()[0])[0] ?? "", "say SECOND")
      yield* load(agent, session, one)
      yield* turn(agent, session, "hi")
      assert.isFalse(existsSync(join(two, "b")))
      assert.lengthOf(questions(agent), 2)
      assert.notInclude(conversationOf(server.seen().at(-1))[0] ?? "", "say SECOND")
      const relative = { cwd: one, mcpServers: [], additionalDirectories: ["w2"] }
      const { error } = yield* agent.request("session/new", relative)
      assert.strictEqual(error?.["code"], -32602)
      assert.include(String(error?.["message"]), "additionalDirectories[0]")
    })
  )
})
