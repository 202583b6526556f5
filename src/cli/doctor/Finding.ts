/** What the doctor found out about one thing. */

/** `broken` is what keeps the agent from working, or from holding what was asked for; `warning` is what a person should look at. */
export type Health = "ok" | "note" | "warning" | "broken"

export interface Finding {
  /** What was looked at, such as `git` or `key`. */
  readonly check: string
  /** Which one of several, such as the name of a provider. */
  readonly name?: string
  readonly health: Health
  readonly message: string
  /** What to do about it. */
  readonly remedy?: string
}

export const ok = (check: string, message: string, name?: string): Finding => ({
  check,
  health: "ok",
  message,
  ...(name === undefined ? {} : { name })
})

export const found = (
  health: Exclude<Health, "ok">,
  check: string,
  message: string,
  remedy?: string,
  name?: string
): Finding => ({
  check,
  health,
  message,
  ...(name === undefined ? {} : { name }),
  ...(remedy === undefined ? {} : { remedy })
})
