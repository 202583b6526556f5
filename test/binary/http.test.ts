import { type AgentRequestMethod, client, type ClientContext } from "@agentclientprotocol/sdk"
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { execFileSync } from "node:child_process"
import { promises, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Script } from "../../src/services/models/script/Script.ts"
import { call } from "../support/HttpAgent.ts"
import { until } from "../support/Processes.ts"
import { folder } from "../support/Program.ts"
import { connect, type HttpVersion } from "../support/RawHttp.ts"
import { at } from "../support/Schema.ts"
import { type Fetch, fetchOf } from "../support/transports/HttpTap.ts"
import { serve, type Server } from "../support/transports/Served.ts"

const versions: ReadonlyArray<HttpVersion> = [1, 2]

const script: Script = {
  steps: [
    { when: "write", parts: [{ tool: { name: "write", input: { path: "a.txt", content: "written\n" } } }] },
    { when: "write", parts: [{ text: "It is written." }] },
    { when: "fork", parts: [{ text: "It is forked." }] },
    { when: "hang", parts: [{ text: "I begin. " }, { hang: true }] },
    { when: "slow", parts: [{ text: "one " }, { tool: { name: "bash", input: { command: "cat pipe" } } }] },
    { when: "slow", parts: [{ text: "two" }] }
  ]
}

const prompt = (sessionId: unknown, text: string) => ({ sessionId, prompt: [{ type: "text", text }] })

/** The official client over HTTP, what it was told, and its requests with their status codes. */
const drive = Effect.fnUntraced(function* (version: HttpVersion, server: Server) {
  const plain = yield* fetchOf(version, server.origin, server.headers)
  const requests: Array<string> = []
  const fetch: Fetch = async (input, init) => {
    const response = await plain(input, init)
    requests.push(`${init?.method} ${response.status}`)
    return response
  }
  const told: Array<string> = []
  const app = client({ name: "driver" })
    .onNotification("session/update", ({ params: { update } }) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
        told.push(update.content.text)
      if (update.sessionUpdate === "tool_call_update") told.push(`[${update.status}]`)
    })
    .onRequest("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "allow-once" } }))
  let leave = (): void => {}
  const agent = yield* Effect.acquireRelease(
    Effect.callback<ClientContext>((resume) => {
      const stay = new Promise<void>((resolve) => {
        leave = resolve
      })
      app
        .connectWith(createHttpStream(`${server.origin}/acp`, { fetch }), (context) => {
          resume(Effect.succeed(context))
          return stay
        })
        // It rejects when a test cuts it off.
        .catch(() => {})
    }),
    () => Effect.sync(() => leave())
  )
  const ask = (method: AgentRequestMethod | `_${string}`, params: object) =>
    Effect.promise((): Promise<object> => agent.request(method, params as never))
  yield* ask("initialize", { protocolVersion: 1, clientCapabilities: {} })
  return { agent, ask, told, requests, leave: Effect.sync(() => leave()) }
})

