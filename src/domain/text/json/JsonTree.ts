/**
 * JSON as people keep it in settings, with comments and commas after the last member, read with the place of every part.
 * Nothing is lost: whoever edits changes the text at these places and leaves every other character as it is.
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

/** A member of an object; `key` begins with its quotation mark. */
export interface JsonMember {
  readonly name: string
  readonly start: number
  readonly value: JsonNode
}

interface Placed {
  /** Of the first character, and behind the last one. */
  readonly start: number
  readonly end: number
}

export type JsonObjectNode = Placed & {
  readonly _tag: "Object"
  readonly members: ReadonlyArray<JsonMember>
  /** Behind the comma that follows the last member, if there is one. */
  readonly trailingComma: number | undefined
}

export type JsonNode =
  | JsonObjectNode
  | (Placed & { readonly _tag: "Array"; readonly items: ReadonlyArray<JsonNode> })
  | (Placed & { readonly _tag: "Scalar"; readonly value: string | number | boolean | null })

/** Where the text stops being JSON; both count from 1. */
export interface JsonProblem {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** Deeper nesting is nobody's settings, and would end the reader. */
const MAX_DEPTH = 500

const BOM = "\u{feff}"
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const STRING = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy

interface Stop {
  readonly at: number
  readonly message: string
}

/** Behind white space and comments that begin at `at`; undefined for a comment without an end. */
const skipSpace = (text: string, at: number): number | undefined => {
  let index = at
  for (;;) {
    while (index < text.length && /\s/.test(text.charAt(index))) index += 1
    if (text.startsWith("//", index)) {
      while (index < text.length && !/[\r\n]/.test(text.charAt(index))) index += 1
    } else if (text.startsWith("/*", index)) {
      const end = text.indexOf("*/", index + 2)
      if (end === -1) return undefined
      index = end + 2
    } else return index
  }
}

/** A reader of one text. What it cannot go on from it remembers, and gives `undefined` from there on. */
const makeReader = (text: string) => {
  let at = text.startsWith(BOM) ? 1 : 0
  let stopped: Stop | undefined

  const stop = (message: string): undefined => {
    stopped ??= { at, message }
  }

  const space = (): boolean => {
    const next = skipSpace(text, at)
    if (next === undefined) stop("a comment has no end")
    else at = next
    return next !== undefined
  }

  const matched = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }

  /** What stands between an opening and a closing bracket, and the place behind a last comma. */
  const list = <A>(
    close: string,
    item: () => A | undefined
  ): { readonly items: ReadonlyArray<A>; readonly comma: number | undefined } | undefined => {
    const items: Array<A> = []
    let comma: number | undefined
    at += 1
    while (space()) {
      if (text.charAt(at) === close) {
        at += 1
        return { items, comma }
      }
      if (items.length > 0 && comma === undefined) return stop(`a comma or ${close} was expected`)
      const found = item()
      if (found === undefined || !space()) return undefined
      items.push(found)
      const isComma = text.charAt(at) === ","
      if (isComma) at += 1
      comma = isComma ? at : undefined
    }
    return undefined
  }

  const member = (depth: number): JsonMember | undefined => {
    const start = at
    const name = matched(STRING)
    if (name === undefined) return stop("the name of a member in quotation marks was expected")
    if (!space()) return undefined
    if (text.charAt(at) !== ":") return stop("a colon was expected")
    at += 1
    const found = space() ? value(depth) : undefined
    return found && { name: String(JSON.parse(name)), start, value: found }
  }

  const value = (depth: number): JsonNode | undefined => {
    if (depth > MAX_DEPTH) return stop("it is nested too deeply")
    const start = at
    if (text.charAt(at) === "{") {
      const found = list("}", () => member(depth + 1))
      return found && { _tag: "Object", start, end: at, members: found.items, trailingComma: found.comma }
    }
    if (text.charAt(at) === "[") {
      const found = list("]", () => value(depth + 1))
      return found && { _tag: "Array", start, end: at, items: found.items }
    }
    const found = matched(STRING) ?? matched(SCALAR)
    if (found === undefined) return stop(at === text.length ? "it ends too early" : "a value was expected")
    return { _tag: "Scalar", start, end: at, value: JSON.parse(found) }
  }

  return (): Result.Result<JsonNode | undefined, Stop> => {
    const root = space() && at < text.length ? value(0) : undefined
    if (root !== undefined && space() && at < text.length) stop("something follows the end")
    return stopped === undefined ? Result.succeed(root) : Result.fail(stopped)
  }
}

const placeOf = (text: string, { at, message }: Stop): JsonProblem => {
  const before = text.slice(0, at).split(/\r\n|\r|\n/)
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message }
}

/** The value that the text has, if it has any: an empty file, or one of comments, has none. */
export const parseTree = (text: string): Result.Result<JsonNode | undefined, JsonProblem> =>
  Result.mapError(makeReader(text)(), (stop) => placeOf(text, stop))

/** Of several members of one name the last one counts. */
export const memberOf = (node: JsonObjectNode, name: string): JsonMember | undefined =>
  node.members.findLast((member) => member.name === name)

/** The plain value. */
export const valueOf = (node: JsonNode): Schema.Json => {
  switch (node._tag) {
    case "Scalar":
      return node.value
    case "Array":
      return node.items.map(valueOf)
    case "Object":
      return Object.fromEntries(node.members.map(({ name, value }) => [name, valueOf(value)]))
  }
}
