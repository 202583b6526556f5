import { assert, describe, it } from "@effect/vitest"
import * as AiTool from "effect/ai/Tool"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import type { McpSpec } from "../../src/domain/McpSpec.ts"
import { textContent } from "../../src/domain/Tool.ts"
import * as OldServer from "../support/mcp/oldServer.ts"
import {
  call,
  connect,
  type Connected,
  everythingOver,
  find,
  gone,
  http,
  isAlive,
  manager,
  modelKey,
  odd,
  oddFile,
  pairs,
  reference,
  secret,
  sse,
  stdio,
  workspace
} from "../support/mcp/session.ts"

const home = process.env["HOME"]
const everything = reference("everything")
const oldServer = join(import.meta.dirname, "../support/mcp/oldServer.ts")

const Where = Schema.fromJsonString(
  Schema.Struct({
    pid: Schema.Int,
    child: Schema.optionalKey(Schema.Int),
    cwd: Schema.String,
    env: Schema.Record(Schema.String, Schema.String)
  })
)
const where = (connection: Connected, name = "mcp__odd__where") =>
  Effect.flatMap(call(connection, name), ({ text }) => Schema.decodeEffect(Where)(text))

/** Everything that is logged, at every level. */
const withLogs = <A, E, R>(use: (logs: ReadonlyArray<string>) => Effect.Effect<A, E, R>) => {
  const logs: Array<string> = []
  return use(logs).pipe(
    Effect.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => logs.push(line))])),
    Effect.provideService(References.MinimumLogLevel, "Trace")
  )
}

/** What the reference server has to do over either transport. */
const usesEverything = Effect.fnUntraced(function* (
  connection: Connected & { readonly notices: ReadonlyArray<unknown> },
  alias: string
) {
  assert.deepStrictEqual(connection.notices, [])
  const names = connection.tools.map(({ tool }) => tool.name)
  assert.includeMembers(names, [`mcp__${alias}__echo`, `mcp__${alias}__get-sum`, `mcp__${alias}__get-tiny-image`])
  const sum = find(connection, `mcp__${alias}__get-sum`)
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

  assert.deepStrictEqual(yield* call(connection, `mcp__${alias}__echo`, { message: "漢字🎉" }), {
    status: "completed",
    text: "Echo: 漢字🎉",
    content: [textContent("Echo: 漢字🎉")]
  })
  const image = yield* call(connection, `mcp__${alias}__get-tiny-image`)
  const shown = image.content.flatMap((item) => (item.type === "content" ? [item.content] : []))
  assert.deepStrictEqual(
    shown.map(({ type }) => type),
    ["text", "image", "text"]
  )
  assert.include(image.text, "[image, image/png, ")
  assert.isTrue(shown.some((item) => item.type === "image" && item.data.startsWith("iVBORw0KGgo")))
  const structured = yield* call(connection, `mcp__${alias}__get-structured-content`, { location: "New York" })
  assert.deepStrictEqual(Object.keys(Object(structured.rawOutput)).sort(), ["conditions", "humidity", "temperature"])
  const links = yield* call(connection, `mcp__${alias}__get-resource-links`, { count: 2 })
  assert.include(links.text, "[resource ")
  const wrong = yield* call(connection, `mcp__${alias}__get-sum`, { a: "x" })
  assert.strictEqual(wrong.status, "failed")
  assert.include(wrong.text, "get-sum")
})

