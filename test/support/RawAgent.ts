/**
 * The built program, driven line by line as an editor does that has no library. Every line that it writes is judged by
 * the official schema, and every process that it was is ended with the scope.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { StringDecoder } from "node:string_decoder"
import type { ScriptStep } from "../../src/services/models/script/Script.ts"
import { bin, folder, node } from "./Program.ts"
import { isObject, makeOracle } from "./Schema.ts"
import { root } from "./Sources.ts"

type Json = Schema.Json
export type JsonObject = Schema.JsonObject

export type Reply = { readonly result: Json } | { readonly error: Json }

export interface Options {
  /** What the model answers. Without it the settings decide. */
  readonly steps?: ReadonlyArray<ScriptStep>
  /** The text of `config.toml`. */
  readonly config?: string
  /** Arguments behind `acp`. */
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Folder of settings and sessions; give the one of an earlier process to start "the next day". */
  readonly home?: string
  /** Where the process is started. */
  readonly cwd?: string
  /** How its requests are answered at once; `undefined` leaves one open. */
  readonly onRequest?: (method: string, params: JsonObject) => Reply | undefined
  /** The program and all of its arguments, to start it in another way. */
  readonly command?: readonly [string, ...ReadonlyArray<string>]
}

export interface Answer {
  readonly result: JsonObject
  readonly error: JsonObject | undefined
}

export interface Asked {
  readonly id: Json
  readonly answer: Effect.Effect<Answer>
}

export interface RawAgent {
  readonly pid: number
  readonly home: string
  /** Every line so far, in order; it grows. */
  readonly seen: ReadonlyArray<JsonObject>
  /** What it wrote to stderr so far. */
  readonly stderr: () => string
  /** Bytes that it wrote to stdout so far. */
  readonly bytes: () => number
  readonly write: (data: string | Uint8Array) => Effect.Effect<void>
  /** All messages in one write. */
  readonly send: (...messages: ReadonlyArray<Json>) => Effect.Effect<void>
  readonly ask: (method: string, params?: Json) => Effect.Effect<Asked>
  /** Asks, and waits for the answer. */
  readonly request: (method: string, params?: Json) => Effect.Effect<Answer>
  /** As `request`, for what must succeed. */
  readonly ok: (method: string, params?: Json) => Effect.Effect<JsonObject>
  readonly notify: (method: string, params?: Json) => Effect.Effect<void>
  /** The first line, past or future, of which `find` makes something. */
  readonly until: <A>(what: string, find: (message: JsonObject) => A | undefined) => Effect.Effect<A>
  readonly answerOf: (id: Json) => Effect.Effect<Answer>
  readonly reply: (id: Json, result: Json) => Effect.Effect<void>
  readonly pause: () => void
  readonly resume: () => void
  readonly closeInput: Effect.Effect<void>
  /** The exit code, or the signal's name. */
  readonly ended: Effect.Effect<number | NodeJS.Signals>
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
}

/** Long enough for a busy machine; a wait that takes longer is over. */
export const PATIENCE = "20 seconds"

/** Compiled code of the program, shared by all processes of all tests. */
const compiled = join(root, "node_modules", ".cache", "compiled")

const prepare = (home: string, { config, steps }: Options): ReadonlyArray<string> => {
  mkdirSync(home, { recursive: true })
  if (config !== undefined) writeFileSync(join(home, "config.toml"), config)
  if (steps === undefined) return []
  const script = join(home, "script.json")
  writeFileSync(script, JSON.stringify({ steps }))
  return ["--model", `scripted/${script}`]
}

const launch = (home: string, cwd: string, options: Options) => {
  const model = prepare(home, options)
  const [program, ...args] = options.command ?? [node, bin, "acp", ...model, ...(options.args ?? [])]
  const { LANG, PATH, TMPDIR } = process.env
  const env = { LANG, PATH, TMPDIR, HOME: cwd, SUPERCHARGE_HOME: home, NODE_COMPILE_CACHE: compiled, ...options.env }
  return spawn(program, args, { cwd: options.cwd ?? cwd, env })
}

