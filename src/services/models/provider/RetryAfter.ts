/** How long a provider asks to be left alone: a header in seconds, in milliseconds or as a date, or a field of its body. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"

const header = (headers: unknown, name: string): string | undefined => {
  if (!Predicate.isObject(headers)) return undefined
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name)
  return typeof entry?.[1] === "string" ? entry[1].trim() : undefined
}

const amount = (value: string | undefined): number | undefined => {
  if (value === undefined || !/^\d+(\.\d+)?$/.test(value)) return undefined
  return Number(value)
}

/** `now` is in milliseconds since 1970. A date that has passed means no pause. */
export const waitOf = (headers: unknown, body: string, now: number): Duration.Duration | undefined => {
  const millis = amount(header(headers, "retry-after-ms"))
  if (millis !== undefined) return Duration.millis(millis)
  const value = header(headers, "retry-after")
  const seconds = amount(value) ?? amount(/"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1])
  if (seconds !== undefined) return Duration.seconds(seconds)
  // The parser takes almost anything for a date; one in a header begins with the day of the week.
  const date = value !== undefined && /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : Duration.millis(Math.max(0, date - now))
}
