/** The person at the terminal: whether there is one, and what they type. */
import * as Effect from "effect/Effect"
import { closeSync, openSync } from "node:fs"
import { createInterface } from "node:readline"
import { ReadStream } from "node:tty"

/** The terminal itself, whatever standard input is. */
const open = (): number | undefined => {
  if (!process.stderr.isTTY) return undefined
  try {
    return openSync("/dev/tty", "r")
  } catch {
    return undefined
  }
}

/** Whether a person can be asked: there is a terminal to ask on, and one to answer from. */
export const isPossible = (): boolean => {
  const terminal = open()
  if (terminal !== undefined) closeSync(terminal)
  return terminal !== undefined
}

/** A line that the person types; undefined at the end of the input. Ctrl+C is a signal and never comes here. */
export const readLine: Effect.Effect<string | undefined> = Effect.callback<string | undefined>((resume) => {
  const terminal = open()
  if (terminal === undefined) return resume(Effect.undefined)
  const input = new ReadStream(terminal)
  const lines = createInterface({ input, terminal: false })
  const close = (): void => {
    lines.close()
    input.destroy()
  }
  lines.once("line", (line) => {
    resume(Effect.succeed(line))
    close()
  })
  lines.once("close", () => resume(Effect.undefined))
  return Effect.sync(close)
})
