import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { configFor, conversationOf, toolsOf } from "../support/LocalProvider.ts"
import { oddServer } from "../support/mcp/odd.ts"
import { folder } from "../support/Program.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { newSession, open, prompt, promptParams, turn } from "../support/Probe.ts"
import { callsOf, mark, shownBy, textOf, updatesOf } from "../support/Updates.ts"

/** Waits in a shell until the file is there. */
const waitFor = (file: string) => ({
  tool: { name: "bash", input: { command: `until [ -e ${file} ]; do sleep 0.02; done` } }
})

describe("1d. concurrency", () => {
  it.live("F26 what is sent while the agent works is kept, and answered in its turn", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        args: ["--yolo"],
        steps: [
          { when: "A", parts: [waitFor("go")] },
          { when: "A", parts: [{ text: "A done" }] },
          { when: "B", parts: [{ text: "B done" }] },
          { when: "C", parts: [{ text: "C done" }] }
        ]
      })
      const session = yield* newSession(agent, place)
      const asked = []
      for (const text of ["A", "B", "C"]) asked.push(yield* prompt(agent, session, text))
      yield* agent.until("the tool runs", () =>
        callsOf(updatesOf(agent, session))[0]?.latest["status"] === "in_progress" ? true : undefined
      )
      writeFileSync(join(place, "go"), "")
      for (const { answer } of asked) assert.strictEqual((yield* answer).result["stopReason"], "end_turn")
      assert.strictEqual(textOf(updatesOf(agent, session)), "A doneB doneC done")
      const answers = agent.seen.flatMap(({ id, method }) => (method === undefined && id !== undefined ? [id] : []))
      assert.deepStrictEqual(
        answers.slice(-3),
        asked.map(({ id }) => id)
      )
    })
  )

  it.live("F27 a session has its own servers only, also under the same name", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      const call = { call: { id: "c", name: "mcp__same__where", args: "{}" } }
      server.answer({ pieces: [{ text: "ok" }] })
      const agent = yield* open({ config: configFor(server), args: ["--yolo"] })
      const open1 = yield* newSession(agent, agent.home, { mcpServers: [oddServer("a"), oddServer("same")] })
      const open2 = yield* newSession(agent, agent.home, { mcpServers: [oddServer("b"), oddServer("same")] })
      const tools: Array<ReadonlyArray<string>> = []
      for (const session of [open1, open2]) {
        yield* turn(agent, session, "hi")
        tools.push([...new Set(toolsOf(server.seen().at(-1)).flatMap((name) => /^(.*)__/.exec(name)?.[1] ?? []))])
      }
      assert.deepStrictEqual(tools, [
        ["mcp__a", "mcp__same"],
        ["mcp__b", "mcp__same"]
      ])
      const pids = []
      for (const session of [open1, open2]) {
        server.answer({ pieces: [call], finish: "calls" }, { pieces: [{ text: "ok" }] })
        yield* turn(agent, session, "where?")
        pids.push(/"pid":(\d+)/.exec(shownBy(callsOf(updatesOf(agent, session))[0]!.latest))?.[1])
      }
      assert.lengthOf(new Set(pids), 2)
      assert.notInclude(pids, undefined)
      // What one session gave its server reaches neither the other session nor any model.
      assert.notInclude(
        server
          .seen()
          .map(({ text }) => text)
          .join(""),
        "secret-of-"
      )
    })
  )

  it.live("F28 sessions that are opened at once do not mix", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "ok" }] })
      const names = ["ONE", "TWO"]
      for (const name of names) {
        mkdirSync(join(place, name))
        writeFileSync(join(place, name, "AGENTS.md"), `say ${name}`)
      }
      const agent = yield* open({ config: configFor(server) })
      for (let round = 0; round < 20; round++) {
        const before = server.seen().length
        const ids = names.map((name) => `${name}${round}`)
        yield* agent.send(
          ...names.map((name, index) => ({
            jsonrpc: "2.0",
            id: ids[index]!,
            method: "session/new",
            params: { cwd: join(place, name), mcpServers: [] }
          }))
        )
        const sessions = yield* Effect.forEach(ids, (id) =>
          Effect.map(agent.answerOf(id), ({ result }) => String(result["sessionId"]))
        )
        yield* agent.send(
          ...sessions.map((session, index) => ({
            jsonrpc: "2.0",
            id: `p${ids[index]}`,
            method: "session/prompt",
            params: promptParams(session, `I am ${names[index]}`)
          }))
        )
        for (const id of ids) assert.strictEqual((yield* agent.answerOf(`p${id}`)).result["stopReason"], "end_turn")
        const requests = server.seen().slice(before).map(conversationOf)
        assert.lengthOf(requests, 2)
        for (const [index, name] of names.entries()) {
          const mine = requests.find((messages) => messages.some((message) => message.includes(`I am ${name}`)))
          const text = mine?.join("") ?? ""
          assert.include(text, `say ${name}`)
          assert.notInclude(text, `say ${names[1 - index]}`)
          assert.include(text, join(place, name))
        }
      }
    })
  )

  it.live("F29 a second session leaves the first one at work", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const agent = yield* open({
        args: ["--yolo"],
        steps: [
          { when: "long", parts: [{ text: "begin " }, waitFor("go")] },
          { when: "long", parts: [{ text: "middle " }, { delayMs: 10 }, { text: "end" }] },
          { parts: [{ text: "second" }] }
        ]
      })
      const one = yield* newSession(agent, place)
      const first = yield* prompt(agent, one, "long")
      yield* agent.until("a chunk", () => (textOf(updatesOf(agent, one)) === "" ? undefined : true))
      const two = yield* newSession(agent, place)
      assert.strictEqual(yield* turn(agent, two, "hi"), "end_turn")
      const from = mark(agent)
      writeFileSync(join(place, "go"), "")
      assert.strictEqual((yield* first.answer).result["stopReason"], "end_turn")
      assert.strictEqual(textOf(updatesOf(agent, one, from)), "middle end")
      assert.strictEqual(textOf(updatesOf(agent, two)), "second")
    })
  )
})
