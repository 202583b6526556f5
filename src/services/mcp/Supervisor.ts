/** Keeps one MCP server connected: tries again after a while when it cannot be reached or is lost, and in the end gives up. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type { Notice } from "../../domain/Event.ts"
import type { McpSpec, Pair } from "../../domain/McpSpec.ts"
import type { McpContext, McpPrompt, McpStatus, WantedServer } from "../McpManager.ts"
import { visible } from "../../domain/text/Visible.ts"
import type { ToolDefinition } from "../ToolDefinition.ts"
import * as McpNotices from "./McpNotices.ts"
import { makePrompt } from "./McpPromptCommand.ts"
import { outcomeOf } from "./tool/McpOutcome.ts"
import * as McpPeer from "./McpPeer.ts"
import * as McpServer from "./McpServer.ts"
import { makeNameLimit, makeTool, type makeToolNames } from "./tool/McpToolDefinition.ts"
import { McpFailed, type McpTransport, type Peer } from "./transport/McpTransport.ts"
import type { CallLimit } from "./Patience.ts"
import * as Redactor from "./Redactor.ts"
import type { Spill } from "./tool/Spill.ts"
import type { Listed } from "./tool/ToolList.ts"
import * as StdioTransport from "./transport/StdioTransport.ts"
import { clip } from "../../domain/text/Clip.ts"

/** How long the first request to the model waits for a server, and how long one attempt to connect may take. */
const FIRST_USE = Duration.seconds(10)
const ATTEMPT = Duration.seconds(30)
/** How long a call waits for a server that is being connected again. */
const RETURN = Duration.seconds(10)
/** How long a request to the model waits for the list of tools that the server says it has changed. */
const CHANGE = Duration.seconds(2)
/** A server that was there for so long begins with new attempts when it is lost. */
const STABLE = Duration.minutes(1)
/** Long, because a person may have asked for something that takes long (F103). */
const SILENCE: CallLimit = { of: "silence", limit: Duration.minutes(10) }

/** Tools of one server in all of a session. */
const MAX_NAMED = 10_000

/** Of what is no message: looked at for secrets, and shown. */
const MAX_GARBAGE = 10_000
const MAX_SHOWN_GARBAGE = 200

const ATTEMPTS = 5
const backOff = Schedule.max([Schedule.exponential("1 second"), Schedule.recurs(ATTEMPTS)]).pipe(Schedule.jittered)

export interface SupervisorOptions {
  readonly wanted: WantedServer
  /** What its settings read from the environment. */
  readonly read: ReadonlyArray<Pair>
  readonly alias: string
  readonly toolName: ReturnType<typeof makeToolNames>
  readonly context: McpContext
  readonly environment: Readonly<Record<string, string>>
  readonly outputLimit: number
  readonly spill: Spill
  readonly inBackground: (effect: Effect.Effect<void>) => Effect.Effect<void>
}

export interface Supervised {
  /** Returns when it is ready, has failed once, or its time is up, and its tools are those of the last change. */
  readonly settled: Effect.Effect<void>
  readonly tools: () => ReadonlyArray<ToolDefinition>
  readonly prompts: Effect.Effect<ReadonlyArray<McpPrompt>>
  readonly status: () => McpStatus
  /** What is to be told since this was asked last. */
  readonly changes: () => ReadonlyArray<Notice>
}

const isWorthIt = ({ reason }: McpFailed) => reason !== "final" && reason !== "mismatch"

type Connect = (
  open: (peer: Peer) => Effect.Effect<McpTransport, McpFailed, Scope.Scope | ChildProcessSpawner>
) => Effect.Effect<McpServer.McpServer, McpFailed, Scope.Scope | ChildProcessSpawner>

/** A server that does not speak Streamable HTTP may speak what was there before. */
const connectTo = Effect.fnUntraced(function* (
  spec: McpSpec,
  connect: Connect,
  { context: { cwd }, environment }: SupervisorOptions,
  redact: (text: string) => string
) {
  if (spec._tag === "Stdio") {
    return yield* connect((peer) => StdioTransport.open({ spec, cwd, environment, redact, peer }))
  }
  const overSse = connect((peer) =>
    Effect.flatMap(
      Effect.promise(() => import("./transport/SseTransport.ts")),
      ({ open }) => open(spec, peer)
    )
  )
  if (spec._tag === "Sse") return yield* overSse
  const HttpTransport = yield* Effect.promise(() => import("./transport/HttpTransport.ts"))
  return yield* Effect.catchIf(
    connect((peer) => HttpTransport.open(spec, peer)),
    ({ reason }) => reason === "mismatch",
    (failure) => Effect.mapError(overSse, () => failure)
  )
})

