import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { join } from "node:path"
import { forPeople, levelOf } from "../../src/cli/Logging.ts"
import { start } from "../support/Program.ts"
import { root } from "../support/Sources.ts"

describe("Logging", () => {
  for (const [value, level] of [
    [undefined, "Warn"],
    ["", "Warn"],
    ["0", "Warn"],
    ["false", "Warn"],
    ["1", "Info"],
    ["true", "Info"],
    ["yes", "Info"],
    ["debug", "Debug"],
    ["TRACE", "Trace"],
    ["warning", "Warn"],
    ["error", "Error"],
    ["none", "None"]
  ] as const) {
    it(`SUPER_PI_LOG_STDERR=${value ?? "(unset)"} means ${level}`, () => {
      assert.strictEqual(levelOf(value), level)
    })
  }

  it.effect("speaks to a person in a line, and tells why", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>((options) => void lines.push(forPeople(options)))
      yield* Effect.logWarning("config.toml:3: x is not read").pipe(
        Effect.andThen(Effect.logError("It ended", { code: 3 })),
        Effect.andThen(Effect.logFatal("A turn died", Cause.die(new Error("because")))),
        Effect.provide(Logger.layer([logger]))
      )
      assert.strictEqual(lines[0], "warning: config.toml:3: x is not read")
      assert.strictEqual(lines[1], 'error: It ended {"code":3}')
      assert.match(lines[2] ?? "", /^error: A turn died\nError: because/)
    })
  )

  it.live("neither waits for a reader of stderr nor keeps all that it would read (F119)", () =>
    Effect.gen(function* () {
      const child = yield* start([], { bin: join(root, "test/support/flood.ts") })
      const said = yield* Effect.callback<string>((resume) => {
        child.stdout.once("data", (text) => resume(Effect.succeed(String(text))))
      })
      assert.isBelow(Number(said), 1.1 * 2 ** 20)
    })
  )
})
