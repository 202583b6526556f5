/**
 * Says where a file stops being TOML, without giving away what it holds. A key pasted without quotes is a syntax error,
 * so the parser's text and the line itself are shown with every word masked that is not part of the format.
 */
const excerptBefore = 60
const excerptAfter = 20

const knownWords = new Set(
  (
    "models default providers kind base_url api_key api_key_env id name context_window output_limit price input output cache_read cache_write image efforts acp fs_delegation " +
    "permission allow ask deny rules action tool pattern remote execution_mode_ceiling grace_seconds relay url token origin " +
    "auth required sandbox profile hooks matcher command type timeout env advisory mcp_servers args headers enabled mcp " +
    "startup_timeout_sec tool_timeout_sec tool_timeouts max_output_bytes disabled_mcp_servers agent harness ui permission_mode " +
    "remember_tool_approvals tools respect_gitignore toolset bash timeout_secs process_limit web_fetch allowed_domains " +
    "allow_local folder_trust cli use_leader true false"
  ).split(" ")
)

const mask = (text: string): string =>
  text.replace(/[^\s[\]{}=.,:"'#]+/g, (word) => (knownWords.has(word) ? word : "…")).replace(/…([.,:]?…)+/g, "…")

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
