import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { folder } from "../support/Program.ts"
import { configFor } from "../support/LocalProvider.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { newSession, open, prompt, promptParams, turn } from "../support/Probe.ts"
import { start } from "../support/RawAgent.ts"
import { methodsOf } from "../support/Schema.ts"
import { callsOf, shownBy, textOf, updatesOf, watched } from "../support/Updates.ts"

const echo = [{ again: true, parts: [{ echo: true as const }] }]

/** Cuts right behind the first byte of each character that has several. */
const torn = (text: string): ReadonlyArray<Uint8Array> => {
  const bytes = Buffer.from(text)
  const cuts = [...bytes.keys()].filter((index) => (bytes[index] ?? 0) >= 0xc0).map((index) => index + 1)
  return [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length))
}

describe("1a. wire framing and the stdio channel", () => {
  describe("F01 a character that straddles two reads stays whole", () => {
    const text = "é 漢字 🎉"

    it.live("F01 on the way in", () =>
      Effect.gen(function* () {
        const agent = yield* open({ steps: echo })
        const session = yield* newSession(agent, agent.home)
        const line = JSON.stringify({
          jsonrpc: "2.0",
          id: 2,
          method: "session/prompt",
          params: promptParams(session, text)
        })
        for (const piece of torn(`${line}\n`)) {
          yield* agent.write(piece)
          // Not to wait for anything: so that the reader gets the pieces one by one.
          yield* Effect.sleep("20 millis")
        }
        yield* agent.answerOf(2)
        assert.strictEqual(textOf(updatesOf(agent, session)), text)
      })
    )

    it.live("F01 from the model", () =>
      Effect.gen(function* () {
        const server = yield* ProviderServer.start
        server.answer({ pieces: [{ text }], bytes: 1 })
        const agent = yield* open({ config: configFor(server) })
        const session = yield* newSession(agent, agent.home)
        assert.strictEqual(yield* turn(agent, session, "hi"), "end_turn")
        assert.strictEqual(textOf(updatesOf(agent, session)), text)
      })
    )

    it.live("F01 from a command", () =>
      Effect.gen(function* () {
        const command = torn(text)
          .map((piece) => `printf '${[...piece].map((byte) => `\\x${byte.toString(16)}`).join("")}'`)
          .join("; sleep 0.05; ")
        const place = yield* folder
        const agent = yield* open({
          args: ["--yolo"],
          steps: [{ parts: [{ tool: { name: "bash", input: { command } } }] }, { parts: [{ text: "done" }] }]
        })
        const session = yield* newSession(agent, place)
        yield* turn(agent, session, "go")
        const [call] = callsOf(updatesOf(agent, session))
        assert.include(shownBy(call!.latest), text)
        assert.notInclude(watched(call!), "\uFFFD")
      })
    )
  })

  describe("F02 lines may be large", () => {
    it.live("F02 a prompt of 5,000,000 characters, and a file of 2 MB from the editor", () =>
      Effect.gen(function* () {
        const place = yield* folder
        writeFileSync(join(place, "a.txt"), "disk\n")
        const content = "0123456789abcde\n".repeat(131_072)
        const agent = yield* open({
          capabilities: { fs: { readTextFile: true } },
          steps: [
            { when: "xxx", parts: [{ text: "long" }] },
            { when: "read", parts: [{ tool: { name: "read", input: { path: "a.txt", offset: 131_072 } } }] },
            { parts: [{ text: "done" }] }
          ],
          onRequest: (method) => (method === "fs/read_text_file" ? { result: { content } } : undefined)
        })
        const session = yield* newSession(agent, place)
        assert.strictEqual(yield* turn(agent, session, "x".repeat(5_000_000)), "end_turn")
        assert.strictEqual(yield* turn(agent, session, "read"), "end_turn")
        const [call] = callsOf(updatesOf(agent, session))
        assert.strictEqual(call!.latest["status"], "completed")
        assert.include(shownBy(call!.latest), "131072\t0123456789abcde")
      })
    )

    it.live("F02 a line beyond the limit is an error, and the connection lives on", () =>
      Effect.gen(function* () {
        const agent = yield* open({ steps: echo })
        yield* agent.write(`${"x".repeat(33 * 1024 * 1024)}\n`)
        const error = yield* agent.until("the complaint", ({ error, id }) => (id === null ? error : undefined))
        assert.include(JSON.stringify(error), "33554432")
        yield* newSession(agent, agent.home)
      })
    )
  })

  describe("F03 nothing but the protocol is on stdout", () => {
    for (const [name, options] of [
      ["a fresh home", {}],
      [
        "all the logging there is",
        { env: { DEBUG: "*", LOG_LEVEL: "debug", NODE_DEBUG: "http,net,fs", SUPER_PI_LOG_STDERR: "trace" } }
      ],
      ["a broken configuration", { config: "[models\ndefault = 7" }],
      [
        "a configuration of wrong types",
        { config: '[models]\ndefault = 7\n[providers.x]\nkind = "?"\n[permission]\nallow = [1]' }
      ]
    ] as const) {
      it.live(`F03 ${name}`, () =>
        Effect.gen(function* () {
          const agent = yield* open({
            ...options,
            args: ["--yolo"],
            steps: [{ parts: [{ tool: { name: "bash", input: { command: "echo out; echo err >&2" } } }] }, ...echo]
          })
          const session = yield* newSession(agent, agent.home)
          assert.strictEqual(yield* turn(agent, session, "hi"), "end_turn")
          yield* agent.closeInput
          assert.strictEqual(yield* agent.ended, 0)
          if ("config" in options) assert.include(agent.stderr(), "config.toml")
        })
      )
    }
  })

  it.live("F04 without credentials a session is refused with -32000, in words that help", () =>
    Effect.gen(function* () {
      const agent = yield* start()
      const { authMethods } = yield* agent.ok("initialize", { protocolVersion: 1, clientCapabilities: {} })
      assert.isNotEmpty(authMethods)
      const { error } = yield* agent.request("session/new", { cwd: agent.home, mcpServers: [] })
      assert.strictEqual(error?.["code"], -32000)
      assert.include(String(error?.["message"]), "ANTHROPIC_API_KEY")
      yield* agent.closeInput
      assert.strictEqual(yield* agent.ended, 0)
    })
  )

  for (const config of [
    "",
    '[permission]\nask = ["*"]',
    '[acp]\nfs_delegation = "always"',
    "[auth]\nrequired = true"
  ]) {
    it.live(`F06 initialize is answered while stdin stays open: ${config || "no settings"}`, () =>
      Effect.gen(function* () {
        const agent = yield* open({ config })
        assert.lengthOf(agent.seen, 1)
      })
    )
  }

  it.live("F07 ids come back as they were, and the text 1 is not the number 1", () =>
    Effect.gen(function* () {
      const agent = yield* start({
        args: ["--yolo"],
        steps: [{ parts: [{ hang: true }] }]
      })
      const initialize = { protocolVersion: 1, clientCapabilities: {} }
      const id = "a3f0c1de-0000-4000-8000-00000000abcd"
      yield* agent.send({ jsonrpc: "2.0", id, method: "initialize", params: initialize })
      assert.strictEqual((yield* agent.answerOf(id)).result["protocolVersion"], 1)
      const session = yield* newSession(agent, agent.home)
      yield* agent.send({ jsonrpc: "2.0", id: "1", method: "session/prompt", params: promptParams(session, "hang") })
      yield* agent.send({ jsonrpc: "2.0", id: 1, method: "session/list", params: {} })
      assert.isArray((yield* agent.answerOf(1)).result["sessions"])
      yield* agent.notify("session/cancel", { sessionId: session })
      assert.strictEqual((yield* agent.answerOf("1")).result["stopReason"], "cancelled")
    })
  )

  it.live("F07 an answer of the client is matched by the agent's id alone", () =>
    Effect.gen(function* () {
      const agent = yield* open({
        steps: [{ parts: [{ tool: { name: "bash", input: { command: "touch asked" } } }] }, { parts: [{ text: "ok" }] }]
      })
      const session = yield* newSession(agent, agent.home)
      const { answer } = yield* prompt(agent, session, "go")
      const { id, params } = yield* agent.until("a question", ({ id, method, params }) =>
        method === "session/request_permission" ? { id: id!, params } : undefined
      )
      assert.isObject(params)
      // The same id as a text is somebody else's, and so is a number that was never used.
      yield* agent.reply(JSON.stringify(id), { outcome: { outcome: "selected", optionId: "allow-once" } })
      yield* agent.reply(4711, { outcome: { outcome: "selected", optionId: "allow-once" } })
      yield* agent.ok("session/list")
      assert.strictEqual(callsOf(updatesOf(agent, session))[0]!.latest["status"], "pending")
      yield* agent.reply(id, { outcome: { outcome: "selected", optionId: "allow-once" } })
      assert.strictEqual((yield* answer).result["stopReason"], "end_turn")
    })
  )

  it.live("F08 no request but the protocol's own, and none that a client may ignore", () =>
    Effect.gen(function* () {
      const agent = yield* open({
        capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
        steps: [
          {
            parts: [
              { tool: { name: "todo", input: { entries: [{ content: "a", status: "pending" }] } } },
              { tool: { name: "list", input: {} } },
              { tool: { name: "bash", input: { command: "pwd" } } }
            ]
          },
          { parts: [{ text: "done" }] }
        ]
      })
      const session = yield* newSession(agent, agent.home)
      assert.strictEqual(yield* turn(agent, session, "run a tool"), "end_turn")
      const asked = agent.seen.flatMap(({ id, method }) => (id !== undefined && method !== undefined ? [method] : []))
      assert.deepStrictEqual(
        asked.filter((method) => !methodsOf("client").includes(String(method))),
        []
      )
    })
  )

  describe("F09 the client is asked only for what it offered", () => {
    const steps = [
      {
        parts: [
          { tool: { name: "read", input: { path: "a.txt" } } },
          { tool: { name: "write", input: { path: "b.txt", content: "new\n" } } },
          { tool: { name: "bash", input: { command: "ls" } } }
        ]
      },
      { parts: [{ text: "done" }] }
    ]
    for (const [name, capabilities, expected] of [
      ["nothing", {}, []],
      ["reading", { fs: { readTextFile: true } }, ["fs/read_text_file"]],
      ["writing", { fs: { writeTextFile: true } }, []],
      ["a terminal", { terminal: true }, []],
      ["all of it", { fs: { readTextFile: true, writeTextFile: true }, terminal: true }, ["fs/read_text_file"]]
    ] as const) {
      it.live(`F09 it offers ${name}`, () =>
        Effect.gen(function* () {
          const place = yield* folder
          writeFileSync(join(place, "a.txt"), "disk\n")
          const agent = yield* open({
            capabilities,
            args: ["--yolo"],
            steps,
            onRequest: () => ({ result: { content: "buffer\n" } })
          })
          const session = yield* newSession(agent, place)
          assert.strictEqual(yield* turn(agent, session, "go"), "end_turn")
          const asked = agent.seen.flatMap(({ id, method }) =>
            id !== undefined && method !== undefined ? [method] : []
          )
          assert.deepStrictEqual([...new Set(asked)], [...expected])
          const calls = callsOf(updatesOf(agent, session)).map(({ latest }) => latest)
          assert.deepStrictEqual(
            calls.map(({ status }) => status),
            ["completed", "completed", "completed"]
          )
          assert.include(shownBy(calls[0]!), expected.length === 0 ? "disk" : "buffer")
          assert.include(shownBy(calls[2]!), "b.txt")
        })
      )
    }
  })
})
