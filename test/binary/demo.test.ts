/** `npm run demo` as somebody sees it who tries the project first, and what it says when something is wrong. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { readdirSync } from "node:fs"
import { vi } from "vitest"
import { demo, type DemoOptions } from "../../examples/demo/Demo.ts"
import { script } from "../../examples/demo/Story.ts"
import { ended, folder } from "../support/Program.ts"
import { root } from "../support/Sources.ts"

/** Temporary folders of this process are made in one of its own. */
const temporary = Effect.tap(folder, (path) =>
  Effect.acquireRelease(
    Effect.sync(() => vi.stubEnv("TMPDIR", path)),
    () => Effect.sync(() => vi.unstubAllEnvs())
  )
)

/** What it left behind; npm keeps compiled code of its own in the same place. */
const left = (path: string) => readdirSync(path).filter((name) => name.startsWith("super-pi"))

const makeController = () => new AbortController()

/** Plays it here; gives what was wrong, and what was written until then. */
const failing = Effect.fnUntraced(function* (options: Partial<DemoOptions>) {
  const path = yield* temporary
  const lines: Array<string> = []
  const playing = Effect.tryPromise({
    try: () =>
      demo({
        write: (line) => lines.push(line),
        colours: false,
        signal: makeController().signal,
        ...options
      }),
    catch: String
  })
  const error = yield* Effect.flip(playing)
  assert.deepStrictEqual(left(path), [])
  return { error, lines }
})

describe("npm run demo", () => {
  it.live("shows a turn from the plan to the diff, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn("npm", ["run", "--silent", "demo"], {
            cwd: root,
            env: { ...process.env, TMPDIR: path, FORCE_COLOR: "1" }
          })
        ),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      child.stdin.end()
      const { end, stderr, stdout } = yield* ended(child)
      assert.deepStrictEqual([end, stderr], [0, ""], stdout)
      assert.deepStrictEqual(left(path), [])
      assert.notInclude(stdout, "\u001b")
      let from = 0
      for (const pattern of [
        /^ +\d\.\d\d s  connected to Super-Pi \d/m,
        /^ +\d\.\d\d s  session opened in .*, mode "ask"$/m,
        /^> Three coffees/m,
        /^ +\d\.\d\d s  thinks /m,
        /\[>\] Find where the total is computed\n +\[ \] See the test fail/,
        /asks +node --test\n(.*\n){2} +\(•\) Always allow "node --test"\n/,
        /execute node --test +pending → in_progress → failed in \d/,
        /✖ a line counts as often as it was ordered/,
        /asks +Edit src\/order.js\n/,
        /^ +-export const total.*\n +\+export const total.*line\.quantity/m,
        /edit +Edit src\/order.js +src\/order.js:2 +pending → in_progress → completed in \d/,
        /execute node --test +pending → in_progress → completed in \d/,
        /✔ a line counts as often as it was ordered/,
        /\[x\] See the test pass\n/,
        /answers The total added/,
        /turn ended: end_turn/,
        /agent ended with code 0/,
        /^git diff\n(.*\n)*-export.*\n\+export.*line\.quantity/m,
        /^All of it is as it should be\.$/m
      ]) {
        const found = pattern.exec(stdout.slice(from))
        if (found === null) return assert.fail(`${pattern} is missing, or out of order, in\n${stdout}`)
        from += found.index
      }
      for (const search of [/search +Search "total" in src/, /read +Read src\/order.js/]) assert.match(stdout, search)
    })
  )

  it.live("says that the program cannot be run", () =>
    Effect.gen(function* () {
      const { error } = yield* failing({ program: "/nonexistent/super-pi" })
      assert.include(error, "the program cannot run")
    })
  )

  it.live("says that the program ended too early, and what it said last", () =>
    Effect.gen(function* () {
      const { error, lines } = yield* failing({ program: "/bin/ls" })
      assert.include(error, "closed")
      assert.include(lines.join("\n"), "The agent said on stderr")
    })
  )

  it.live("says what did not happen as it should have", () =>
    Effect.gen(function* () {
      const steps = script.steps.filter(({ parts }) => !JSON.stringify(parts).includes("old_string"))
      const { error } = yield* failing({ model: { steps } })
      assert.include(error, "the kinds of the tool calls should be")
    })
  )

  it.live("can be interrupted", () =>
    Effect.gen(function* () {
      const interrupt = yield* Effect.sync(makeController)
      const { error } = yield* failing({
        signal: interrupt.signal,
        write: (line) => line.includes("session opened") && interrupt.abort(new Error("stopped by hand"))
      })
      assert.include(error, "stopped by hand")
    })
  )
})
