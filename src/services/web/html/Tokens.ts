/** HTML as tags and text, in one pass over it. Takes whatever pages are made of; nothing in it is ever run or loaded. */
import { decodeEntities } from "./Entities.ts"

export type Attributes = ReadonlyMap<string, string>

export type Token =
  | { readonly type: "open"; readonly name: string; readonly attributes: Attributes; readonly isClosed: boolean }
  | { readonly type: "close"; readonly name: string }
  | { readonly type: "text"; readonly text: string }

/** Their content is text up to their end, and none that anybody reads. */
const dropped: ReadonlySet<string> = new Set(["script", "style", "xmp", "iframe", "noembed", "noframes", "textarea"])

const voids: ReadonlySet<string> = new Set(
  "area base br col embed hr img input link meta param source track wbr".split(" ")
)

const TAG_NAME = /[a-z][^\s/>]*/iy
const BETWEEN = /[\s/]*/y
const ATTRIBUTE = /([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/y

/** Attributes of one tag; more are left out. */
const MANY = 64

export function* tokensOf(html: string): Generator<Token> {
  let at = 0

  const match = (pattern: RegExp, start: number): RegExpExecArray | null => {
    pattern.lastIndex = start
    return pattern.exec(html)
  }

  /** Leaves `at` behind the tag. */
  const attributes = (start: number): { readonly attributes: Attributes; readonly isClosed: boolean } => {
    const found = new Map<string, string>()
    at = start
    while (true) {
      at += match(BETWEEN, at)?.[0].length ?? 0
      if (at >= html.length || html[at] === ">") break
      const [all, name, ...values] = match(ATTRIBUTE, at) ?? []
      if (all === undefined || name === undefined) {
        at += 1
        continue
      }
      at += all.length
      const key = name.toLowerCase()
      const value = values.find((candidate) => candidate !== undefined) ?? ""
      if (found.size < MANY && !found.has(key)) found.set(key, decodeEntities(value))
    }
    const isClosed = html[at - 1] === "/"
    at += 1
    return { attributes: found, isClosed }
  }

  /** Where the content of an element ends that holds no tags, and where what comes after it begins. */
  const rawEnd = (name: string): number => match(new RegExp(`</${name}(?=[\\s/>])`, "gi"), at)?.index ?? html.length

  const skipTo = (mark: string, start: number): void => {
    const end = html.indexOf(mark, start)
    at = end === -1 ? html.length : end + mark.length
  }

  while (at < html.length) {
    const tag = html.indexOf("<", at)
    const end = tag === -1 ? html.length : tag
    if (end > at) yield { type: "text", text: decodeEntities(html.slice(at, end)) }
    at = end
    if (tag === -1) return
    const next = html[tag + 1]
    if (next === "!" || next === "?") {
      if (html.startsWith("<!--", tag)) skipTo("-->", tag + 2)
      else skipTo(">", tag)
      continue
    }
    const name = match(TAG_NAME, next === "/" ? tag + 2 : tag + 1)?.[0].toLowerCase()
    if (name === undefined) {
      if (next === "/") skipTo(">", tag)
      else {
        yield { type: "text", text: "<" }
        at = tag + 1
      }
      continue
    }
    if (next === "/") {
      skipTo(">", tag)
      yield { type: "close", name }
      continue
    }
    const { attributes: found, isClosed } = attributes(tag + 1 + name.length)
    if (dropped.has(name)) {
      at = rawEnd(name)
      continue
    }
    yield { type: "open", name, attributes: found, isClosed: isClosed || voids.has(name) }
    if (name !== "title" || isClosed) continue
    const last = rawEnd(name)
    yield { type: "text", text: decodeEntities(html.slice(at, last)) }
    at = last
  }
}
