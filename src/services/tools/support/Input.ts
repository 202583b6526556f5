/**
 * From what a model sent to what a tool takes. Harmless slips are forgiven: `null` for a value that may be left out,
 * numbers and flags as text, well-known other names of a field, keys that nobody asked for.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { ToolInputInvalid } from "../../ToolDefinition.ts"

const aliases: Readonly<Record<string, string>> = {
  file: "path",
  file_path: "path",
  filePath: "path",
  filename: "path",
  directory: "path",
  old_text: "old_string",
  oldText: "old_string",
  oldString: "old_string",
  new_text: "new_string",
  newText: "new_string",
  newString: "new_string",
  replaceAll: "replace_all",
  text: "content",
  regex: "pattern",
  diff: "patch",
  input: "patch",
  cmd: "command",
  todos: "entries",
  items: "entries"
}

const parseJson = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** Without absent values, at any depth. */
const compact = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(compact)
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (item === null || item === undefined ? [] : [[key, compact(item)]]))
  )
}

const rename = (input: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): Record<string, unknown> => {
  const renamed: Record<string, unknown> = { ...input }
  for (const [key, value] of Object.entries(input)) {
    const name = aliases[key]
    if (name !== undefined && !known.has(key) && known.has(name) && !(name in input)) renamed[name] = value
  }
  return renamed
}

/** The number or flag that a text spells, or the value as it is. */
const spelled = (value: unknown): unknown => {
  if (typeof value !== "string") return value
  if (/^\s*-?\d+(\.\d+)?\s*$/.test(value)) return Number(value)
  return /^(true|false)$/i.test(value)
    ? value.toLowerCase() === "true"
    : Option.getOrElse(parseJson(value), () => value)
}

/** The same for a value inside of it; where it is a text itself, all of it is spelled out. */
const respelled = (value: unknown, [key, ...path]: ReadonlyArray<string>): unknown => {
  if (key === undefined || typeof value === "string") return spelled(value)
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (String(index) === key ? respelled(item, path) : item))
  }
  return Predicate.isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, name === key ? respelled(item, path) : item])
      )
    : value
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => (issue._tag === "MissingKey" ? "is missing" : SchemaIssue.defaultLeafHook(issue))
})

interface Problem {
  readonly field: string
  readonly message: string
}

const problemsOf = (error: Schema.SchemaError): ReadonlyArray<Problem> =>
  format(error.issue).issues.map(({ message, path }) => ({
    field: (path ?? []).map(String).join("."),
    message: message.replace(/^E/, "e")
  }))

const complain = (tool: string, problems: ReadonlyArray<Problem>): ToolInputInvalid =>
  new ToolInputInvalid({
    message: `The input of ${tool} does not fit: ${problems
      .map(({ field, message }) => (field === "" ? message : `"${field}" ${message}`))
      .join("; ")}. Correct it and call again.`
  })

/** Programs and files cannot be given a NUL character; `remedy` says what to write. */
export const withoutNul = (field: string, text: string | undefined, remedy: string) =>
  text?.includes("\0") === true
    ? Effect.fail(new ToolInputInvalid({ message: `"${field}" holds a NUL character: ${remedy}` }))
    : Effect.void

/** A pattern for names of files. */
export const someGlob = (field: string, text: string | undefined) =>
  text?.trim() === ""
    ? Effect.fail(new ToolInputInvalid({ message: `"${field}" is empty: write a pattern such as *.ts` }))
    : withoutNul(field, text, "no name of a file has one; write it without")

/**
 * Decodes by the schema that the model was shown; the message of a failure names each field. `items` are the fields of
 * the objects in a list.
 */
export const makeInput = <A>(
  tool: string,
  schema: Schema.ConstraintDecoder<A> & { readonly fields: Readonly<Record<string, unknown>> },
  items: Readonly<Record<string, ReadonlyArray<string>>> = {}
) => {
  const known = new Set(Object.keys(schema.fields))
  const inner = Object.entries(items).map(([key, names]) => [key, new Set(names)] as const)

  const renameItems = (named: Record<string, unknown>): void => {
    for (const [key, names] of inner) {
      const list = named[key]
      if (!Array.isArray(list)) continue
      named[key] = list.map((item: unknown) => (Predicate.isObject(item) ? rename({ ...item }, names) : item))
    }
  }

  const decode = Schema.decodeUnknownResult(schema, { errors: "all" })
  return Effect.fnUntraced(function* (input: unknown) {
    const value = compact(typeof input === "string" ? Option.getOrElse(parseJson(input), () => input) : (input ?? {}))
    if (!Predicate.isObject(value)) {
      return yield* complain(tool, [{ field: "", message: "expected an object with named fields" }])
    }
    const named = rename({ ...value }, known)
    renameItems(named)
    const first = decode(named)
    if (Result.isSuccess(first)) return first.success
    for (const { field } of problemsOf(first.failure)) {
      const [key = "", ...path] = field.split(".")
      if (key in named) named[key] = respelled(named[key], path)
    }
    renameItems(named)
    const second = decode(named)
    if (Result.isSuccess(second)) return second.success
    return yield* complain(tool, problemsOf(second.failure))
  })
}
