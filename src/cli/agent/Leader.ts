/** `agent leader`, which editors share and start themselves, and `leader list`, `info` and `stop` for people. */
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Hello, Member, Reply, Report } from "../../transports/leader/Handshake.ts"
import { agentOptions, leaderOptions, leaderSocketFlag, ownFlags } from "./AgentFlags.ts"
import { explained } from "../Explained.ts"
import { lifetime } from "../Process.ts"
import { misused } from "../UsageError.ts"

const composition = Effect.promise(() => import("../../composition/Leader.ts"))

/** `agent leader`. */
export const agentLeader = Command.make(
  "leader",
  {
    stays: Flag.Boolean("no-exit-on-disconnect").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Stay when the last editor has gone, until leader stop"),
      Flag.withDefault(false)
    ),
    idleSeconds: Flag.Int("idle-seconds").pipe(
      Flag.withSchema(Schema.Natural),
      Flag.withDescription("How long to stay when the last editor has gone and no turn runs"),
      Flag.withDefault(30)
    ),
    grace: Flag.Int("grace").pipe(
      Flag.withSchema(Schema.Natural),
      Flag.withMetavar("seconds"),
      Flag.withDescription("How long turns may go on when it is told to end; then they are cancelled"),
      Flag.withDefault(5),
      Flag.map(Duration.seconds)
    )
  },
  Effect.fnUntraced(function* ({ grace, idleSeconds, stays }) {
    const [own] = ownFlags(yield* agentOptions)
    if (own !== undefined) return yield* misused(`the leader takes no ${own}: write it into config.toml`)
    const { socket } = yield* leaderOptions
    const { lead, place } = yield* composition
    const { ending, until } = lifetime(grace)
    const at = yield* place(socket).pipe(explained)
    const idle = stays ? undefined : Duration.seconds(idleSeconds)
    const served = yield* lead({ place: at, idle, until, ending, grace }).pipe(explained)
    if (!served) yield* Console.error(`Another leader serves ${at.socket}`)
  })
).pipe(Command.withDescription("Serve the editors that run with --leader; they start it themselves"))

const json = Flag.Boolean("json").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Print JSON"),
  Flag.withDefault(false)
)

interface Answer {
  readonly reply: Reply
  readonly report: Report
}

/** Fails with code 1 where there is no leader. */
const ask = Effect.fnUntraced(function* (leaderSocket: Option.Option<string>, command: NonNullable<Hello["command"]>) {
  const leader = yield* composition
  const at = yield* leader.place(Option.getOrUndefined(leaderSocket)).pipe(explained)
  const reply = Option.getOrUndefined(yield* leader.ask(at, command).pipe(explained))
  if (reply?.report !== undefined) return { reply, report: reply.report } satisfies Answer
  const userMessage =
    reply === undefined
      ? `There is no leader at ${at.socket}: an editor that runs with --leader starts one`
      : `The leader at ${at.socket} (pid ${reply.pid}) did not understand: end it with kill ${reply.pid}`
  return yield* new CliError.UserError({ cause: "leader", userMessage })
})

const sessions = (working: ReadonlyArray<string>): string =>
  working.length === 0 ? "idle" : `working in ${working.join(", ")}`

const memberLine = ({ kind, pid, since, version, working }: Member): string =>
  [kind, `pid ${pid}`, `version ${version}`, `since ${since}`, sessions(working)].join("\t")

const tell = (command: NonNullable<Hello["command"]>, print: (answer: Answer, asJson: boolean) => string) =>
  Effect.fnUntraced(function* ({ json, leaderSocket }: { json: boolean; leaderSocket: Option.Option<string> }) {
    const answer = yield* ask(leaderSocket, command)
    yield* Console.log(print(answer, json))
  })

const flags = { json, leaderSocket: leaderSocketFlag }

const list = Command.make(
  "list",
  flags,
  tell("report", ({ report: { clients } }, asJson) => {
    if (asJson) return JSON.stringify(clients)
    return clients.length === 0 ? "Nobody is connected" : clients.map(memberLine).join("\n")
  })
).pipe(Command.withDescription("List who is connected: kind, process, since when, sessions at work"))

const info = Command.make(
  "info",
  flags,
  tell("report", ({ report, reply: { pid, superPiLeader: protocol, version } }, asJson) => {
    const { clients, since, socket, uptimeSeconds, working } = report
    if (asJson)
      return JSON.stringify({ pid, version, protocol, socket, since, uptimeSeconds, clients: clients.length, working })
    return [
      `pid\t${pid}`,
      `version\t${version}`,
      `protocol\t${protocol}`,
      `socket\t${socket}`,
      `uptime\t${uptimeSeconds === 0 ? "0s" : Duration.format(Duration.seconds(uptimeSeconds))}`,
      `clients\t${clients.length}`,
      `turns\t${sessions(working)}`
    ].join("\n")
  })
).pipe(Command.withDescription("Show the leader: process, version, protocol, socket, uptime, clients"))

const stop = Command.make(
  "stop",
  flags,
  tell("stop", ({ reply: { pid } }, asJson) =>
    asJson ? JSON.stringify({ stopped: pid }) : `The leader (pid ${pid}) has ended`
  )
).pipe(Command.withDescription("End the leader; turns have 5 seconds to finish. Editors that stay start a new one"))

export const leader = Command.make("leader").pipe(
  Command.withDescription("The agent that editors share when they run with --leader"),
  Command.withSubcommands([list, info, stop])
)
