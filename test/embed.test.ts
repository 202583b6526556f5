/** The agent inside another application: what is replaced is what counts, and the end of a scope is the end of it all. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { WebSocket } from "ws"
import {
  type Access,
  AcpAgent,
  ClientFS,
  type Decision,
  Models,
  PermissionBroker,
  SandboxRunner,
  type Script,
  ScriptedEditor,
  type SettingsValue
} from "../src/index.ts"
import { AcpServer, InboxServer, Relay, RelayedAgent, StreamableHttp } from "../src/servers.ts"
import { memoryStore, scriptedModel } from "../src/testing.ts"
import * as WebSocketFrames from "../src/transports/http/WebSocketFrames.ts"
import { failed } from "./support/Link.ts"
import { ended, folder, initialize, node } from "./support/Program.ts"
import { root } from "./support/Sources.ts"

const call = (name: string, input: Record<string, string>) => ({ tool: { name, input } })

const script = (...parts: Script["steps"][number]["parts"]): Script => ({
  steps: [{ parts }, { parts: [{ text: "Done." }] }]
})

/** A folder to work in, and one for the agent beside it. */
const place = Effect.map(folder, (path) => {
  const work = join(path, "work")
  mkdirSync(work)
  writeFileSync(join(work, "notes.txt"), "Water the plants.\n")
  return { work, home: join(path, "home") }
})

/** `replaced` is any of the services; the model that has no answer stands in where it has none. */
const agent = (home: string, replaced: Layer.Layer<never>, settings: Partial<SettingsValue> = {}) =>
  AcpAgent.layer.pipe(
    Layer.provide(replaced),
    Layer.provide(scriptedModel({ steps: [] })),
    Layer.provide(AcpAgent.defaults),
    Layer.provide(AcpAgent.settings({ home, ...settings }))
  )

const broker = (decide: (access: Access) => Decision) =>
  Layer.succeed(PermissionBroker, {
    decide: ({ access }) => Effect.sync(() => decide(access)),
    readable: () => Effect.succeedNone
  })

/** How the calls of a turn ended, in order. */
const endings = ({ updates }: ScriptedEditor.EditorTurn) =>
  updates.flatMap((update) =>
    update.sessionUpdate === "tool_call_update" && (update.status === "completed" || update.status === "failed")
      ? [update.status]
      : []
  )

const shown = ({ updates }: ScriptedEditor.EditorTurn) => JSON.stringify(updates)

const anywhere = { host: "127.0.0.1", port: 0 }
const secret = Redacted.make("the secret of a test, which is long enough")

/** What a server needs. */
const network = (home: string, replaced: Layer.Layer<never>, settings: Partial<SettingsValue> = {}) =>
  Layer.merge(agent(home, replaced, settings), AcpAgent.settings({ home, ...settings }))

