/** What bounds the HTTP endpoint (NET-01). */
import * as Duration from "effect/Duration"

/** Every bound of the endpoint and its connections. */
export interface HttpLimits {
  /** Connections at once; a further `initialize` is refused. Default 256. */
  readonly connections: number
  /** Event streams of sessions that one connection has open, or that something waits for. Default 1024. */
  readonly streams: number
  /** Characters of a session id or request id. Default 1024. */
  readonly idLength: number
  /** Bytes of the body of a POST. Default 16 MiB (HTTP-06). */
  readonly bodyBytes: number
  /** Bytes that wait for the event streams of one connection before its peer has to wait. Default 4 MiB. */
  readonly waitingBytes: number
  /** Their number. Default 16384. */
  readonly waitingEvents: number
  /** How long a stream is quiet before a comment keeps it alive. Default 15 seconds (HTTP-04). */
  readonly keepAlive: Duration.Duration
  /** How long a connection lives that never had a stream, without any POST. Default 5 minutes. */
  readonly idle: Duration.Duration
  /** The same for one whose streams are all gone: most likely its client is, too (HTTP-08). Default 30 seconds. */
  readonly abandoned: Duration.Duration
  /**
   * What the history of a session gets ahead of the answer to `session/load`, which leaves on another stream, beyond being
   * written first. Default 10 milliseconds.
   */
  readonly headStart: Duration.Duration
  /** How long the streams of a connection that has ended may take to end. Default 1 second. */
  readonly farewell: Duration.Duration
}

/** The bounds that hold when none are given. */
export const defaultHttpLimits: HttpLimits = {
  connections: 256,
  streams: 1024,
  idLength: 1024,
  bodyBytes: 16 * 1024 * 1024,
  waitingBytes: 4 * 1024 * 1024,
  waitingEvents: 16_384,
  keepAlive: Duration.seconds(15),
  idle: Duration.minutes(5),
  abandoned: Duration.seconds(30),
  headStart: Duration.millis(10),
  farewell: Duration.seconds(1)
}
