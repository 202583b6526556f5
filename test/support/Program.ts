/** The built program as a person or an editor starts it, with a home of its own. */
import * as Effect from "effect/Effect"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "./Sources.ts"

export const bin = join(root, "bin", "super-pi")

/** The Node that the project installs, and the one of the machine, which may be older than what the program needs. */
export const node = join(root, "node_modules", "node", "bin", "node")

export interface Options {
  /** The program to run: the newest Node unless told. */
  readonly node?: string
  readonly env?: Record<string, string>
  readonly bin?: string
  /** Where it runs; default: a home of its own. */
  readonly cwd?: string
}

export interface Ended {
  /** The exit code, or the signal's name. */
  readonly end: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

export interface Answer {
  readonly id: number
  readonly method?: string
  readonly result?: Record<string, unknown>
}

/** A folder that goes with the scope. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "super-pi-test-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Starts it; it is killed with the scope if it still lives then. */
export const start = Effect.fnUntraced(function* (args: ReadonlyArray<string>, options: Options = {}) {
  const home = yield* folder
  const { NODE_OPTIONS: _, ...inherited } = process.env
  return yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(options.node ?? node, [options.bin ?? bin, ...args], {
        cwd: options.cwd ?? home,
        env: { ...inherited, HOME: home, SUPERCHARGE_HOME: join(home, ".supercharge"), ...options.env }
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
})

/** Waits for the end of a started program, and for all that it said. */
export const ended = (child: ChildProcessWithoutNullStreams): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text))
    child.on("close", (code, signal) => resume(Effect.succeed({ end: code ?? signal ?? -1, stdout, stderr })))
  })

/** Runs it to its end on an empty input. */
export const run = (args: ReadonlyArray<string>, options?: Options): Effect.Effect<Ended> =>
  Effect.scoped(
    Effect.flatMap(start(args, options), (child) => {
      child.stdin.end()
      return ended(child)
    })
  )

/** Writes a request and waits for its answer; what comes before that is left out. */
export const ask = (child: ChildProcessWithoutNullStreams, request: { readonly id: number }): Effect.Effect<Answer> =>
  Effect.callback((resume) => {
    let text = ""
    const take = (chunk: Buffer): void => {
      text += chunk.toString("utf8")
      const answer = text
        .split("\n")
        .slice(0, -1)
        .map((line): Answer => JSON.parse(line))
        .find(({ id, method }) => id === request.id && method === undefined)
      if (answer === undefined) return
      child.stdout.off("data", take)
      resume(Effect.succeed(answer))
    }
    child.stdout.on("data", take)
    tell(child, request)
  })

/** Writes a message and waits for nothing. */
export const tell = (child: ChildProcessWithoutNullStreams, message: object): void => {
  child.stdin.write(`${JSON.stringify(message)}\n`)
}

export const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: 1, clientCapabilities: {} }
}