/** Starts it without saying anything. */
export const start = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<RawAgent, never, Scope.Scope> {
  const place = yield* folder
  const home = options.home ?? join(place, ".supercharge")
  const oracle = makeOracle()
  const problems: Array<string> = []
  const seen: Array<JsonObject> = []
  const watchers = new Set<() => void>()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => launch(home, place, options)),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => assert.deepStrictEqual(problems.slice(0, 5), [])))

  let stderr = ""
  let bytes = 0
  let end: number | NodeJS.Signals | undefined
  let sent = ""
  let next = 0
  const wake = () => {
    for (const watcher of watchers) watcher()
  }

  child.stdin.on("error", () => {})
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
  })
  child.on("close", (code, signal) => {
    end = code ?? signal ?? -1
    wake()
  })

  const receive = (line: string): void => {
    problems.push(...oracle.received(line))
    const message: Json = JSON.parse(line)
    if (!isObject(message)) return
    seen.push(message)
    const { id, method, params = {} } = message
    if (id === undefined || typeof method !== "string" || !isObject(params)) return
    const reply = options.onRequest?.(method, params)
    if (reply !== undefined) put(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`)
  }

  let rest: ReadonlyArray<Buffer> = []
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    let from = 0
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...rest, chunk.subarray(from, to)]).toString("utf8")
      rest = []
      from = to + 1
      receive(line)
    }
    rest = [...rest, chunk.subarray(from)]
    wake()
  })

  const decoder = new StringDecoder("utf8")

  /** The oracle has to know what was asked; lines that are no messages are the test's own business. */
  const note = (data: string | Uint8Array): void => {
    const lines = (sent + (typeof data === "string" ? data : decoder.write(Buffer.from(data)))).split("\n")
    sent = lines.pop() ?? ""
    for (const line of lines) oracle.sent(line)
  }

  const put = (data: string | Uint8Array, written?: () => void): void => {
    note(data)
    child.stdin.write(data, written)
  }

  const write = (data: string | Uint8Array): Effect.Effect<void> =>
    Effect.callback((resume) => put(data, () => resume(Effect.void)))

  const send = (...messages: ReadonlyArray<Json>): Effect.Effect<void> =>
    write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""))

  const tail = () => seen.slice(-5).map((message) => JSON.stringify(message).slice(0, 300))

  /** Looks again whenever a line came. The end of the process ends all hope. */
  const wait = <A>(what: string, find: () => A | undefined): Effect.Effect<A> =>
    Effect.callback<A>((resume) => {
      const look = () => {
        const found = find()
        if (found === undefined && end === undefined) return
        watchers.delete(look)
        resume(
          found === undefined
            ? Effect.die(new Error(`The agent ended (${end}) before ${what}: ${[...tail(), stderr].join("\n")}`))
            : Effect.succeed(found)
        )
      }
      watchers.add(look)
      look()
      return Effect.sync(() => watchers.delete(look))
    }).pipe(
      Effect.timeoutOrElse({
        duration: PATIENCE,
        orElse: () => Effect.die(new Error(`Waited in vain for ${what}: ${[...tail(), stderr].join("\n")}`))
      })
    )

  const until: RawAgent["until"] = (what, find) =>
    Effect.suspend(() => {
      let from = 0
      return wait(what, () => {
        while (from < seen.length) {
          const found = find(seen[from++]!)
          if (found !== undefined) return found
        }
        return undefined
      })
    })

  const answerOf = (id: Json): Effect.Effect<Answer> => {
    const text = JSON.stringify(id)
    return until(`the answer to ${text}`, (message) => {
      if (message["method"] !== undefined || JSON.stringify(message["id"]) !== text) return undefined
      const { error, result } = message
      return { result: isObject(result) ? result : {}, error: isObject(error) ? error : undefined }
    })
  }

  const ask: RawAgent["ask"] = (method, params) =>
    Effect.suspend(() => {
      const id = `r${next++}`
      return Effect.as(send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) }), {
        id,
        answer: answerOf(id)
      })
    })

  const request: RawAgent["request"] = (method, params) => Effect.flatMap(ask(method, params), ({ answer }) => answer)

  return {
    pid: child.pid ?? 0,
    home,
    seen,
    stderr: () => stderr,
    bytes: () => bytes,
    write,
    send,
    ask,
    request,
    ok: (method, params) =>
      Effect.map(request(method, params), ({ error, result }) => {
        assert.isUndefined(error, method)
        return result
      }),
    notify: (method, params) => send({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) }),
    until,
    answerOf,
    reply: (id, result) => send({ jsonrpc: "2.0", id, result }),
    pause: () => child.stdout.pause(),
    resume: () => child.stdout.resume(),
    closeInput: Effect.sync(() => child.stdin.end()),
    ended: wait("its end", () => end),
    kill: (signal) => Effect.sync(() => child.kill(signal))
  }
})
