import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { ChildProcessSpawner, make as makeSpawner } from "effect/process/ChildProcessSpawner"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import { createServer } from "node:http"
import type { HookOccasion, HookSettings } from "../../src/domain/Hook.ts"
import { SessionId } from "../../src/domain/Ids.ts"
import { Hooks, type HookSession } from "../../src/services/Hooks.ts"
import { Projects } from "../../src/services/Projects.ts"
import { Settings, type SettingsValue } from "../../src/services/Settings.ts"
import { gone, isAlive } from "../support/Processes.ts"
import { platform } from "../support/toolbox.ts"

const hook = (command: string, fields: Partial<HookSettings> = {}): HookSettings => ({
  event: "PreToolUse",
  action: { _tag: "Command", command },
  advisory: false,
  environment: {},
  source: "/home/config.toml",
  ...fields
})

const hooks = (settings: Partial<SettingsValue>) =>
  Hooks.layer({ ...process.env, MY_KEY: "a-very-secret-key" }).pipe(
    Layer.provide([Settings.layerValues(settings), Projects.layerNone]),
    Layer.provide(NodeChildProcessSpawner.layer),
    Layer.provideMerge(platform)
  )

const makeSession = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const cwd = yield* Effect.flatMap(fs.makeTempDirectoryScoped(), fs.realPath)
  return { sessionId: SessionId.make("s-1"), cwd, mode: "ask" } satisfies HookSession
})

const occasion: HookOccasion = { event: "PreToolUse", tool: "bash", callId: "c-1", input: { command: "ls" } }

const verdict = (...all: ReadonlyArray<HookSettings>) =>
  Effect.gen(function* () {
    const session = yield* makeSession
    return yield* Effect.flatMap(Hooks, (service) => service.run(session, occasion))
  }).pipe(Effect.provide(hooks({ hooks: all })))