const kindOf = ({ _tag }: McpSpec): McpStatus["transport"] =>
  _tag === "Stdio" ? "stdio" : _tag === "Http" ? "http" : "sse"

/** A server that is not started: `problem` is what follows its name. */
export const unusable = ({ origin, spec }: WantedServer, problem: string): Effect.Effect<Supervised> =>
  Effect.sync(() => {
    const status = (): McpStatus => ({
      name: spec.name,
      origin,
      transport: kindOf(spec),
      state: "failed",
      tools: [],
      problem
    })
    let told: McpNotices.Told
    return {
      settled: Effect.void,
      tools: () => [],
      prompts: Effect.succeed([]),
      status,
      changes: () => {
        const change = McpNotices.changeOf(status(), told, false)
        told = change.told
        return change.notice === undefined ? [] : [change.notice]
      }
    }
  })

export const start = Effect.fnUntraced(function* (
  options: SupervisorOptions
): Effect.fn.Return<Supervised, never, Scope.Scope | ChildProcessSpawner> {
  const { alias, context, inBackground, outputLimit, read, spill, toolName, wanted } = options
  const { origin, spec, startupTimeout, toolTimeout, toolTimeouts } = wanted
  const redactor = Redactor.makeFor(spec, read)
  const settled = yield* Deferred.make<void>()
  const present = yield* Latch.make(false)
  let state: McpStatus["state"] = "connecting"
  let server: McpServer.McpServer | undefined
  /** Ends the connection of the present server. */
  let broken: Deferred.Deferred<never, McpFailed> | undefined
  let problem: string | undefined
  let tools: ReadonlyArray<ToolDefinition> = []
  /** The list of changed tools is to come. */
  let changing: Deferred.Deferred<void> | undefined
  let wasReady = false
  let hasGarbage = false
  const remarks = new Map<string, Notice>()
  const told: { remarks: number; change: McpNotices.Told } = { remarks: 0, change: undefined }

  /** The server, also when it is just being connected again. */
  const reached = Effect.gen(function* () {
    if (server === undefined && state !== "failed") yield* Effect.timeoutOption(present.await, RETURN)
    if (server !== undefined) return server
    return yield* new McpFailed({ message: `is not connected: it ${problem ?? "did not get ready"}` })
  })

  const limitOf = (tool: string): CallLimit => {
    const limit = (Object.hasOwn(toolTimeouts, tool) ? toolTimeouts[tool] : undefined) ?? toolTimeout
    return limit === undefined ? SILENCE : { of: "total", limit }
  }

  const lose = (failure: McpFailed) =>
    Effect.suspend(() => {
      server = undefined
      state = isWorthIt(failure) ? "waiting" : "failed"
      problem = redactor.problem(failure)
      return Effect.andThen(present.close, Effect.andThen(changed, Deferred.succeed(settled, undefined)))
    })

  /** Who learns of the loss first says so, also where the transport thinks otherwise; the next call waits for the return. */
  const callOf = (called: McpServer.McpServer, ...args: Parameters<McpServer.McpServer["call"]>) => {
    const present = broken
    return Effect.tapError(called.call(...args), (failure) =>
      failure.reason === "lost" && server === called && present !== undefined
        ? Effect.andThen(lose(failure), Deferred.fail(present, failure))
        : Effect.void
    )
  }

  /** By title: each is told once. */
  const remark = (notice: Notice): void => {
    if (!remarks.has(notice.title)) remarks.set(notice.title, notice)
  }

  const mayHave = makeNameLimit(MAX_NAMED)

  const useTools = (listed: Listed) => {
    const names = listed.tools.map(({ name }) => name)
    if (!mayHave(names)) return remark(McpNotices.restless(spec.name, MAX_NAMED))
    if (listed.leftOut !== undefined) remark(McpNotices.leftOut(spec.name, redactor.strict(listed.leftOut)))
    tools = listed.tools.map((tool) =>
      makeTool(tool, {
        name: spec.name,
        alias,
        toolName: toolName(alias, tool.name),
        limit: limitOf(tool.name),
        call: (tool, input, context) => Effect.flatMap(reached, (server) => callOf(server, tool, input, context)),
        outcome: (result, { callId }) => outcomeOf(result, { redactor, limit: outputLimit, keep: spill.of(callId) }),
        redactor
      })
    )
  }

  /** Whoever waits is let go, also where the list did not come: nobody waits twice for one change. */
  const changed = Effect.suspend(() => {
    const ended = changing
    changing = undefined
    return ended === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(ended, undefined))
  })

  const upToDate = Effect.suspend(() =>
    changing === undefined
      ? Effect.void
      : Effect.andThen(Effect.timeoutOption(Deferred.await(changing), CHANGE), changed)
  )

  const connect: Connect = Effect.fnUntraced(function* (open) {
    const changes = yield* Queue.sliding<void>(1)
    const peer = McpPeer.make({
      name: spec.name,
      context,
      redactor,
      listsChanged: Effect.suspend(() => {
        changing ??= Deferred.makeUnsafe()
        return Effect.asVoid(Queue.offer(changes, undefined))
      }),
      garbage: (line) =>
        Effect.sync(() => {
          if (hasGarbage) return
          hasGarbage = true
          const shown = redactor.strict(visible(clip(line, MAX_GARBAGE)))
          remark(McpNotices.garbage(spec.name, clip(shown, MAX_SHOWN_GARBAGE)))
        })
    })
    const transport = yield* open(peer)
    return yield* McpServer.connect({
      transport,
      peer,
      changes,
      listLimit: toolTimeout ?? SILENCE.limit,
      onTools: (listed) => Effect.sync(() => useTools(listed)),
      onAsked: changed
    })
  })

  const ready = (connected: McpServer.McpServer) =>
    Effect.suspend(() => {
      server = connected
      state = "ready"
      problem = undefined
      wasReady = true
      useTools(connected.listed)
      return Effect.andThen(present.open, Deferred.succeed(settled, undefined))
    })

  const attempt = startupTimeout ?? ATTEMPT
  const opening = Effect.suspend(() => {
    state = "connecting"
    return connectTo(spec, connect, options, redactor.strict)
  }).pipe(
    Effect.timeoutOrElse({
      duration: attempt,
      orElse: () => Effect.fail(new McpFailed({ message: `did not get ready within ${Duration.format(attempt)}` }))
    })
  )

  /** One connection, from its beginning to its loss. Fails when it was too short to count as one that works. */
  const once = Effect.acquireUseRelease(
    Scope.make(),
    Effect.fnUntraced(function* (scope) {
      const connected = yield* Scope.provide(opening, scope)
      const noticed = yield* Deferred.make<never, McpFailed>()
      broken = noticed
      yield* ready(connected)
      const since = yield* Clock.currentTimeMillis
      const failure = yield* Effect.flip(Effect.raceFirst(connected.lost, Deferred.await(noticed)))
      yield* lose(failure)
      const lasted = (yield* Clock.currentTimeMillis) - since
      if (lasted < Duration.toMillis(STABLE)) return yield* failure
      return undefined
    }),
    (scope) => inBackground(Scope.close(scope, Exit.void))
  ).pipe(Effect.tapError(lose))

  const giveUp = Effect.sync(() => {
    state = "failed"
    tools = []
  })
  yield* Effect.forever(Effect.retry(once, { schedule: backOff, while: isWorthIt })).pipe(
    Effect.catch(() => giveUp),
    Effect.catchDefect((defect) =>
      Effect.andThen(Effect.logError("The connection to an MCP server died", Cause.die(defect)), giveUp)
    ),
    Effect.annotateLogs({ mcpServer: spec.name }),
    Effect.forkScoped
  )
  yield* Effect.forkScoped(Effect.delay(Deferred.succeed(settled, undefined), startupTimeout ?? FIRST_USE))

  const status = (): McpStatus => ({
    name: spec.name,
    origin,
    transport: server?.kind ?? kindOf(spec),
    state,
    tools: tools.map(({ tool }) => tool.name),
    ...(server?.software === undefined ? {} : { software: redactor.said(server.software) }),
    ...(server === undefined ? {} : { revision: server.revision }),
    ...(problem === undefined ? {} : { problem })
  })

  return {
    settled: Effect.andThen(Deferred.await(settled), upToDate),
    tools: () => tools,
    prompts: Effect.suspend(() =>
      server === undefined
        ? Effect.succeed([])
        : Effect.map(server.prompts, (listed) =>
            listed.map((prompt) =>
              makePrompt(prompt, {
                name: spec.name,
                alias,
                get: (given) => Effect.flatMap(reached, (present) => present.prompt(prompt.name, given)),
                problem: redactor.problem
              })
            )
          )
    ),
    status,
    changes: () => {
      const change = McpNotices.changeOf(status(), told.change, wasReady)
      const notices = [
        ...(change.notice === undefined ? [] : [change.notice]),
        ...[...remarks.values()].slice(told.remarks)
      ]
      told.change = change.told
      told.remarks = remarks.size
      return notices
    }
  }
})
