/** What an agent may be called: a plain word, since it is the name of a file and stands among the modes. */
import { ExecutionMode } from "../permission/ExecutionMode.ts"

/** Names that mean something else where an agent is chosen. */
const reserved = new Set([
  ...ExecutionMode.literals,
  "default",
  "acceptedits",
  "dontask",
  "bypasspermissions",
  "readme",
  "con",
  "prn",
  "aux",
  "nul",
  ...Array.from({ length: 10 }, (_, at) => [`com${at}`, `lpt${at}`]).flat()
])

const MOST_CHARACTERS = 64

/** What is wrong with a name and what to do; undefined when nothing is. */
export const nameProblem = (name: string): string | undefined => {
  if (name.length > MOST_CHARACTERS) return `has ${name.length} characters; at most ${MOST_CHARACTERS} fit`
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) || name.endsWith(".")) {
    return "is no name for an agent: use letters, digits, '-', '_' and '.', and begin with a letter or a digit, such as code-reviewer"
  }
  const stem = name.toLowerCase().replace(/\..*$/, "")
  return reserved.has(stem) || reserved.has(name.toLowerCase())
    ? `is the name of something else ("${name}"); choose another one, such as ${name.toLowerCase().replaceAll(".", "-")}-agent`
    : undefined
}
