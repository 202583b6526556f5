import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as AiTool from "effect/ai/Tool"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { createServer } from "node:net"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { SessionId } from "../../src/domain/Ids.ts"
import type { McpSpec } from "../../src/domain/McpSpec.ts"
import { textContent } from "../../src/domain/Tool.ts"
import { McpManager, type McpConnection } from "../../src/services/McpManager.ts"
import { defaultSettings } from "../../src/services/settings/Merge.ts"
import { Settings, type SettingsValue } from "../../src/services/Settings.ts"
import type { ToolContext } from "../../src/services/ToolDefinition.ts"
import * as OldServer from "../support/mcp/oldServer.ts"

const everything = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/server-everything/dist/index.js")
const oddServer = join(import.meta.dirname, "../support/mcp/oddServer.mjs")
const oldServer = join(import.meta.dirname, "../support/mcp/oldServer.ts")
const home = process.env["HOME"]
const secret = "s3cr3t-token-0123456789"
const modelKey = "sk-key-of-a-model-provider"

const manager = McpManager.layer({ ...process.env, MY_OWN_KEY: modelKey, ANTHROPIC_API_KEY: "x" }).pipe(
  Layer.provide(
    Layer.succeed(Settings, {
      home: "/home/ada/.supercharge",
      current: Effect.succeed<SettingsValue>({
        ...defaultSettings,
        providers: [{ name: "mine", kind: "openai", apiKey: Redacted.make(modelKey), models: [] }]
      })
    })
  ),
  Layer.provideMerge(NodeServices.layer)
)

const pairs = (record: Record<string, string>) =>
  Object.entries(record).map(([name, value]) => ({ name, value: Redacted.make(value) }))
const stdio = (name: string, args: ReadonlyArray<string>, env: Record<string, string> = {}): McpSpec => ({
  _tag: "Stdio",
  name,
  command: process.execPath,
  args,
  env: pairs(env)
})
const odd = (name: string, ...faults: ReadonlyArray<string>) =>
  stdio(name, [oddServer, ...faults], { ODD_TOKEN: secret, ODD_MODE: "production" })
const http = (url: string, headers: Record<string, string> = {}): McpSpec => ({
  _tag: "Http",
  name: "remote",
  url,
  headers: pairs(headers)
})

const connect = (...specs: ReadonlyArray<McpSpec>) =>
  Effect.flatMap(McpManager, ({ connect }) => connect(specs, import.meta.dirname))

const workspace = {
  sessionId: SessionId.make("s"),
  cwd: "/w",
  roots: ["/w"],
  editor: undefined,
  scratch: "/tmp/none"
}
const context: ToolContext = {
  workspace,
  plan: () => Effect.void,
  readable: Effect.succeedNone,
  progress: () => Effect.void
}

const find = ({ tools }: McpConnection, name: string) => {
  const found = tools.find(({ tool }) => tool.name === name)
  if (found === undefined) throw new Error(`no ${name} in ${tools.map(({ tool }) => tool.name).join(" ")}`)
  return found
}

const call = (connection: McpConnection, name: string, input: unknown = {}) =>
  Effect.flatMap(find(connection, name).prepare(input, workspace), ({ run }) => run(context))

const Where = Schema.fromJsonString(
  Schema.Struct({
    pid: Schema.Int,
    child: Schema.optionalKey(Schema.Int),
    cwd: Schema.String,
    env: Schema.Record(Schema.String, Schema.String)
  })
)
const where = (connection: McpConnection, name = "odd__where") =>
  Effect.flatMap(call(connection, name), ({ text }) => Schema.decodeEffect(Where)(text))

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
const gone = (pid: number) =>
  Effect.suspend(() => (isAlive(pid) ? Effect.fail(`${pid} is still there`) : Effect.void)).pipe(
    Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 150 })
  )

/** Everything that is logged, at every level. */
const withLogs = <A, E, R>(use: (logs: ReadonlyArray<string>) => Effect.Effect<A, E, R>) => {
  const logs: Array<string> = []
  return use(logs).pipe(
    Effect.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => logs.push(line))])),
    Effect.provideService(References.MinimumLogLevel, "Trace")
  )
}

