import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { setImmediate, setTimeout } from "node:timers/promises"
import { describeServers } from "../../../src/services/mcp/McpDescription.ts"
import {
  begin,
  call,
  connect,
  eventually,
  everythingOver,
  find,
  http,
  manager,
  odd,
  oddFile,
  secret,
  stdio,
  wanted
} from "../../support/mcp/session.ts"

/** Moves the clock of the test, and gives real processes their time. */
const pass = (time: Duration.Input) =>
  Effect.andThen(
    TestClock.adjust(time),
    Effect.promise(() => setImmediate())
  )

describe("a server that is slow", () => {
  it.effect("is waited for at the first use for ten seconds, by default, and not longer", () =>
    Effect.gen(function* () {
      const connection = yield* begin([wanted(odd("odd", "hangs"))])
      const fiber = yield* Effect.forkChild(connection.tools, { startImmediately: true })
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(fiber), [])
      assert.deepStrictEqual(
        connection.notices.map(({ title }) => title),
        ['The MCP server "odd" is not ready yet']
      )
      assert.deepStrictEqual(yield* connection.tools, [], "later requests wait for nothing")
      assert.lengthOf(connection.notices, 1, "and nothing is told twice")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.effect("may have more time, or less, by its settings", () =>
    Effect.gen(function* () {
      const patient = yield* begin([wanted(odd("odd", "hangs"), { startupTimeout: Duration.minutes(2) })])
      const fiber = yield* Effect.forkChild(patient.tools, { startImmediately: true })
      yield* TestClock.adjust("119 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      const hasty = yield* begin([wanted(odd("odd", "hangs"), { startupTimeout: Duration.seconds(1) })])
      const other = yield* Effect.forkChild(hasty.tools, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(other)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.effect("is given up in the end, after a few attempts", () =>
    Effect.gen(function* () {
      const connection = yield* begin([wanted(odd("odd", "hangs"))])
      const seen = new Set<string>()
      while (!seen.has("failed")) {
        yield* pass("5 seconds")
        for (const { state } of yield* connection.status) seen.add(state)
      }
      assert.deepStrictEqual([...seen], ["connecting", "waiting", "failed"])
      yield* connection.tools
      assert.match(
        connection.notices[0]?.description ?? "",
        /^It did not get ready within 30s\. The session goes on without its tools; correct the server's settings/
      )
      const passed = yield* Clock.currentTimeMillis
      assert.closeTo(passed, 6 * 30_000 + 31_000, 15_000)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.effect("joins when it is ready, and that is told", () =>
    Effect.gen(function* () {
      const connection = yield* begin([wanted(stdio("late", [oddFile, "late"], { ODD_DELAY: "300" }))])
      const first = yield* Effect.forkChild(connection.tools, { startImmediately: true })
      yield* pass("10 seconds")
      assert.deepStrictEqual(yield* Fiber.join(first), [])
      while ((yield* connection.status)[0]?.state !== "ready") yield* Effect.promise(() => setTimeout(10))
      assert.isAbove((yield* connection.tools).length, 0)
      assert.deepStrictEqual(
        connection.notices.map(({ severity, title }) => `${severity} ${title}`),
        ['warning The MCP server "late" is not ready yet', 'info The MCP server "late" is ready now']
      )
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("that gets ready after the first use brings its tools to the next one", () =>
    Effect.gen(function* () {
      const connection = yield* begin([wanted(stdio("late", [oddFile, "late"], { ODD_DELAY: "500" }))])
      const early = yield* Effect.timeoutOption(connection.tools, "50 millis")
      assert.strictEqual(early._tag, "None")
      const tools = yield* connection.tools
      assert.isAbove(tools.length, 0)
      assert.deepStrictEqual(connection.notices, [])
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})

describe("a server that is lost", () => {
  it.live("is started again; its tools stay, and calls wait for it", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd"))
      assert.strictEqual((yield* call(connection, "mcp__odd__die")).status, "failed")
      const [status] = yield* connection.status
      assert.deepInclude(status, { state: "waiting", problem: "ended with exit code 1; its last words: out of memory" })
      assert.lengthOf(yield* connection.now, connection.tools.length)
      assert.deepStrictEqual(
        connection.notices.map(({ description, title }) => [title, description]),
        [
          [
            'The MCP server "odd" was lost',
            "It ended with exit code 1; its last words: out of memory. The session goes on; connecting to it is tried again."
          ]
        ]
      )
      assert.strictEqual((yield* call(connection, "mcp__odd__fail")).text, "that went wrong")
      yield* connection.now
      assert.strictEqual(connection.notices[1]?.title, 'The MCP server "odd" is ready now')
      assert.lengthOf(connection.notices, 2)
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("behind HTTP comes back with a new session when it was started again", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { port, url } = yield* Scope.provide(everythingOver("streamableHttp"), scope)
      const connection = yield* connect(http(url))
      yield* Scope.close(scope, Exit.void)
      yield* eventually(Effect.map(connection.status, ([status]) => status?.state === "waiting"))
      assert.match((yield* connection.status)[0]?.problem ?? "", /^cannot be reached at http:\/\/127\.0\.0\.1:\d+: /)
      yield* everythingOver("streamableHttp", port)
      assert.strictEqual((yield* call(connection, "mcp__remote__echo", { message: "b" })).text, "Echo: b")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("and needs other settings is not tried again", () =>
    Effect.gen(function* () {
      const missing = { _tag: "Stdio", name: "missing", command: "no-such-program", args: [], env: [] } as const
      const connection = yield* connect(missing)
      const [status] = yield* connection.status
      assert.strictEqual(status?.state, "failed")
      assert.include(connection.notices[0]?.description ?? "", "correct the server's settings")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})

describe("tools that change", () => {
  it.live("are there at the next use, under the names that they had (tools/list_changed)", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd", "grow"))
      assert.isFalse(connection.tools.some(({ tool }) => tool.name === "mcp__odd__grown"))
      yield* call(connection, "mcp__odd__grow")
      const tools = yield* connection.now
      assert.deepStrictEqual(
        tools.map(({ tool }) => tool.name),
        [...connection.tools.map(({ tool }) => tool.name), "mcp__odd__grown"]
      )
      assert.strictEqual((yield* call({ tools }, "mcp__odd__grown")).text, "grown up")
      assert.strictEqual((yield* call(connection, "mcp__odd__fail")).text, "that went wrong", "old ones work on")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.effect("hold up the next use for two seconds when they do not come, and no other one", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd", "grow", "lists-once"))
      yield* call(connection, "mcp__odd__grow")
      const fiber = yield* Effect.forkChild(connection.now, { startImmediately: true })
      yield* pass("1999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* pass("1 millis")
      const names = connection.tools.map(({ tool }) => tool.name)
      assert.deepStrictEqual(
        (yield* Fiber.join(fiber)).map(({ tool }) => tool.name),
        names
      )
      assert.lengthOf(yield* connection.now, names.length, "without time going by")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})

describe("noise on standard output", () => {
  it.live("is left out, and the server named, once", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd", "noisy"))
      assert.strictEqual((yield* call(connection, "mcp__odd__fail")).text, "that went wrong")
      yield* connection.now
      assert.deepStrictEqual(
        connection.notices.map(({ description, title }) => `${title}: ${description}`),
        [
          'The MCP server "odd" writes to its standard output what is no message: That is left out, such as: ' +
            "Server is ready, token <redacted>. Have it write to standard error instead."
        ]
      )
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})

describe("the servers in words", () => {
  it("say what is there, and what to do where nothing is", () => {
    assert.include(describeServers([]), "[mcp_servers.NAME]")
  })

  it.live("name state, tools and problems, and no secret", () =>
    Effect.gen(function* () {
      const connection = yield* connect(odd("odd"), odd("dead", "dies-at-once"))
      const text = describeServers(yield* connection.status)
      assert.include(text, "- **odd**: ready (over stdio, from the editor, odd 1, protocol 2025-06-18)")
      assert.include(text, "`mcp__odd__where`")
      assert.include(text, "- **dead**: not connected, and tried again by itself (over stdio, from the editor)")
      assert.include(text, "It ended with exit code 3; its last words: no such account: <redacted>.")
      assert.notInclude(text, secret)
      assert.isDefined(find(connection, "mcp__odd__where"))
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})
