/** Logs go to stderr, whatever happens: stdout belongs to the protocol (TR-02). */
import * as Cause from "effect/Cause"
import * as Formatter from "effect/Formatter"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"

/** Bytes that may wait for a reader of stderr. What comes while nobody reads is left out, never waited for (F119). */
const BACKLOG = 1 << 20

let ready = false

const write = (line: string): void => {
  if (!ready) {
    ready = true
    process.stderr.on("error", () => {})
  }
  if (process.stderr.writableLength < BACKLOG) process.stderr.write(`${line}\n`)
}

const labels: { readonly [K in LogLevel.LogLevel]?: string } = { Warn: "warning", Error: "error", Fatal: "error" }

/** A line for somebody who sits before it; programs get times and fields. */
export const forPeople = ({ cause, logLevel, message }: Logger.Options<unknown>): string => {
  const words = (Array.isArray(message) ? message : [message]).map((part) =>
    typeof part === "string" ? part : Formatter.format(part)
  )
  const label = labels[logLevel] ?? logLevel.toLowerCase()
  const why = cause.reasons.length === 0 ? [] : [Cause.pretty(cause)]
  return [`${label}: ${words.join(" ")}`, ...why].join("\n")
}

/** Replaces the default logger, which would write to stdout. */
export const layer: Layer.Layer<never> = Logger.layer([
  Logger.make<unknown, void>((options) =>
    write(process.stderr.isTTY ? forPeople(options) : Logger.formatLogFmt.log(options))
  )
])

const levels: ReadonlyMap<string, LogLevel.LogLevel> = new Map([
  ["all", "All"],
  ["trace", "Trace"],
  ["debug", "Debug"],
  ["info", "Info"],
  ["warn", "Warn"],
  ["warning", "Warn"],
  ["error", "Error"],
  ["fatal", "Fatal"],
  ["none", "None"],
  ["0", "Warn"],
  ["false", "Warn"]
])

/**
 * The level that `SUPER_PI_LOG_STDERR` asks for: a level's name, or anything else such as `1` for `info`.
 * Unset or empty: warnings and errors only. `--log-level` wins.
 */
export const levelOf = (value: string | undefined): LogLevel.LogLevel =>
  value === undefined || value === "" ? "Warn" : (levels.get(value.toLowerCase()) ?? "Info")