const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** What the reference server has to do over either transport. */
const usesEverything = Effect.fnUntraced(function* (connection: McpConnection, alias: string) {
  assert.deepStrictEqual(connection.notices, [])
  const names = connection.tools.map(({ tool }) => tool.name)
  assert.includeMembers(names, [`${alias}__echo`, `${alias}__get-sum`, `${alias}__get-tiny-image`])
  const sum = find(connection, `${alias}__get-sum`)
  assert.deepInclude(AiTool.getJsonSchema(sum.tool), {
    type: "object",
    required: ["a", "b"],
    $schema: "http://json-schema.org/draft-07/schema#"
  })
  assert.strictEqual(sum.concurrency, "shared")
  const prepared = yield* sum.prepare({ a: 1, b: 2 }, workspace)
  assert.deepInclude(prepared, { title: `${alias}: get-sum`, kind: "other" })
  assert.deepStrictEqual(prepared.access, { _tag: "Mcp", server: alias, tool: "get-sum" })
  assert.deepStrictEqual(prepared.preview, [textContent('{\n  "a": 1,\n  "b": 2\n}')])

  assert.deepStrictEqual(yield* call(connection, `${alias}__echo`, { message: "漢字🎉" }), {
    status: "completed",
    text: "Echo: 漢字🎉",
    content: [textContent("Echo: 漢字🎉")]
  })
  const image = yield* call(connection, `${alias}__get-tiny-image`)
  const shown = image.content.flatMap((item) => (item.type === "content" ? [item.content] : []))
  assert.deepStrictEqual(
    shown.map(({ type }) => type),
    ["text", "image", "text"]
  )
  assert.include(image.text, "[image, image/png, ")
  assert.isTrue(shown.some((item) => item.type === "image" && item.data.startsWith("iVBORw0KGgo")))
  const structured = yield* call(connection, `${alias}__get-structured-content`, { location: "New York" })
  assert.deepStrictEqual(Object.keys(Object(structured.rawOutput)).sort(), ["conditions", "humidity", "temperature"])
  const links = yield* call(connection, `${alias}__get-resource-links`, { count: 2 })
  assert.include(links.text, "[resource ")
  const wrong = yield* call(connection, `${alias}__get-sum`, { a: "x" })
  assert.strictEqual(wrong.status, "failed")
  assert.include(wrong.text, "get-sum")
})

