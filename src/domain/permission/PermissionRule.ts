/** Rules as a person writes them, such as `Bash(git status)`, and the values that they mean. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { closest } from "../text/Similar.ts"

/** `*` stands for every tool and has no pattern; a rule without a pattern is for every call of its tool. */
export const PermissionRule = Schema.Struct({
  tool: Schema.Literals(["Bash", "Read", "Edit", "Grep", "MCPTool", "WebFetch", "WebSearch", "*"]),
  pattern: Schema.optionalKey(Schema.NonEmptyString)
})
export type PermissionRule = typeof PermissionRule.Type

/** `Write` and `Glob` are other names of `Edit` and `Grep`; `mcp__…` alone is a rule for MCP tools. */
const tools = new Map<string, PermissionRule["tool"]>([
  ["Bash", "Bash"],
  ["Read", "Read"],
  ["Edit", "Edit"],
  ["Write", "Edit"],
  ["Grep", "Grep"],
  ["Glob", "Grep"],
  ["MCPTool", "MCPTool"],
  ["WebFetch", "WebFetch"],
  ["WebSearch", "WebSearch"],
  ["*", "*"]
])

const shape = /^\s*([^()\s]+)\s*(?:\((.*)\))?\s*$/s

/** Neither this nor any other failure repeats the rule: it may be a secret that was put in the wrong place. */
const unknownTool = (name: string): string => {
  const [meant] = closest(name, [...tools.keys()])
  const remedy = meant === undefined ? "write" : `did you mean ${meant}? Write`
  return `there is no such tool; ${remedy} one of ${[...tools.keys()].join(", ")}`
}

const read = (text: string): Result.Result<PermissionRule, string> => {
  const [, name, argument] = shape.exec(text) ?? []
  if (name === undefined) {
    return Result.fail(
      /^[^(]*\([^)]*$/.test(text)
        ? "its parenthesis is not closed; write the pattern between ( and ), such as Bash(git status)"
        : "write a tool, or a tool and a pattern, such as Bash(git status)"
    )
  }
  if (name.startsWith("mcp__") && argument === undefined) return Result.succeed({ tool: "MCPTool", pattern: name })
  const tool = tools.get(name)
  if (tool === undefined) return Result.fail(unknownTool(name))
  if (argument === undefined) return Result.succeed({ tool })
  const pattern = argument.trim()
  if (tool === "*") return Result.fail("* is for every tool and takes no pattern")
  return pattern === ""
    ? Result.fail(`the pattern is empty; write ${name} alone for every call`)
    : Result.succeed({ tool, pattern })
}

const write = (rule: PermissionRule): string =>
  rule.pattern === undefined ? rule.tool : `${rule.tool}(${rule.pattern})`

/** The rule as text; printing and parsing again gives the same rule. */
export const PermissionRuleText = Schema.String.pipe(
  Schema.decodeTo(
    PermissionRule,
    SchemaTransformation.transformEffect<PermissionRule, string>({
      decode: (text) =>
        Effect.mapError(Effect.fromResult(read(text)), (message) => new SchemaIssue.InvalidValue({ message })),
      encode: (rule) => Effect.succeed(write(rule))
    })
  )
)

export const parseRule = Schema.decodeResult(PermissionRuleText)
export const printRule = write

/** A rule as a table: `{ action = "deny", tool = "bash", pattern = "rm *" }`. */
export const PermissionRuleTable = Schema.Struct({
  action: Schema.Literals(["allow", "ask", "deny"]),
  tool: Schema.Literals(["bash", "read", "edit", "write", "grep", "glob", "mcp", "webfetch", "websearch", "*"]),
  pattern: Schema.optionalKey(Schema.NonEmptyString)
})

const tableTools: Readonly<Record<(typeof PermissionRuleTable.Type)["tool"], PermissionRule["tool"]>> = {
  bash: "Bash",
  read: "Read",
  edit: "Edit",
  write: "Edit",
  grep: "Grep",
  glob: "Grep",
  mcp: "MCPTool",
  webfetch: "WebFetch",
  websearch: "WebSearch",
  "*": "*"
}

/** The list that a table belongs to, and the rule as text. */
export const ruleOfTable = ({ action, pattern, tool }: typeof PermissionRuleTable.Type) => ({
  action,
  text: write({ tool: tableTools[tool], ...(pattern === undefined ? {} : { pattern }) })
})

/** Rules by what they do. The order inside a list is without meaning. */
export interface PermissionRules {
  readonly allow: ReadonlyArray<PermissionRule>
  readonly ask: ReadonlyArray<PermissionRule>
  readonly deny: ReadonlyArray<PermissionRule>
}

/** What can be read of the lists, and a warning for each rule that cannot. */
export const parseRules = (texts: {
  readonly allow: ReadonlyArray<string>
  readonly ask: ReadonlyArray<string>
  readonly deny: ReadonlyArray<string>
}): { readonly rules: PermissionRules; readonly warnings: ReadonlyArray<string> } => {
  const warnings: Array<string> = []
  const list = (key: keyof PermissionRules): ReadonlyArray<PermissionRule> =>
    texts[key].flatMap((text) => {
      const rule = parseRule(text)
      if (Result.isSuccess(rule)) return [rule.success]
      warnings.push(`The ${key} rule "${text}" is ignored: ${rule.failure.message}`)
      return []
    })
  return { rules: { allow: list("allow"), ask: list("ask"), deny: list("deny") }, warnings }
}