/** A client's end of a connection. */
const dial = Effect.fnUntraced(function* (address: string) {
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${Redacted.value(secret)}` } })
  yield* Effect.callback<void>((resume) => {
    socket.once("open", () => resume(Effect.void))
  })
  return { socket, frames: yield* WebSocketFrames.make(socket) }
})

describe("embedding", () => {
  it.live("the example does what it says, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const temporary = yield* folder
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn(node, [join(root, "examples/embed/main.ts")], { env: { ...process.env, TMPDIR: temporary } })
        ),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      const { end, stderr, stdout } = yield* ended(child)
      assert.deepStrictEqual(stdout.split("\n"), [
        "I got this:",
        "     1\tWater the plants.",
        "This agent only reads.",
        "(end_turn)",
        "That took too long.",
        "(The model was interrupted.)",
        "I am awake.",
        ""
      ])
      assert.deepStrictEqual([end, stderr, readdirSync(temporary)], [0, "", []])
    })
  )

  it.effect("a permission broker of the application judges every call, and the editor is not asked", () =>
    Effect.gen(function* () {
      const { home, work } = yield* place
      const judged: Array<string> = []
      const replaced = broker((access) => {
        judged.push(access._tag)
        return access._tag === "Execute" ? { _tag: "Denied", reason: "Not in this house." } : { _tag: "Allowed" }
      })
      const model = scriptedModel(
        script(
          call("read", { path: "notes.txt" }),
          call("write", { path: "new.txt", content: "new\n" }),
          call("bash", { command: "rm notes.txt" })
        )
      )
      yield* Effect.gen(function* () {
        const editor = yield* ScriptedEditor.connect({ cwd: work })
        const turn = yield* editor.prompt("Go")
        assert.deepStrictEqual(endings(turn).toSorted(), ["completed", "completed", "failed"])
        assert.include(shown(turn), "Not in this house.")
        assert.deepStrictEqual(editor.questions, [])
      }).pipe(Effect.provide(agent(home, Layer.merge(replaced, model))))
      assert.deepStrictEqual(judged.toSorted(), ["Edit", "Execute", "Read"])
      assert.deepStrictEqual(readdirSync(work).toSorted(), ["new.txt", "notes.txt"])
    }).pipe(Effect.scoped)
  )

  it.effect("tools work through the replaced runner and the replaced files, and touch nothing else", () =>
    Effect.gen(function* () {
      const { home, work } = yield* place
      const commands: Array<string> = []
      const runner = Layer.succeed(SandboxRunner, {
        status: () => Effect.succeed({ _tag: "Ready", mechanism: "none" }),
        start: () => Effect.die("nothing was to be started"),
        run: ({ command }) =>
          Effect.sync(() => {
            commands.push(command)
            return {
              exit: { _tag: "Code", code: 0 },
              timedOut: false,
              output: "from elsewhere\n",
              spilled: undefined,
              bytes: 15,
              duration: Duration.millis(1)
            }
          })
      })
      const texts = new Map([[join(work, "notes.txt"), "Feed the cat.\n"]])
      const files = Layer.succeed(ClientFS, {
        read: (_workspace, path) =>
          Effect.succeed({ path, text: texts.get(path) ?? "", encoding: "utf-8", source: "disk", stamp: "1" }),
        write: (_workspace, path, text) => Effect.sync(() => void texts.set(path, text))
      })
      const model = scriptedModel(
        script(
          call("read", { path: "notes.txt" }),
          call("edit", { path: "notes.txt", old_string: "cat", new_string: "dog" }),
          call("bash", { command: "rm notes.txt" })
        )
      )
      yield* Effect.gen(function* () {
        const editor = yield* ScriptedEditor.connect({ cwd: work })
        const turn = yield* editor.prompt("Go")
        assert.deepStrictEqual(endings(turn), ["completed", "completed", "completed"])
        assert.include(shown(turn), "from elsewhere")
        assert.include(shown(turn), "Feed the cat.")
      }).pipe(Effect.provide(agent(home, Layer.mergeAll(runner, files, model, PermissionBroker.layerAllow))))
      assert.deepStrictEqual(commands, ["rm notes.txt"])
      assert.strictEqual(texts.get(join(work, "notes.txt")), "Feed the dog.\n")
      assert.strictEqual(readFileSync(join(work, "notes.txt"), "utf8"), "Water the plants.\n")
    }).pipe(Effect.scoped)
  )

  it.effect("rules of the given settings reach the default broker", () =>
    Effect.gen(function* () {
      const { home, work } = yield* place
      const model = scriptedModel(script(call("read", { path: "notes.txt" })))
      const settings = { permission: { allow: [], ask: [], deny: ["Read(notes.txt)"] } }
      yield* Effect.gen(function* () {
        const editor = yield* ScriptedEditor.connect({ cwd: work })
        assert.deepStrictEqual(endings(yield* editor.prompt("Go")), ["failed"])
      }).pipe(Effect.provide(agent(home, model, settings)))
    }).pipe(Effect.scoped)
  )

  it.effect("a time limit on a prompt interrupts the model of the application, and the session goes on", () =>
    Effect.gen(function* () {
      const { home, work } = yield* place
      const asked = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      let requests = 0
      const usage: Response.FinishPartEncoded["usage"] = {
        inputTokens: { total: 1, uncached: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: 1, reasoning: undefined }
      }
      const never = Deferred.succeed(asked, undefined).pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
      )
      const model = LanguageModel.make({
        generateText: () => Effect.succeed([]),
        streamText: (): Stream.Stream<Response.StreamPartEncoded> =>
          requests++ === 0
            ? Stream.fromEffect(never)
            : Stream.make(
                { type: "text-start", id: "1" },
                { type: "text-delta", id: "1", delta: "Awake." },
                { type: "text-end", id: "1" },
                { type: "finish", reason: "stop", usage }
              )
      })
      const models = Models.fromLanguageModel({
        id: "house/toy",
        name: "Toy",
        contextWindow: 1_000,
        image: false,
        efforts: []
      }).pipe(Layer.provide(Layer.effect(LanguageModel.LanguageModel, model)))
      yield* Effect.gen(function* () {
        const editor = yield* ScriptedEditor.connect({ cwd: work })
        const turn = yield* Effect.forkChild(editor.prompt("Dream").pipe(Effect.timeoutOption("1 minute")))
        yield* Deferred.await(asked)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* Fiber.join(turn))._tag, "None")
        yield* Deferred.await(interrupted)
        const { stopReason, text } = yield* editor.prompt("And now?")
        assert.deepStrictEqual([stopReason, text], ["end_turn", "Awake."])
      }).pipe(Effect.provide(agent(home, models)))
    }).pipe(Effect.scoped)
  )

  it.effect("sessions are kept in the given folder, or nowhere", () =>
    Effect.gen(function* () {
      const { home, work } = yield* place
      const talk = Effect.gen(function* () {
        const editor = yield* ScriptedEditor.connect({ cwd: work })
        yield* editor.prompt("Hello")
        return editor.sessionId
      }).pipe(Effect.scoped)
      const model = scriptedModel({ steps: [{ again: true, parts: [{ text: "Hello." }] }] })
      yield* Effect.provide(talk, agent(home, Layer.merge(model, memoryStore)))
      assert.isFalse(existsSync(home))
      const id = yield* Effect.provide(talk, agent(home, model))
      yield* Effect.gen(function* () {
        const editor = yield* ScriptedEditor.connect({ cwd: work })
        const before = editor.updates.length
        yield* editor.request("session/load", { sessionId: id, cwd: work, mcpServers: [] })
        assert.include(JSON.stringify(editor.updates.slice(before)), "Hello.")
      }).pipe(Effect.provide(agent(home, model)))
    }).pipe(Effect.scoped)
  )

  it.effect("several editors share one agent, each with what its connection allows", () =>
    Effect.gen(function* () {
      const { home, work } = yield* place
      yield* Effect.gen(function* () {
        const one = yield* ScriptedEditor.connect({ cwd: work, serve: { name: "house-bot", version: "7" } })
        const other = yield* ScriptedEditor.connect({ cwd: work, serve: { ceiling: "plan" } })
        assert.notStrictEqual(one.sessionId, other.sessionId)
        assert.deepInclude(one.agent.agentInfo, { name: "house-bot", title: "house-bot", version: "7" })
        assert.deepInclude(other.agent.agentInfo, { name: "super-pi", title: "Super-Pi" })
        const mode = { sessionId: other.sessionId, modeId: "always-approve" }
        assert.propertyVal(yield* failed(other.request("session/set_mode", mode)), "code", -32602)
        yield* one.request("session/set_mode", { ...mode, sessionId: one.sessionId })
      }).pipe(Effect.provide(agent(home, memoryStore)))
    }).pipe(Effect.scoped)
  )

  it.live("a server is a layer: clients come in with the secret, and are told when the layer ends", () =>
    Effect.gen(function* () {
      const { home, work } = yield* place
      const model = scriptedModel({ steps: [{ parts: [{ text: "Hello." }] }] })
      const agents = network(home, Layer.merge(model, memoryStore), { remoteCeiling: "plan" })
      const served = AcpServer.layer({ ...anywhere, secret, connection: { name: "house-bot" } })
      const ended = yield* Effect.gen(function* () {
        const { port } = yield* AcpServer.AcpServer
        const stranger = yield* HttpClient.post(`http://127.0.0.1:${port}/acp`)
        assert.strictEqual(stranger.status, 401)
        const { frames, socket } = yield* dial(`ws://127.0.0.1:${port}/ws`)
        const ended = yield* Deferred.make<number>()
        socket.on("close", (code) => Deferred.doneUnsafe(ended, Effect.succeed(code)))
        const editor = yield* ScriptedEditor.make(frames, { cwd: work })
        assert.deepInclude(editor.agent.agentInfo, { name: "house-bot" })
        assert.deepInclude(yield* editor.prompt("Hi"), { stopReason: "end_turn", text: "Hello." })
        const mode = { sessionId: editor.sessionId, modeId: "ask" }
        assert.propertyVal(yield* failed(editor.request("session/set_mode", mode)), "code", -32602)
        return ended
      }).pipe(Effect.provide([Layer.provide(served, agents), FetchHttpClient.layer]))
      assert.strictEqual(yield* Deferred.await(ended), 1001)
    }).pipe(Effect.scoped)
  )

  it.live("one agent is behind a server, an inbox and a relay at once, and a session belongs to none of them", () =>
    Effect.gen(function* () {
      const { home, work } = yield* place
      const model = scriptedModel({ steps: [{ again: true, parts: [{ text: "Hello." }] }] })
      const agents = network(home, Layer.merge(model, memoryStore))
      const called = Relay.Relay.use(({ port }) =>
        Effect.succeed(
          RelayedAgent.layer({
            address: new URL(`ws://127.0.0.1:${port}/agent`),
            token: Effect.succeed(secret),
            tell: () => Effect.void
          })
        )
      )
      const served = Layer.mergeAll(
        AcpServer.layer({ ...anywhere, secret }),
        Layer.provide(InboxServer.layer({ ...anywhere, secret, cwd: work }), AcpAgent.platform),
        Layer.provideMerge(Layer.unwrap(called), Relay.layer(anywhere))
      )
      yield* Effect.gen(function* () {
        const [server, inbox, relay] = [yield* AcpServer.AcpServer, yield* InboxServer.InboxServer, yield* Relay.Relay]
        const asked = HttpClientRequest.post(`http://127.0.0.1:${inbox.port}/v1/chat`).pipe(
          HttpClientRequest.bearerToken(secret),
          HttpClientRequest.bodyJsonUnsafe({ message: "Hi", stream: false })
        )
        const { json, status } = yield* HttpClient.execute(asked)
        assert.strictEqual(status, 200)
        assert.nestedPropertyVal(yield* json, "text", "Hello.")
        for (const port of [server.port, relay.port]) {
          const { frames } = yield* dial(`ws://127.0.0.1:${port}/ws`)
          const editor = yield* ScriptedEditor.make(frames, { cwd: work })
          assert.deepInclude(yield* editor.prompt("Hi"), { text: "Hello." })
          const listed = yield* editor.request("session/list", {})
          assert.lengthOf(JSON.stringify(listed).match(/"sessionId"/g) ?? [], port === server.port ? 2 : 3)
        }
      }).pipe(Effect.provide([Layer.provide(served, agents), FetchHttpClient.layer]))
    }).pipe(Effect.scoped)
  )

  it.live("a server refuses a weak secret where others than this machine can connect", () =>
    Effect.gen(function* () {
      const { home } = yield* place
      const agents = network(home, memoryStore)
      const served = AcpServer.layer({ host: "0.0.0.0", port: 0, secret: Redacted.make("secret") })
      const refused = yield* Effect.flip(Effect.scoped(Layer.build(Layer.provide(served, agents))))
      assert.include(refused.message, "needs a strong secret")
    }).pipe(Effect.scoped)
  )

  it.live("Streamable HTTP is a route of a server that the application has already", () =>
    Effect.gen(function* () {
      const { home } = yield* place
      const agents = network(home, memoryStore)
      const route = HttpRouter.use((router) =>
        Effect.flatMap(StreamableHttp.make({ version: "7" }), (app) => router.add("*", "/agent", app))
      )
      const served = HttpRouter.serve(route, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provide(agents),
        Layer.provideMerge(NodeHttpServer.layerTest)
      )
      yield* Effect.gen(function* () {
        const posted = HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post("/agent"), initialize)
        const { headers, json } = yield* HttpClient.execute(posted)
        assert.nestedPropertyVal(yield* json, "result.agentInfo.version", "7")
        assert.isString(headers["acp-connection-id"])
      }).pipe(Effect.provide(served))
    }).pipe(Effect.scoped)
  )
})
