/**
 * Says where a file stops being TOML, without giving away what it holds. A key pasted without quotes is a syntax error,
 * so the parser's text and the line itself are shown with every word masked that is not part of the format.
 */
import { configWords } from "./ConfigSchema.ts"

const excerptBefore = 60
const excerptAfter = 20

const mask = (text: string): string =>
  text.replace(/[^\s[\]{}=.,:"'#]+/g, (word) => (configWords.has(word) ? word : "…")).replace(/…([.,:]?…)+/g, "…")

/** The parser quotes what it read; only the characters that it missed are safe to repeat. */
const withoutQuotations = (problem: string): string =>
  problem.startsWith("Expected") ? problem : problem.replace(/ '.*'$/s, "")

const remedies: ReadonlyArray<readonly [start: string, remedy: string]> = [
  ["Invalid value", "text needs double quotes around it"],
  ["Expected a value", "text needs double quotes around it"],
  ["Cannot redefine", "this name is already used above; keep one of the two"],
  ["Basic strings cannot", "close the text with a double quote on the same line"],
  ["Unterminated", "close the text with the quote that opened it"],
  ["Invalid escape", "write a backslash as \\\\ or use single quotes"]
]

/** `message` is the parser's, `text` the whole file. */
export const describeTomlProblem = (message: string, text: string): string => {
  const match = /^(.*) at line (\d+), column (\d+)$/s.exec(message)
  if (match === null) return "is not TOML that can be read; simplify it"
  const [, problem = "", lineNumber = "1", columnNumber = "1"] = match
  const what = withoutQuotations(problem)
  const line = text.split("\n")[Number(lineNumber) - 1] ?? ""
  const column = Number(columnNumber) - 1
  const excerpt = mask(line.slice(Math.max(0, column - excerptBefore), column + excerptAfter)).trim()
  const remedy = remedies.find(([start]) => what.startsWith(start))?.[1] ?? "correct this line"
  return `is not TOML at line ${lineNumber}, column ${columnNumber}: ${what}; ${remedy}. It reads \`${excerpt}\``
}