describe("McpManager", () => {
  it.effect("without servers nothing is loaded or started", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* connect(), { tools: [], notices: [] })
    }).pipe(Effect.provide(manager))
  )

  describe("the reference server", () => {
    it.live("over stdio", () =>
      Effect.gen(function* () {
        yield* usesEverything(yield* connect(stdio("every thing!", [everything, "stdio"])), "every_thing")
      }).pipe(Effect.scoped, Effect.provide(manager))
    )

    it.live("over Streamable HTTP", () =>
      Effect.gen(function* () {
        const { url } = yield* everythingOver("streamableHttp")
        yield* usesEverything(yield* connect(http(url)), "remote")
      }).pipe(Effect.scoped, Effect.provide(manager))
    )

    it.live("over the older HTTP with events, named or found", () =>
      Effect.gen(function* () {
        const { url } = yield* everythingOver("sse")
        yield* usesEverything(yield* connect(sse(url)), "remote")
        const found = yield* connect(http(url))
        yield* usesEverything(found, "remote")
        assert.deepInclude((yield* found.status)[0], { transport: "sse", state: "ready", revision: "2025-11-25" })
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  })

  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const) {
    it.live(`a server that speaks only ${revision}`, () =>
      Effect.gen(function* () {
        const url = yield* OldServer.address
        const connection = yield* connect(stdio("local", [oldServer, revision]), http(url))
        assert.deepStrictEqual(connection.notices, [])
        assert.include((yield* call(connection, "mcp__local__greet", { name: "Ada" })).text, "Hello Ada")
        assert.include((yield* call(connection, "mcp__remote__greet", { name: "Ada" })).text, "Hello Ada")
        for (const status of yield* connection.status) {
          assert.deepInclude(status, { state: "ready", revision, software: "old 1.0.0" })
        }
      }).pipe(Effect.scoped, Effect.provide([manager, OldServer.layerHttp(revision)]))
    )
  }

  it.live("servers inherit a sane environment without our secrets, and their own variables (F101)", () =>
    Effect.gen(function* () {
      const connection = yield* connect(stdio("odd", [oddFile], { K: "V", PATH: "/own/path" }))
      const { cwd, env } = yield* where(connection)
      assert.strictEqual(cwd, join(import.meta.dirname, "../support/mcp"))
      assert.deepInclude(env, { K: "V", PATH: "/own/path", HOME: home })
      assert.notInclude(Object.values(env), modelKey)
      assert.isUndefined(env["ANTHROPIC_API_KEY"])
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("a server that cannot be used is a notice, and the others work (MCP-04)", () =>
    withLogs((logs) =>
      Effect.gen(function* () {
        const connection = yield* connect(
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
        const told = connection.notices.map(
          ({ description = "", severity, title }) => `${severity} ${title} ${description}`
        )
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
        assert.lengthOf(told, 8)
        assert.strictEqual((yield* call(connection, "mcp__good__fail")).text, "that went wrong")
        assert.notInclude([...told, ...logs].join("\n"), secret)
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  )

  it.live("noise and floods do no harm, and reach the log without secrets (MCP-08)", () =>
    withLogs((logs) =>
      Effect.gen(function* () {
        const connection = yield* connect(odd("odd", "noisy", "floods", "pings"))
        assert.strictEqual((yield* call(connection, "mcp__odd__fail")).status, "failed")
        assert.isTrue(logs.some((line) => line.includes("Server is ready, token <redacted>")))
        assert.isBelow(logs.filter((line) => line.includes("xxxx")).length, 1_001)
        assert.notInclude(logs.join("\n"), secret)
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  )

  it.live("floods of output, of messages and of one line without an end are bounded", () =>
    withLogs((logs) =>
      Effect.gen(function* () {
        const connection = yield* connect(odd("odd", "floods-output", "chatter", "endless-line"))
        assert.strictEqual((yield* call(connection, "mcp__odd__chatter")).text, "said it all")
        const endless = yield* call(connection, "mcp__odd__endless-line")
        assert.include(endless.text, "sent a message of more than 16777216 characters")
        assert.isBelow(logs.length, 2_100)
        yield* connection.now
        assert.lengthOf(connection.notices, 2)
      }).pipe(Effect.scoped, Effect.provide(manager))
    )
  )

  it.live("a server that dies in a call fails that call and later ones, and no other server", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd"), odd("other"))
      const [died, other] = yield* Effect.all(
        [call(connection, "mcp__odd__die"), call(connection, "mcp__other__fail")],
        {
          concurrency: 2
        }
      )
      assert.deepInclude(died, {
        status: "failed",
        text: 'The MCP server "odd" ended with exit code 1; its last words: out of memory.'
      })
      assert.strictEqual(other.text, "that went wrong")
      const again = yield* call(connection, "mcp__odd__fail")
      assert.strictEqual(again.text, "that went wrong", "it is started again by itself")
      yield* connection.now
      assert.deepStrictEqual(connection.notices, [])
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("an interrupted call is withdrawn from the server", () =>
    withLogs((logs) =>
      Effect.gen(function* () {
        const connection = yield* connect(odd("odd"))
        const fiber = yield* Effect.forkChild(call(connection, "mcp__odd__hang"))
        yield* call(connection, "mcp__odd__fail")
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
      const strange = yield* call(connection, "mcp__odd__odd")
      assert.include(strange.text, '[content of an unknown kind] {"type":"hologram","depth":3}')
      assert.deepStrictEqual(strange.rawOutput, { a: [1] })
      assert.strictEqual((yield* call(connection, "mcp__odd__secret")).text, "the token is <redacted> in production")
      const refused = yield* Effect.flip(find(connection, "mcp__odd__where").prepare([1], workspace))
      assert.include(refused.message, "must be a JSON object")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("names fit the model, and never meet", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("a"), odd("a"), odd("a__"), odd("long ".repeat(20)), odd("日本"))
      const names = connection.tools.map(({ tool }) => tool.name)
      assert.strictEqual(new Set(names).size, 5 * 8)
      for (const name of names) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
      assert.includeMembers(names, [
        "mcp__a__where",
        "mcp__a_2__where",
        "mcp__a_3__where",
        "mcp__a__a_b_c",
        "mcp__server__where"
      ])
      const prepared = yield* find(connection, "mcp__a__a_b_c").prepare(undefined, workspace)
      assert.deepStrictEqual(prepared.access, { _tag: "Mcp", server: "a", tool: "a.b c" })
      assert.deepStrictEqual(prepared.preview, [])
      assert.strictEqual((yield* call(connection, "mcp__a__a_b_c")).text, "odd name")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("a server that pages for ever is cut off", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd", "endless"))
      assert.strictEqual(connection.tools.length, 1, "one that comes again is no other")
      assert.match(connection.notices[0]?.description ?? "", /only 1 of its tools are used, because it has too many/)
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
            const kind = yield* where(connection, "mcp__kind__where")
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
      const one = yield* connect(stdio("same", [oddFile], { WHO: "one" }))
      const two = yield* connect(stdio("same", [oddFile], { WHO: "two" }))
      const [first, second] = [yield* where(one, "mcp__same__where"), yield* where(two, "mcp__same__where")]
      assert.deepStrictEqual([first.env["WHO"], second.env["WHO"]], ["one", "two"])
      assert.notStrictEqual(first.pid, second.pid)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})
