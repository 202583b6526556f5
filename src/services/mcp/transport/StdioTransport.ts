/**
 * An MCP server as a child process: one message a line. Lines on stdout that are no messages and everything on stderr
 * go to the log. Its end is asked for by closing stdin, then by TERM, then by KILL.
 */
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { PlatformError } from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as ChildProcess from "effect/process/ChildProcess"
import { type ChildProcessHandle, ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { McpSpec } from "../../../domain/McpSpec.ts"
import { clip } from "../../../domain/text/Clip.ts"
import * as JsonRpc from "../../../domain/wire/JsonRpc.ts"
import { spawn } from "../../sandbox/Spawn.ts"
import * as Inbox from "./Inbox.ts"
import { MAX_MESSAGE, McpFailed, type McpTransport, type Peer } from "./McpTransport.ts"
import * as Pending from "./Pending.ts"

/** For a server that ends when its input does, and then from TERM to KILL. */
const END_OF_INPUT_GRACE = Duration.millis(300)
const KILL_AFTER = Duration.millis(500)
/** For output that was written right before the end. */
const DRAIN_FOR = Duration.millis(500)

const MAX_WAITING_MESSAGES = 256
const MAX_LOG_LINE = 2_000
const MAX_LOG_LINES = 1_000
const MAX_STDERR_LINE = 64 * 1024
/** The last lines of stderr, told when the server ends unasked. */
const LAST_WORDS = 5
const MAX_LAST_WORD = 300

export interface StdioOptions {
  readonly spec: Extract<McpSpec, { readonly _tag: "Stdio" }>
  readonly cwd: string
  /** What the server inherits beside its own variables. */
  readonly environment: Readonly<Record<string, string>>
  readonly redact: (text: string) => string
  readonly peer: Peer
}

const explain = ({ command }: StdioOptions["spec"], cwd: string, { reason }: PlatformError): McpFailed => {
  const isFolder = reason._tag === "NotFound" && reason.method === "access"
  const code = Predicate.hasProperty(reason.cause, "code") ? String(reason.cause.code) : reason._tag
  return new McpFailed({
    reason: "final",
    message: isFolder
      ? `could not be started: the folder ${cwd} does not exist`
      : reason._tag === "NotFound"
        ? `could not be started: there is no program "${command}". Install it, or give its absolute path`
        : `could not be started: "${command}" failed with ${code}`
  })
}

/** Lines, and pieces of more than `limit` characters of a line that is longer. */
const lines =
  (limit: number) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E, R> =>
    bytes.pipe(
      Stream.decodeText(),
      Stream.mapAccum(
        () => ({ parts: new Array<string>(), size: 0 }),
        (held, chunk) => {
          const found: Array<string> = []
          const flush = () => {
            found.push(held.parts.join(""))
            held = { parts: [], size: 0 }
          }
          chunk.split("\n").forEach((part, index) => {
            if (index > 0 || held.size > limit) flush()
            held.parts.push(part)
            held.size += part.length
          })
          return [held, found]
        },
        { onHalt: ({ parts }) => [parts.join("")] }
      ),
      Stream.map((line) => line.trim()),
      Stream.filter((line) => line !== "")
    )

const exitText = (handle: ChildProcessHandle): Effect.Effect<string> =>
  handle.exitCode.pipe(
    Effect.map((code) => `ended with exit code ${code}`),
    Effect.orElseSucceed(() => "was ended by a signal")
  )

export const open = Effect.fnUntraced(function* ({
  cwd,
  environment,
  peer,
  redact,
  spec
}: StdioOptions): Effect.fn.Return<McpTransport, McpFailed, ChildProcessSpawner | Scope.Scope> {
  const spawner = yield* ChildProcessSpawner
  const command = ChildProcess.make(spec.command, spec.args, {
    cwd,
    env: { ...environment, ...Object.fromEntries(spec.env.map(({ name, value }) => [name, value])) },
    killSignal: "SIGTERM",
    forceKillAfter: KILL_AFTER
  })
  const handle = yield* Effect.mapError(spawn(spawner, command), (error) => explain(spec, cwd, error))

  const outbox = yield* Queue.bounded<string, Cause.Done>(MAX_WAITING_MESSAGES)
  const pending = yield* Pending.make
  const lastWords: Array<string> = []
  const write = (message: string) => Effect.asVoid(Queue.offer(outbox, `${message}\n`))
  const log = (line: string) => Effect.logDebug(clip(redact(line), MAX_LOG_LINE))
  let logged = 0
  const logSome = (line: string) =>
    Effect.suspend(() => {
      logged += 1
      return logged > MAX_LOG_LINES ? Effect.void : log(line)
    })

  const inbox = yield* Inbox.make({
    write,
    peer: {
      ...peer,
      garbage: (line) => Effect.andThen(logSome(`stdout: ${clip(line, MAX_STDERR_LINE)}`), peer.garbage(line))
    }
  })

  const receive = (line: string) =>
    line.length > MAX_MESSAGE
      ? pending.end(`sent a message of more than ${MAX_MESSAGE} characters`)
      : Effect.matchEffect(inbox.receive(line), {
          onFailure: ({ message }) => pending.end(message),
          onSuccess: pending.settle
        })

  const overhear = (line: string) => {
    lastWords.push(clip(redact(line), MAX_LAST_WORD))
    if (lastWords.length > LAST_WORDS) lastWords.shift()
    return logSome(`stderr: ${line}`)
  }

  yield* Stream.fromQueue(outbox).pipe(
    Stream.encodeText,
    Stream.run(handle.stdin),
    // A server that ended is known by its exit, which comes a moment later.
    Effect.catch(() => Effect.delay(pending.end("closed its input"), Duration.times(DRAIN_FOR, 2))),
    Effect.forkScoped
  )
  const stderr = yield* handle.stderr.pipe(
    lines(MAX_STDERR_LINE),
    Stream.runForEach(overhear),
    Effect.ignore,
    Effect.forkScoped
  )
  const stdout = yield* handle.stdout.pipe(
    lines(MAX_MESSAGE),
    Stream.runForEach(receive),
    Effect.ignore,
    Effect.forkScoped
  )
  yield* Effect.gen(function* () {
    const exit = yield* exitText(handle)
    yield* Effect.timeoutOption(Effect.all([Fiber.await(stdout), Fiber.await(stderr)]), DRAIN_FOR)
    yield* pending.end(lastWords.length === 0 ? exit : `${exit}; its last words: ${lastWords.join(" / ")}`)
  }).pipe(Effect.forkScoped)

  // Runs before the child's own finalizer, which sends TERM and KILL to the whole process group.
  yield* Effect.addFinalizer(() =>
    pending
      .end("was closed")
      .pipe(
        Effect.andThen(Queue.end(outbox)),
        Effect.andThen(Effect.timeoutOption(Effect.exit(handle.exitCode), END_OF_INPUT_GRACE))
      )
  )

  return {
    kind: "stdio",
    request: ({ id, method, params }) => pending.request(id, write(JsonRpc.encodeRequest(id, method, params))),
    notify: (method, params) => write(JsonRpc.encodeNotification(method, params)),
    agree: () => {},
    listen: Effect.void,
    lost: pending.lost
  }
})
