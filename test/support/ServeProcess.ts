/** `agent serve` as a person starts it, and a client over a bare WebSocket. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type ClientOptions, WebSocket } from "ws"
import type { ScriptStep } from "../../src/services/models/script/Script.ts"
import { type Ended, ended, folder, start } from "./Program.ts"
import { at } from "./Schema.ts"
import { makeSignal } from "./signal.ts"

type Json = Schema.Json

/** Long enough not to be complained about. */
export const secret = "a-secret-0f-this-test"

export interface ServeOptions {
  /** Flags behind `serve`; without `--bind` among them it is any free port of the loopback. */
  readonly flags?: ReadonlyArray<string>
  /** Flags in front of it. */
  readonly agentFlags?: ReadonlyArray<string>
  readonly steps?: ReadonlyArray<ScriptStep>
  readonly config?: string
  /** Folder of settings and sessions. */
  readonly home?: string
  readonly env?: Record<string, string>
}

export interface Served {
  readonly child: ChildProcessWithoutNullStreams
  readonly pid: number
  readonly host: string
  readonly port: number
  readonly ws: string
  readonly http: string
  readonly stderr: () => string
  readonly said: (text: string) => Effect.Effect<void>
  /** Sends a signal and waits for the end. */
  readonly stop: (signal?: NodeJS.Signals) => Effect.Effect<Ended>
}

/** Starts it, and waits until it says where it listens. */
export const serve = Effect.fnUntraced(function* (
  options: ServeOptions = {}
): Effect.fn.Return<Served, never, Scope.Scope> {
  const { agentFlags = [], config, env, flags = [], home = yield* folder, steps } = options
  mkdirSync(home, { recursive: true })
  if (config !== undefined) writeFileSync(join(home, "config.toml"), config)
  const script = join(home, "script.json")
  if (steps !== undefined) writeFileSync(script, JSON.stringify({ steps }))
  const model = steps === undefined ? [] : ["--model", `scripted/${script}`]
  const bind = flags.includes("--bind") ? [] : ["--bind", "127.0.0.1:0"]
  const child = yield* start(["agent", ...agentFlags, ...model, "serve", ...bind, ...flags], {
    env: { SUPERCHARGE_AGENT_SECRET: secret, SUPERCHARGE_HOME: home, ...env }
  })
  child.stdin.end()
  const { changed, until } = makeSignal()
  let stderr = ""
  let over = false
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
    changed()
  })
  child.on("close", () => {
    over = true
    changed()
  })
  const end = yield* Effect.forkScoped(ended(child), { startImmediately: true })
  const place = () => /serves ACP on (\S+):(\d+)\n[\s\S]*\n[\s\S]*\n/.exec(stderr)
  yield* until(() => place() !== null || over)
  const [, host = "", digits = ""] = place() ?? assert.fail(`It did not start: ${stderr}`)
  const port = Number(digits)
  const isSecure = stderr.includes("wss://")
  return {
    child,
    pid: child.pid ?? 0,
    host,
    port,
    ws: `${isSecure ? "wss" : "ws"}://127.0.0.1:${port}`,
    http: `${isSecure ? "https" : "http"}://127.0.0.1:${port}`,
    stderr: () => stderr,
    said: (text) => until(() => stderr.includes(text)),
    stop: (signal = "SIGTERM") =>
      Effect.suspend(() => {
        child.kill(signal)
        return Fiber.join(end)
      })
  }
})

export interface BareClient {
  readonly socket: WebSocket
  /** All that came. */
  readonly messages: ReadonlyArray<Json>
  readonly send: (message: object | string | Uint8Array) => Effect.Effect<void>
  /** Sends a request; the answer, error or result. */
  readonly request: (method: string, params?: object) => Effect.Effect<Json>
  /** Waits for a message. */
  readonly find: (fits: (message: Json) => boolean) => Effect.Effect<Json>
  /** Waits for the end: its code and reason. */
  readonly closed: Effect.Effect<readonly [number, string]>
}

let ids = 0

/** Connects; the socket is gone with the scope. */
export const connect = Effect.fnUntraced(function* (
  url: string,
  options: ClientOptions & { readonly protocols?: Array<string> } = {}
): Effect.fn.Return<BareClient, never, Scope.Scope> {
  const { protocols = [], ...rest } = options
  const { changed, until } = makeSignal()
  const messages: Array<Json> = []
  let end: readonly [number, string] | undefined
  const socket = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = new WebSocket(url, protocols, rest)
      socket.on("message", (data) => {
        messages.push(JSON.parse(data.toString()))
        changed()
      })
      socket.on("close", (code, reason) => {
        end = [code, reason.toString()]
        changed()
      })
      await once(socket, "open")
      socket.on("error", () => {})
      return socket
    }),
    (socket) => Effect.sync(() => socket.terminate())
  )
  const send: BareClient["send"] = (message) =>
    Effect.sync(() =>
      socket.send(typeof message === "string" || message instanceof Uint8Array ? message : JSON.stringify(message))
    )
  const find: BareClient["find"] = (fits) =>
    Effect.map(
      until(() => messages.some(fits) || end !== undefined),
      () => messages.find(fits) ?? assert.fail(`The connection ended: ${JSON.stringify(end)}`)
    )
  return {
    socket,
    messages,
    send,
    find,
    request: (method, params = {}) =>
      Effect.suspend(() => {
        const id = `bare-${ids++}`
        return Effect.andThen(
          send({ jsonrpc: "2.0", id, method, params }),
          find((message) => at(message, "id") === id && at(message, "method") === undefined)
        )
      }),
    closed: Effect.map(
      until(() => end !== undefined),
      () => end ?? assert.fail("no end")
    )
  }
})

/** A connection with the secret of the header, that has been initialized. */
export const client = Effect.fnUntraced(function* ({ ws }: Served, path = "/ws") {
  const bare = yield* connect(`${ws}${path}`, { headers: { authorization: `Bearer ${secret}` } })
  yield* bare.request("initialize", { protocolVersion: 1 })
  return bare
})

/** Opens a session; its id. */
export const opened = (bare: BareClient, cwd: string): Effect.Effect<string> =>
  Effect.map(bare.request("session/new", { cwd, mcpServers: [] }), (answer) => {
    const id = at(answer, "result", "sessionId")
    return typeof id === "string" ? id : assert.fail(JSON.stringify(answer))
  })

export const prompt = (sessionId: string, text = "Go") => ({
  jsonrpc: "2.0",
  id: "prompt",
  method: "session/prompt",
  params: { sessionId, prompt: [{ type: "text", text }] }
})

/** The text of a chunk of the agent's message. */
export const chunkOf = (message: Json): unknown =>
  at(message, "params", "update", "sessionUpdate") === "agent_message_chunk"
    ? at(message, "params", "update", "content", "text")
    : undefined
