/** The built program in a terminal of its own: what a person would see of it, and type into it. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { bin, folder, node } from "./Program.ts"
import { join } from "node:path"
import { makeSignal } from "./signal.ts"

/** Runs a command in a pseudo-terminal of 100 columns, whose other end is standard input and output; ends as it ends. */
const script = `
import os, pty, sys
status = pty.spawn(["sh", "-c", "stty cols 100 rows 40; exec \\"$@\\"", "sh"] + sys.argv[1:])
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
`

export interface Terminal {
  /** All that was shown so far, without what moves the cursor and colours. */
  readonly text: () => string
  /** The same as it came. */
  readonly raw: () => string
  /** Waits until this was shown, behind what was waited for before. */
  readonly shows: (what: string) => Effect.Effect<void>
  readonly type: (keys: string) => Effect.Effect<void>
  readonly ended: Effect.Effect<number>
  readonly home: string
}

export const keys = { enter: "\r", down: "\u001b[B", interrupt: "\u0003" }

// eslint-disable-next-line no-control-regex
const control = /\u001b\[[0-9;?]*[A-Za-z]|\u001b[()][A-Z0-9]|\u0007|\r/g

export const open = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  options: { readonly home?: string; readonly env?: Record<string, string> } = {}
) {
  const place = yield* folder
  const home = options.home ?? join(place, ".supercharge")
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const ended = yield* Deferred.make<number>()
  const { changed, until } = makeSignal()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn("python3", ["-c", script, node, bin, ...args], {
        cwd: place,
        env: { ...inherited, HOME: place, SUPERCHARGE_HOME: home, TERM: "xterm", NO_COLOR: "1", ...options.env }
      })
    ),
    // The end of its terminal is a signal to the program.
    (process) => Effect.sync(() => process.kill("SIGKILL"))
  )
  let raw = ""
  let read = 0
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    raw += text
    changed()
  })
  child.on("close", (code) => Deferred.doneUnsafe(ended, Effect.succeed(code ?? -1)))
  const text = () => raw.replaceAll(control, "")
  return {
    home,
    raw: () => raw,
    text,
    shows: (what) =>
      Effect.map(
        until(() => text().includes(what, read)),
        () => {
          read = text().indexOf(what, read) + what.length
        }
      ),
    type: (typed) => Effect.sync(() => child.stdin.write(typed)),
    ended: Deferred.await(ended)
  } satisfies Terminal
})
