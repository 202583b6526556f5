/**
 * Tests lines against an expression that a model wrote. One that backtracks without end is stopped, since nothing else
 * runs meanwhile: no cancel would be read and no other session answered (F23).
 */
import * as Effect from "effect/Effect"
import { createContext, Script } from "node:vm"
import { SearchFailed } from "./Search.ts"

/** Milliseconds for one batch of lines, after which others have their turn. */
const PATIENCE = 200
const BATCH = 1_000

const script = new Script("lines.flatMap((line, index) => (expression.test(line) ? [index] : []))")

/** Gives the indexes of the lines that match. */
export const makeLineMatcher = (expression: RegExp) => {
  const context: { readonly expression: RegExp; lines: ReadonlyArray<string> } = { expression, lines: [] }
  createContext(context)

  const test = (lines: ReadonlyArray<string>) =>
    Effect.try({
      try: (): ReadonlyArray<number> => {
        context.lines = lines
        return script.runInContext(context, { timeout: PATIENCE })
      },
      catch: () =>
        new SearchFailed({
          message: `The expression takes more than ${PATIENCE} ms for ${lines.length} lines: write a simpler one, without a repetition inside a repetition`
        })
    })

  return Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
    const found: Array<number> = []
    for (let from = 0; from < lines.length; from += BATCH) {
      for (const index of yield* test(lines.slice(from, from + BATCH))) found.push(from + index)
      yield* Effect.yieldNow
    }
    return found
  })
}
