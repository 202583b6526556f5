/**
 * Everything that was said on one connection, in order. Each line of the agent is held against the official schema, and
 * the whole against what a conversation has to be, as it comes.
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { makeJudge } from "./Judge.ts"
import { isObject, makeOracle } from "./Schema.ts"

type Json = Schema.Json

/** A message, as far as a line is one: tests send others as well. */
export interface Message {
  readonly jsonrpc?: Json
  readonly id?: Json
  readonly method?: string
  readonly params?: Json
  readonly result?: Json
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json }
}

export interface Entry {
  readonly from: "agent" | "client"
  /** Whether a test wrote the line of the client, and not the SDK. */
  readonly isRaw: boolean
  readonly line: string
  /** Empty for what is no message. */
  readonly message: Message
}

export interface Transcript {
  readonly entries: ReadonlyArray<Entry>
  /** What is wrong with the lines of the agent so far. */
  readonly problems: ReadonlyArray<string>
  /** The index of the new entry. */
  readonly add: (from: Entry["from"], line: string, isRaw?: boolean) => number
  readonly complain: (problem: string) => void
  /** The first thing that `pick` finds among the entries from `since` on; waits for it. */
  readonly find: <A>(pick: (entry: Entry, index: number) => A | undefined, since?: number) => Effect.Effect<A>
  /** The conversation is over, and was not cut off: nothing may be left open. */
  readonly close: () => void
}

const messageOf = (line: string): Message => {
  try {
    const json: Json = JSON.parse(line)
    return isObject(json) ? json : {}
  } catch {
    return {}
  }
}

/** `isShared`: others use the sessions of this connection, too. */
export const makeTranscript = (isShared = false): Transcript => {
  const oracle = makeOracle()
  const judge = makeJudge(isShared)
  const entries: Array<Entry> = []
  const problems: Array<string> = []
  const waiting = new Set<() => void>()

  return {
    entries,
    problems,
    add(from, line, isRaw = false) {
      const message = messageOf(line)
      const entry: Entry = { from, isRaw, line, message }
      const index = entries.push(entry) - 1
      const found = [...(from === "agent" ? oracle.received(line) : (oracle.sent(line), [])), ...judge.see(entry)]
      problems.push(...found.map((problem) => `${problem}\n  in ${line.slice(0, 400)}`))
      // A test may go on at once, and say more.
      for (const look of waiting) look()
      return index
    },
    complain: (problem) => problems.push(problem),
    find: (pick, since = 0) =>
      Effect.callback((resume) => {
        let next = since
        const look = () => {
          while (next < entries.length) {
            const index = next++
            const found = pick(entries[index]!, index)
            if (found === undefined) continue
            waiting.delete(look)
            resume(Effect.succeed(found))
            return
          }
        }
        waiting.add(look)
        look()
        return Effect.sync(() => waiting.delete(look))
      }),
    close() {
      problems.push(...judge.end())
    }
  }
}