for (const version of versions) {
  describe(`agent serve over HTTP/${version}`, () => {
    it.live("HTTP-08: the official client makes, prompts, allows, loads, cancels, forks and leaves", () =>
      Effect.gen(function* () {
        const cwd = yield* folder
        const server = yield* serve({ home: join(cwd, "home"), script })
        const { agent, ask, leave, requests, told } = yield* drive(version, server)
        const place = { cwd, mcpServers: [] }
        const sessionId = String(at(yield* ask("session/new", place), "sessionId"))
        const turn = yield* ask("session/prompt", prompt(sessionId, "write"))
        assert.strictEqual(at(turn, "stopReason"), "end_turn")
        assert.strictEqual(told.at(-1), "It is written.")
        assert.strictEqual(readFileSync(join(cwd, "a.txt"), "utf8"), "written\n")

        told.length = 0
        yield* ask("session/load", { sessionId, ...place })
        assert.strictEqual(told.at(-1), "It is written.")

        const hanging = yield* Effect.forkChild(ask("session/prompt", prompt(sessionId, "hang")), {
          startImmediately: true
        })
        yield* until(() => told.at(-1) === "I begin. ")
        yield* Effect.promise(() => agent.notify("session/cancel", { sessionId }))
        assert.strictEqual(at(yield* Fiber.join(hanging), "stopReason"), "cancelled")

        const fork = String(at(yield* ask("_superpi/session/fork", { sessionId, ...place }), "sessionId"))
        assert.notStrictEqual(fork, sessionId)
        yield* ask("session/prompt", prompt(fork, "fork"))
        assert.strictEqual(told.at(-1), "It is forked.")
        yield* leave
        yield* until(() => requests.includes("DELETE 202"))
        assert.deepStrictEqual(
          requests.filter((request) => !/^(POST 20[02]|GET 200|DELETE 202)$/.test(request)),
          []
        )
        yield* server.stop("SIGTERM")
        assert.strictEqual(yield* server.ended, 0)
      }).pipe(Effect.scoped)
    )

    for (const how of ["cut off", "deleted"]) {
      it.live(`NET-02: a turn goes on when its connection is ${how}, and a new one loads it`, () =>
        Effect.gen(function* () {
          const cwd = yield* folder
          const pipe = join(cwd, "pipe")
          execFileSync("/usr/bin/mkfifo", [pipe])
          const server = yield* serve({ home: join(cwd, "home"), script })
          const place = { cwd, mcpServers: [] }
          const sockets = yield* Scope.make()
          const first = yield* Scope.provide(drive(version, server), sockets)
          const meta = { _meta: { yoloMode: true } }
          const sessionId = String(at(yield* first.ask("session/new", { ...place, ...meta }), "sessionId"))
          first.agent.request("session/prompt", prompt(sessionId, "slow") as never).catch(() => {})
          yield* until(() => first.told.includes("[in_progress]"))
          if (how === "deleted") {
            yield* first.leave
            yield* until(() => first.requests.includes("DELETE 202"))
          }
          yield* Scope.close(sockets, Exit.void)

          const second = yield* drive(version, server)
          const loaded = yield* second.ask("session/load", { sessionId, ...place })
          assert.isTrue(at(loaded, "_meta", "superPi", "working"))
          yield* Effect.promise(() => promises.writeFile(pipe, "through\n"))
          yield* until(() => second.told.at(-1) === "two")
          assert.strictEqual(second.told[0], "one ")
        }).pipe(Effect.scoped)
      )
    }

    it.live("HTTP-07: tells who comes without the secret, without a connection, or to another place", () =>
      Effect.gen(function* () {
        const server = yield* serve({ home: yield* folder, script })
        const { request } = yield* connect(version, server.origin)
        const hello = { method: "POST", body: call("initialize", { protocolVersion: 1 }) }
        assert.strictEqual((yield* request(hello)).status, 401)
        const good = { ...hello, headers: server.headers }
        const { body, headers, status } = yield* request(good)
        assert.deepStrictEqual([status, typeof headers["acp-connection-id"]], [200, "string"])
        assert.strictEqual(at(JSON.parse(body), "result", "protocolVersion"), 1)
        assert.strictEqual((yield* request({ ...good, path: "/nowhere" })).status, 404)
        assert.strictEqual((yield* request({ ...good, method: "PUT" })).status, 405)
        assert.strictEqual((yield* request({ ...good, body: "[]" })).status, 415)
        assert.strictEqual((yield* request({ ...good, body: call("session/list") })).status, 400)
        assert.strictEqual((yield* request({ method: "DELETE", headers: server.headers })).status, 400)
        const large = { ...good, headers: { ...server.headers, "content-type": "application/json" } }
        assert.strictEqual((yield* request({ ...large, body: " ".repeat(16 * 1024 * 1024 + 1) })).status, 413)
      }).pipe(Effect.scoped)
    )
  })
}

describe("agent serve", () => {
  it.live("HTTP-07: one port serves clients of both versions at once, and one session to both", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const server = yield* serve({ home: join(cwd, "home"), script })
      const place = { cwd, mcpServers: [] }
      const one = yield* drive(1, server)
      const two = yield* drive(2, server)
      const sessionId = String(at(yield* one.ask("session/new", place), "sessionId"))
      yield* two.ask("session/resume", { sessionId, ...place })
      yield* one.ask("session/prompt", prompt(sessionId, "write"))
      yield* until(() => two.told.at(-1) === "It is written.")
      assert.deepStrictEqual(two.told, one.told)
    }).pipe(Effect.scoped)
  )
})