describe("Hooks", () => {
  it.live("gives a hook the occasion, the folder and its own environment, and none of our secrets", () =>
    Effect.gen(function* () {
      const session = yield* makeSession
      const fs = yield* FileSystem.FileSystem
      const service = yield* Hooks
      const { denied } = yield* service.run(session, occasion)
      assert.isUndefined(denied)
      const told = JSON.parse(yield* fs.readFileString(`${session.cwd}/told`))
      assert.include(told, { hookEventName: "pre_tool_use", sessionId: "s-1", toolName: "bash", permissionMode: "ask" })
      assert.deepStrictEqual(told.toolInput, { command: "ls" })
      assert.strictEqual(
        yield* fs.readFileString(`${session.cwd}/environment`),
        `${session.cwd} set ${session.cwd} ${session.cwd} unset\n`
      )
    }).pipe(
      Effect.provide(
        hooks({
          hooks: [
            hook(
              'cat > told; echo "$PWD $EXTRA $SUPERCHARGE_PROJECT_DIR $CLAUDE_PROJECT_DIR ${MY_KEY-unset}" > environment',
              {
                environment: { EXTRA: Redacted.make("set") }
              }
            )
          ],
          gatewayToken: Redacted.make("a-very-secret-key")
        })
      )
    )
  )

  it.live("asks all of them, and one denial is enough", () =>
    Effect.gen(function* () {
      const { denied, problems } = yield* verdict(
        hook("exit 0"),
        hook(`echo '{"decision":"deny","reason":"first"}'`),
        hook("echo second >&2; exit 2")
      )
      assert.strictEqual(
        denied,
        "Denied by a PreToolUse hook of /home/config.toml: first\nDenied by a PreToolUse hook of /home/config.toml: second"
      )
      assert.deepStrictEqual(problems, [])
    })
  )

  for (const [what, command] of [
    ["crashes", "exit 1"],
    ["is killed", "kill -9 $$"],
    ["is not there", "/nonexistent/hook"],
    ["says what cannot be read", "echo '{\"decision\":'"]
  ] as const) {
    it.live(`one that ${what} denies, unless it is advisory`, () =>
      Effect.gen(function* () {
        const strict = yield* verdict(hook(command))
        assert.match(strict.denied ?? "", /^A PreToolUse hook of \/home\/config\.toml failed: .*mark it advisory/s)
        const lax = yield* verdict(hook(command, { advisory: true }))
        assert.isUndefined(lax.denied)
        assert.strictEqual(lax.problems.length, 1)
      })
    )
  }

  it.live("one that takes too long is ended with all that it started, and denies", () =>
    Effect.gen(function* () {
      const session = yield* makeSession
      const fs = yield* FileSystem.FileSystem
      const { denied } = yield* Effect.flatMap(Hooks, (service) => service.run(session, occasion))
      assert.include(denied ?? "", "did not end within 300ms")
      const pid = Number(yield* fs.readFileString(`${session.cwd}/pid`))
      yield* gone(pid)
    }).pipe(
      Effect.provide(hooks({ hooks: [hook("sleep 100 & echo $! > pid; wait", { timeout: Duration.millis(300) })] }))
    )
  )

  describe("the end of one", { concurrent: true }, () => {
    /** A number that the hook wrote down, once it is there. */
    const numberIn = Effect.fnUntraced(function* (path: string) {
      const fs = yield* FileSystem.FileSystem
      return yield* Effect.map(fs.readFileString(path), Number).pipe(
        Effect.filterOrFail((pid) => pid > 0),
        Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 500 }),
        Effect.orDie
      )
    })

    for (const [what, command] of [
      ["in the background", "sleep 1000 & echo $! > pid"],
      ["in a session of its own", "setsid sleep 1000 > /dev/null 2>&1 & echo $! > pid"],
      [
        "as a daemon",
        "setsid -f sh -c 'echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 1000'; until test -e pid; do :; done"
      ],
      [
        "deaf to TERM",
        `setsid sh -c 'trap "" TERM; echo $$ > pid; while :; do sleep 1; done' & until test -s pid; do :; done`
      ]
    ] as const) {
      it.live(`leaves nothing ${what}`, () =>
        Effect.gen(function* () {
          const session = yield* makeSession
          const { denied } = yield* Effect.flatMap(Hooks, (service) => service.run(session, occasion))
          assert.isUndefined(denied)
          yield* gone(yield* numberIn(`${session.cwd}/pid`))
        }).pipe(Effect.provide(hooks({ hooks: [hook(command)] })))
      )
    }

    it.live("is not waited for when the turn is cut off, however deaf it is, and comes all the same", () =>
      Effect.gen(function* () {
        const session = yield* makeSession
        const service = yield* Hooks
        const fiber = yield* Effect.forkChild(service.run(session, occasion))
        const pid = yield* numberIn(`${session.cwd}/pid`)
        const [time] = yield* Effect.timed(Fiber.interrupt(fiber))
        assert.isBelow(Duration.toMillis(time), 200)
        yield* gone(pid)
      }).pipe(Effect.provide(hooks({ hooks: [hook(`trap "" TERM; echo $$ > pid; while :; do sleep 1; done`)] })))
    )

    it.live("is waited for by the layer, so that nothing outlives the process", () =>
      Effect.gen(function* () {
        const session = yield* makeSession
        const layer = hooks({ hooks: [hook(`trap "" TERM; echo $$ > pid; setsid sleep 1000 & wait; sleep 1000`)] })
        const pid = yield* Effect.gen(function* () {
          const fiber = yield* Effect.flatMap(Hooks, (service) => Effect.forkChild(service.run(session, occasion)))
          const pid = yield* numberIn(`${session.cwd}/pid`)
          yield* Fiber.interrupt(fiber)
          return pid
        }).pipe(Effect.provide(layer))
        assert.isFalse(isAlive(pid))
      }).pipe(Effect.provide(platform))
    )

    it.live("does not wait for whoever still holds the output", () =>
      Effect.gen(function* () {
        const [time, { denied }] = yield* Effect.timed(verdict(hook('sleep 1000 & echo \'{"decision":"deny"}\'')))
        assert.include(denied ?? "", "It gave no reason")
        assert.isBelow(Duration.toMillis(time), 3_000)
      })
    )
  })

  it.live("the wish to change an input is refused once in the log, and the call goes on as it is", () => {
    const logged: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
    const output = '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"rm"}}}'
    return Effect.gen(function* () {
      const session = yield* makeSession
      const service = yield* Hooks
      for (let time = 0; time < 2; time++) {
        assert.deepStrictEqual(yield* service.run(session, occasion), { denied: undefined, problems: [] })
      }
      assert.strictEqual(logged.filter((line) => line.includes("wants to change the input")).length, 1)
    }).pipe(Effect.provide(Layer.merge(hooks({ hooks: [hook(`echo '${output}'`)] }), logger)))
  })

  it.live("one that reads nothing and writes much is no trouble", () =>
    Effect.gen(function* () {
      const much = "head -c 3000000 /dev/zero | tr '\\0' x"
      const { denied } = yield* verdict(hook(much), hook("exec <&-; exit 0"))
      assert.isUndefined(denied)
      const no = `echo '{"decision":"deny","reason":"r"}'`
      assert.match((yield* verdict(hook(`${much}; ${no}`))).denied ?? "", /: r$/)
      assert.match((yield* verdict(hook(`${no}; ${much}`))).denied ?? "", /: r$/)
    })
  )

  for (const [event, own, limit] of [
    ["PreToolUse", undefined, Duration.seconds(5)],
    ["Stop", undefined, Duration.minutes(10)],
    ["Stop", Duration.seconds(3), Duration.seconds(3)]
  ] as const) {
    it.effect(
      `a ${event} hook has ${Duration.format(limit)}${own === undefined ? " where nothing else is said" : ""}`,
      () =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const cwd = yield* fs.makeTempDirectoryScoped()
          const session: HookSession = { sessionId: SessionId.make("s-1"), cwd, mode: "ask" }
          const service = yield* Hooks
          const fiber = yield* Effect.forkChild(
            service.run(session, event === "Stop" ? { event, text: "" } : occasion),
            {
              startImmediately: true
            }
          )
          yield* TestClock.adjust(Duration.subtract(limit, Duration.millis(1)))
          assert.isUndefined(fiber.pollUnsafe())
          yield* TestClock.adjust(Duration.millis(1))
          assert.include((yield* Fiber.join(fiber)).denied ?? "", `did not end within ${Duration.format(limit)}`)
        }).pipe(
          Effect.provide(
            Hooks.layer({}).pipe(
              Layer.provide([
                Settings.layerValues({
                  hooks: [hook("true", { event, ...(own === undefined ? {} : { timeout: own }) })]
                }),
                Projects.layerNone,
                Layer.succeed(
                  ChildProcessSpawner,
                  makeSpawner(() => Effect.never)
                )
              ]),
              Layer.provideMerge(NodeFileSystem.layer)
            )
          )
        )
    )
  }

  it.live("what is over cannot be denied: a failure is only told", () =>
    Effect.gen(function* () {
      const session = yield* makeSession
      const service = yield* Hooks
      const { denied, problems } = yield* service.run(session, { event: "SessionEnd" })
      assert.isUndefined(denied)
      assert.deepStrictEqual(problems, ["A SessionEnd hook of /home/config.toml failed: it ended with exit code 3: oh"])
    }).pipe(Effect.provide(hooks({ hooks: [hook("echo oh >&2; exit 3", { event: "SessionEnd" })] })))
  )

  it.live("an address gets the occasion and answers like a command", () =>
    Effect.gen(function* () {
      const bodies: Array<string> = []
      const app = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        bodies.push(yield* request.text)
        return request.url === "/no"
          ? HttpServerResponse.text('{"decision":"deny","reason":"by mail"}')
          : HttpServerResponse.text("gone", { status: request.url === "/broken" ? 500 : 200 })
      })
      yield* HttpServer.serveEffect(app)
      const server = yield* HttpServer.HttpServer
      const base = HttpServer.formatAddress(server.address)
      const at = (path: string) => hook("", { action: { _tag: "Http", url: `${base}${path}` } })
      assert.isUndefined((yield* verdict(at("/yes"))).denied)
      assert.include((yield* verdict(at("/no"))).denied ?? "", "by mail")
      assert.include((yield* verdict(at("/broken"))).denied ?? "", "status 500")
      assert.strictEqual(JSON.parse(bodies[0] ?? "").hookEventName, "pre_tool_use")
    }).pipe(Effect.scoped, Effect.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })))
  )
})
