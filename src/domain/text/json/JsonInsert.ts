/** Sets a member in the text of settings, in the style that is there, and leaves every other character as it is. */
import type * as Schema from "effect/Schema"
import { type JsonNode, type JsonObjectNode, memberOf } from "./JsonTree.ts"

/** Replaces what stands from `start` to `end`; both are places in the text before any change. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Edits must not overlap; of several at one place the first comes first. */
export const applyEdits = (text: string, edits: ReadonlyArray<TextEdit>): string =>
  edits
    .toSorted((one, other) => one.start - other.start)
    .reduceRight((changed, edit) => changed.slice(0, edit.start) + edit.text + changed.slice(edit.end), text)

export interface Style {
  readonly newline: string
  readonly unit: string
}

/** How the file is written: its line ends, and what one level is indented by. */
export const styleOf = (text: string): Style => {
  const indents = [...text.matchAll(/(?:^|[\r\n])([ \t]+)(?=")/g)].map(([, indent = ""]) => indent)
  const shortest = indents.toSorted((one, other) => one.length - other.length)[0] ?? "  "
  return { newline: /\r\n/.test(text) ? "\r\n" : "\n", unit: shortest.startsWith("\t") ? "\t" : shortest }
}

const lineStart = (text: string, at: number): number =>
  Math.max(text.lastIndexOf("\n", at - 1), text.lastIndexOf("\r", at - 1)) + 1

const indentAt = (text: string, at: number): string => /^[ \t]*/.exec(text.slice(lineStart(text, at), at))?.[0] ?? ""

const isFirstOnLine = (text: string, at: number): boolean => /^[ \t]*$/.test(text.slice(lineStart(text, at), at))

const inLine = (value: Schema.Json): string => {
  if (Array.isArray(value)) return `[${value.map(inLine).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${inLine(member)}`)
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`
}

/** Lists of words stand on one line, as people write them; objects do not. */
export const printed = (value: Schema.Json, { newline, unit }: Style, indent = ""): string => {
  const isList = Array.isArray(value)
  if (typeof value !== "object" || value === null || (isList && value.every((item) => typeof item !== "object"))) {
    return inLine(value)
  }
  const inner = indent + unit
  const style = { newline, unit }
  const parts = isList
    ? value.map((item) => inner + printed(item, style, inner))
    : Object.entries(value).map(([name, member]) => `${inner}${JSON.stringify(name)}: ${printed(member, style, inner)}`)
  const [open, close] = isList ? ["[", "]"] : ["{", "}"]
  return parts.length === 0 ? open + close : [open, parts.join(`,${newline}`), indent + close].join(newline)
}

/** Behind comments that follow on the same line: they belong to what stands before them. */
const lineTail = (text: string, from: number): number => {
  let at = from
  for (;;) {
    const rest = /^[ \t]*(\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/)/.exec(text.slice(at))
    if (rest === null) return at
    at += rest[0].length
  }
}

const intoEmpty = (text: string, object: JsonObjectNode, name: string, value: Schema.Json): ReadonlyArray<TextEdit> => {
  const style = styleOf(text)
  const close = object.end - 1
  const base = indentAt(text, object.start)
  const indent = base + style.unit
  const member = `${JSON.stringify(name)}: ${printed(value, style, indent)}`
  const line = lineStart(text, close)
  return line > object.start && isFirstOnLine(text, close)
    ? [{ start: line, end: line, text: indent + member + style.newline }]
    : [{ start: close, end: close, text: `${style.newline}${indent}${member}${style.newline}${base}` }]
}

/** Puts a new member behind the last one. */
export const insertMember = (
  text: string,
  object: JsonObjectNode,
  name: string,
  value: Schema.Json
): ReadonlyArray<TextEdit> => {
  const last = object.members.at(-1)
  if (last === undefined) return intoEmpty(text, object, name, value)
  const style = styleOf(text)
  const behind = object.trailingComma ?? last.value.end
  const comma = object.trailingComma === undefined ? [{ start: behind, end: behind, text: "," }] : []
  const ending = object.trailingComma === undefined ? "" : ","
  const isOneLine = !/[\r\n]/.test(text.slice(object.start, object.end))
  if (isOneLine) {
    const at = lineTail(text, behind)
    return [...comma, { start: at, end: at, text: ` ${JSON.stringify(name)}: ${inLine(value)}${ending}` }]
  }
  const first = object.members.findLast(({ start }) => isFirstOnLine(text, start))
  const indent = first === undefined ? indentAt(text, object.start) + style.unit : indentAt(text, first.start)
  const at = lineTail(text, behind)
  const member = `${JSON.stringify(name)}: ${printed(value, style, indent)}${ending}`
  return [...comma, { start: at, end: at, text: style.newline + indent + member }]
}

/** Replaces a value by another one. */
export const replaceValue = (text: string, node: JsonNode, value: Schema.Json): TextEdit => {
  const isOneLine = !/[\r\n]/.test(text.slice(node.start, node.end)) && node._tag !== "Scalar"
  return {
    start: node.start,
    end: node.end,
    text: isOneLine ? inLine(value) : printed(value, styleOf(text), indentAt(text, node.start))
  }
}

/** A whole file where there was none, behind comments that it may have. */
export const appendRoot = (text: string, value: Schema.Json): ReadonlyArray<TextEdit> => {
  const { newline } = styleOf(text)
  const isOnOwnLine = text === "" || /(?:^\u{feff}?|[\r\n])[ \t]*$/u.test(text)
  const printedValue = printed(value, styleOf(text))
  return [{ start: text.length, end: text.length, text: `${isOnOwnLine ? "" : newline}${printedValue}${newline}` }]
}

/** Sets a member: nothing where it has that value already. */
export const setMember = (
  text: string,
  object: JsonObjectNode,
  name: string,
  value: Schema.Json,
  isSame: (node: JsonNode) => boolean
): ReadonlyArray<TextEdit> => {
  const present = memberOf(object, name)
  if (present === undefined) return insertMember(text, object, name, value)
  return isSame(present.value) ? [] : [replaceValue(text, present.value, value)]
}
