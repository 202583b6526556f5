/**
 * Decodes the params of a method. What does not fit is told by path and expectation, never by value: a value may be a
 * secret (MCP-08).
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { ErrorCode, WireError } from "../../domain/wire/ErrorCode.ts"
import { oneLine } from "./WireFailure.ts"

type Path = ReadonlyArray<PropertyKey>

interface Problem {
  readonly path: Path
  readonly issue: SchemaIssue.Issue
}

/** Whether the input names another member of a union: `type` or its like is not this member's literal. */
const isOtherMember = (issue: SchemaIssue.Issue): boolean =>
  issue._tag === "Composite" &&
  issue.issues.some(
    (inner) => inner._tag === "Pointer" && inner.issue._tag === "InvalidType" && inner.issue.ast._tag === "Literal"
  )

/** The innermost problem; of a union, that of the member which the input most likely means. */
const problemOf = (issue: SchemaIssue.Issue, path: Path = []): Problem => {
  switch (issue._tag) {
    case "Pointer":
      return problemOf(issue.issue, [...path, ...issue.path])
    case "Encoding":
      return problemOf(issue.issue, path)
    case "Composite":
      return problemOf(issue.issues[0], path)
    case "AnyOf": {
      const tried = issue.issues.find((inner) => !isOtherMember(inner)) ?? issue.issues[0]
      return tried === undefined ? { path, issue } : problemOf(tried, path)
    }
    default:
      return { path, issue }
  }
}

const render = (path: Path): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`
    return text === "" ? String(key) : `${text}.${String(key)}`
  }, "") || "params"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const expectation = (issue: SchemaIssue.Issue): string => {
  const message = format(issue).issues[0]?.message ?? "is not valid"
  return message.slice(0, 1).toLowerCase() + message.slice(1)
}

const invalidParams = (method: string, root: SchemaIssue.Issue): WireError => {
  const { path, issue } = problemOf(root)
  const field = render(path)
  const problem = issue._tag === "MissingKey" ? `${field} is missing` : `${field}: ${expectation(issue)}`
  return new WireError({
    code: ErrorCode.InvalidParams,
    message: oneLine(`Invalid params for ${method}: ${problem}`),
    data: { field }
  })
}

/** The codec is made at the first use of the method. It stops at the first problem, so that no input makes it long. */
export const decodeParams = <Params>(
  method: string,
  schema: Schema.ConstraintDecoder<Params>
): ((params: unknown) => Effect.Effect<Params, WireError>) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (params) => Effect.mapError(decode(params), (error) => invalidParams(method, error.issue))
}
