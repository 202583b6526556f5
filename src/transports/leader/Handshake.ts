/** The first line each way, before a connection becomes one of the Agent Client Protocol. */
import * as Schema from "effect/Schema"

/** Changes when a leader and a program that reaches it could no longer understand each other. */
export const protocol = 1

const Pid = Schema.Int.check(Schema.isGreaterThan(0))

/** What whoever connects says. Keys that a later version adds are ignored. */
export const Hello = Schema.Struct({
  /** The protocol. A `control` connection is served whatever it is, so that every leader can be asked and ended. */
  superPiLeader: Schema.Int,
  version: Schema.String,
  pid: Pid,
  role: Schema.Literals(["acp", "control"]),
  /** Of `control`: `stop` ends the leader in order. Default: it only reports. */
  command: Schema.optionalKey(Schema.Literals(["report", "stop"])),
  /** Of `acp`: the model of new sessions. */
  model: Schema.optionalKey(Schema.String),
  /** Of `acp`: the mode of new sessions. */
  alwaysApprove: Schema.optionalKey(Schema.Boolean)
})
export type Hello = typeof Hello.Type

/** A client of the leader, for `leader list`. */
export const Member = Schema.Struct({
  kind: Schema.String,
  pid: Pid,
  version: Schema.String,
  /** ISO 8601. */
  since: Schema.String,
  /** Sessions in which a prompt of this client is at work. */
  working: Schema.Array(Schema.String)
})
export type Member = typeof Member.Type

/** What a leader tells of itself. */
export const Report = Schema.Struct({
  socket: Schema.String,
  /** ISO 8601. */
  since: Schema.String,
  uptimeSeconds: Schema.Int,
  clients: Schema.Array(Member),
  /** Sessions in which a turn runs, also those whose client is gone. */
  working: Schema.Array(Schema.String)
})
export type Report = typeof Report.Type

/** What the leader answers. A connection that is not refused goes on in its role. */
export const Reply = Schema.Struct({
  superPiLeader: Schema.Int,
  version: Schema.String,
  pid: Pid,
  /** Why not, with the remedy. */
  refused: Schema.optionalKey(Schema.String),
  /** With `refused`: this leader ends to make room for a newer one, so start one. */
  retiring: Schema.optionalKey(Schema.Boolean),
  report: Schema.optionalKey(Report)
})
export type Reply = typeof Reply.Type

export const encodeHello = Schema.encodeSync(Schema.fromJsonString(Hello))
export const decodeHello = Schema.decodeUnknownEffect(Schema.fromJsonString(Hello))
export const encodeReply = Schema.encodeSync(Schema.fromJsonString(Reply))
export const decodeReply = Schema.decodeUnknownEffect(Schema.fromJsonString(Reply))

/** Negative when `one` is the older of two versions such as `1.2.3`; what is no number counts as 0. */
export const compareVersions = (one: string, other: string): number => {
  const [left, right] = [one, other].map((version) =>
    version.split(/[.+-]/).map((part) => Number.parseInt(part, 10) || 0)
  )
  for (let index = 0; index < 3; index++) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
