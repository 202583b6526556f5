/** What bounds a peer. */
import type * as Duration from "effect/Duration"
import { maxFrameBytes } from "./Frames.ts"

/** Every bound of a connection. Nothing of it grows beyond them. */
export interface Limits {
  /** Bytes of the longest frame, in and out (TR-04). Default 32 MiB, which is also the most that stdio takes in. */
  readonly frameBytes: number
  /** Frames that wait for the writer before `notify` waits. Default 256. */
  readonly queuedFrames: number
  /** Their bytes. Default 8 MiB; a larger frame passes alone. */
  readonly queuedBytes: number
  /**
   * What becomes of a notification that finds no place. `wait`: the sender waits, so that a slow reader slows the work.
   * `disconnect`: the connection ends, and the work goes on for those who do read. Default `wait`.
   */
  readonly whenFull: "wait" | "disconnect"
  /** How long one write may take before the connection ends. Default: as long as it wants. */
  readonly stall: Duration.Input | undefined
  /** Error answers that pass a full queue. A client that never reads them is then no longer read. Default 1024. */
  readonly queuedRefusals: number
  /** Incoming requests that are not answered yet; further ones are refused. Default 256. */
  readonly requestsIn: number
  /** Incoming notifications still at work; further ones are dropped and logged. Default 1024. */
  readonly notificationsIn: number
  /** Our own requests without answer; further ones fail. Default 1024. */
  readonly requestsOut: number
  /** How long requests may go on after the end of input before they are interrupted. Default zero. */
  readonly settle: Duration.Input
  /** How long interrupted work may take to end. Default 1 second. */
  readonly finalizers: Duration.Input
  /** How long the last frames may take to be written. Default 500 milliseconds. */
  readonly flush: Duration.Input
}

/** The bounds that hold when none are given. */
export const defaultLimits: Limits = {
  frameBytes: maxFrameBytes,
  queuedFrames: 256,
  queuedBytes: 8 * 1024 * 1024,
  whenFull: "wait",
  stall: undefined,
  queuedRefusals: 1024,
  requestsIn: 256,
  notificationsIn: 1024,
  requestsOut: 1024,
  settle: 0,
  finalizers: "1 second",
  flush: "500 millis"
}

/** What differs for a connection over a network: its reader may be slow or gone, and others may watch the same session. */
export const remoteLimits: Partial<Limits> = {
  queuedFrames: 65_536,
  queuedBytes: 16 * 1024 * 1024,
  whenFull: "disconnect",
  stall: "60 seconds"
}