describe("McpManager", () => {
  it.effect("without servers nothing is loaded or started", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* connect(), { tools: [], notices: [] })
    }).pipe(Effect.provide(manager))
  )

  describe("the reference server", () => {
    it.live("over stdio", () =>
      Effect.gen(function* () {
        yield* usesEverything(yield* connect(stdio("every thing!", [everything, "stdio"])), "every_thing")
      }).pipe(Effect.scoped, Effect.provide(manager))
    )

    it.live("over HTTP", () =>
      Effect.gen(function* () {
        const port = yield* freePort
        const spawner = yield* ChildProcessSpawner
        const server = yield* spawner.spawn(
          ChildProcess.make(process.execPath, [everything, "streamableHttp"], {
            env: { PORT: `${port}` },
            stdin: "ignore",
            stdout: "ignore",
            forceKillAfter: 200
          })
        )
        const listening = server.stderr.pipe(
          Stream.decodeText(),
          Stream.filter((words) => words.includes("listening")),
          Stream.runHead
        )
        assert.isTrue((yield* listening)._tag === "Some")
        yield* usesEverything(yield* connect(http(`http://127.0.0.1:${port}/mcp`)), "remote")
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  })

  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const) {
    it.live(`a server that speaks only ${revision}`, () =>
      Effect.gen(function* () {
        const url = yield* OldServer.address
        const connection = yield* connect(stdio("local", [oldServer, revision]), http(url))
        assert.deepStrictEqual(connection.notices, [])
        assert.strictEqual((yield* call(connection, "local__greet", { name: "Ada" })).text, "Hello Ada")
        assert.strictEqual((yield* call(connection, "remote__greet", { name: "Ada" })).text, "Hello Ada")
      }).pipe(Effect.scoped, Effect.provide([manager, OldServer.layerHttp(revision)]))
    )
  }

  it.live("servers inherit a sane environment without our secrets, and their own variables (F101)", () =>
    Effect.gen(function* () {
      const connection = yield* connect(stdio("odd", [oddServer], { K: "V", PATH: "/own/path" }))
      const { cwd, env } = yield* where(connection)
      assert.strictEqual(cwd, import.meta.dirname)
      assert.deepInclude(env, { K: "V", PATH: "/own/path", HOME: home })
      assert.notInclude(Object.values(env), modelKey)
      assert.isUndefined(env["ANTHROPIC_API_KEY"])
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("a server that cannot be used is a notice, and the others work (MCP-04)", () =>
    withLogs((logs) =>
      Effect.gen(function* () {
        const { notices, ...connection } = yield* connect(
          odd("good"),
          odd("dead", "dies-at-once"),
          odd("future", "future"),
          odd("strict", "refuses"),
          { _tag: "Stdio", name: "missing", command: "no-such-program", args: [secret], env: pairs({ T: secret }) },
          { ...http("http://127.0.0.1:9/mcp?key=" + secret, { Authorization: `Bearer ${secret}` }), name: "nobody" },
          { ...http("ftp://x"), name: "ftp" },
          { _tag: "Stdio", name: "unnamed", command: "", args: [], env: [] },
          { _tag: "Stdio", name: "long", command: "true", args: ["x".repeat(300_000)], env: [] }
        )
        const told = notices.map(({ description = "", severity, title }) => `${severity} ${title} ${description}`)
        for (const [index, pattern] of [
          /warning The MCP server "dead" cannot be used It ended with exit code 3; its last words: no such account: <redacted>\. The session goes on/,
          /"future".* speaks the protocol revision "2099-01-01 <redacted>"/,
          /"strict".* answered with the error -32001: <redacted> is not allowed/,
          /"missing".* there is no program "no-such-program"\. Install it/,
          /"nobody".* cannot be reached at http:\/\/127\.0\.0\.1:9: .*ECONNREFUSED/,
          /"ftp".* has no usable address/,
          /"unnamed".* could not be started/,
          /"long".* could not be started: "true" failed with E2BIG/
        ].entries()) {
          assert.match(told[index] ?? "", pattern)
        }
        assert.strictEqual(notices.length, 8)
        assert.strictEqual((yield* call({ ...connection, notices }, "good__fail")).text, "that went wrong")
        assert.notInclude([...told, ...logs].join("\n"), secret)
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  )

  it.live("noise and floods do no harm, and reach the log without secrets (MCP-08)", () =>
    withLogs((logs) =>
      Effect.gen(function* () {
        const connection = yield* connect(odd("odd", "noisy", "floods", "pings"))
        assert.strictEqual((yield* call(connection, "odd__fail")).status, "failed")
        assert.isTrue(logs.some((line) => line.includes("Server is ready, token <redacted>")))
        assert.isBelow(logs.filter((line) => line.includes("xxxx")).length, 1_001)
        assert.notInclude(logs.join("\n"), secret)
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  )

  it.live("a server that dies in a call fails that call and later ones, and no other server", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd"), odd("other"))
      const [died, other] = yield* Effect.all([call(connection, "odd__die"), call(connection, "other__fail")], {
        concurrency: 2
      })
      assert.deepInclude(died, {
        status: "failed",
        text: 'The MCP server "odd" ended with exit code 1; its last words: out of memory.'
      })
      assert.strictEqual(other.text, "that went wrong")
      assert.strictEqual((yield* call(connection, "odd__fail")).text, died.text)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("an interrupted call is withdrawn from the server", () =>
    withLogs((logs) =>
      Effect.gen(function* () {
        const connection = yield* connect(odd("odd"))
        const fiber = yield* Effect.forkChild(call(connection, "odd__hang"))
        yield* call(connection, "odd__fail")
        yield* Fiber.interrupt(fiber)
        yield* Effect.suspend(() =>
          logs.some((line) => line.includes("cancelled ")) ? Effect.void : Effect.fail("not yet")
        ).pipe(Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 200 }))
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  )

  it.live("results: unknown content is shown, long text is cut, credentials are left out", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd"))
      const strange = yield* call(connection, "odd__odd")
      assert.include(strange.text, '[content of an unknown kind] {"type":"hologram","depth":3}')
      assert.deepStrictEqual(strange.rawOutput, { a: [1] })
      const long = yield* call(connection, "odd__many", { n: 150_000 })
      assert.match(long.text, /^é{100000}\n\[50000 more characters were left out/)
      assert.strictEqual((yield* call(connection, "odd__secret")).text, "the token is <redacted> in production")
      const refused = yield* Effect.flip(find(connection, "odd__where").prepare([1], workspace))
      assert.include(refused.message, "must be a JSON object")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("names fit the model, and never meet", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("a"), odd("a"), odd("a__"), odd("long ".repeat(20)), odd("日本"))
      const names = connection.tools.map(({ tool }) => tool.name)
      assert.strictEqual(new Set(names).size, 5 * 8)
      for (const name of names) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
      assert.includeMembers(names, ["a__where", "a_2__where", "a_3__where", "a__a_b_c", "server__where"])
      const prepared = yield* find(connection, "a__a_b_c").prepare(undefined, workspace)
      assert.deepStrictEqual(prepared.access, { _tag: "Mcp", server: "a", tool: "a.b c" })
      assert.deepStrictEqual(prepared.preview, [])
      assert.strictEqual((yield* call(connection, "a__a_b_c")).text, "odd name")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("a server that pages for ever is cut off", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd", "endless"))
      assert.strictEqual(connection.tools.length, 100)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.effect("a server that hangs is given up after 30 seconds", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(connect(odd("odd", "hangs")))
      // The clock of the test may move only once the server really runs.
      const turn = Effect.andThen(
        TestClock.adjust("10 seconds"),
        Effect.promise(() => setImmediate())
      )
      yield* Effect.repeat(turn, { until: () => fiber.pollUnsafe() !== undefined })
      const { notices } = yield* Fiber.join(fiber)
      assert.match(notices[0]?.description ?? "", /^It did not get ready within 30s\. The session goes on/)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  describe("the end", () => {
    it.live("the scope does not wait, and the whole group is gone, however stubborn (MCP-06, F13)", () =>
      Effect.gen(function* () {
        const pids: Array<number> = []
        const started = yield* Effect.scoped(
          Effect.gen(function* () {
            const connection = yield* connect(odd("odd", "stubborn", "has-child"), odd("kind", "has-child"))
            const stubborn = yield* where(connection)
            const kind = yield* where(connection, "kind__where")
            for (const { child = 0, pid } of [stubborn, kind]) pids.push(pid, child)
            return yield* Clock.currentTimeMillis
          })
        )
        assert.isBelow((yield* Clock.currentTimeMillis) - started, 150)
        for (const pid of pids) yield* gone(pid)
      }).pipe(Effect.provide(manager))
    )

    it.live("the layer waits, so that nothing outlives the process", () =>
      Effect.gen(function* () {
        const { pid } = yield* Effect.provide(
          Effect.scoped(Effect.flatMap(connect(odd("odd", "stubborn")), (connection) => where(connection))),
          manager
        )
        assert.isFalse(isAlive(pid))
      })
    )

    it.live("a scope that ends while a server connects ends the server", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const script = `echo $$ > ${folder}/pid.tmp; mv ${folder}/pid.tmp ${folder}/pid; exec sleep 600`
        const spec: McpSpec = { _tag: "Stdio", name: "slow", command: "sh", args: ["-c", script], env: [] }
        const fiber = yield* Effect.forkChild(Effect.scoped(connect(spec)))
        const pid = yield* fs
          .readFileString(`${folder}/pid`)
          .pipe(Effect.map(Number), Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 300 }))
        yield* Fiber.interrupt(fiber)
        yield* gone(pid)
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  })

  it.live("two sessions share no server (F27)", () =>
    Effect.gen(function* () {
      const one = yield* connect(stdio("same", [oddServer], { WHO: "one" }))
      const two = yield* connect(stdio("same", [oddServer], { WHO: "two" }))
      const [first, second] = [yield* where(one, "same__where"), yield* where(two, "same__where")]
      assert.deepStrictEqual([first.env["WHO"], second.env["WHO"]], ["one", "two"])
      assert.notStrictEqual(first.pid, second.pid)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})
