import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { levelOf } from "../../src/cli/Logging.ts"
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
