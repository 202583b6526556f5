/** HTML as Markdown that reads like the page: headings, links, lists, code and tables, without what only a browser wants. */
import { fenced } from "../../domain/text/Fence.ts"
import * as Blocks from "./html/Blocks.ts"
import * as Inline from "./html/Inline.ts"
import { tableLines } from "./html/Table.ts"
import { type Attributes, tokensOf } from "./html/Tokens.ts"

export interface Readable {
  readonly title: string | undefined
  readonly text: string
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "))

/** Left out with all that is in them. */
const unread = words("noscript template svg object embed canvas audio video select datalist button")

/** Blocks that may be hidden; of other elements the end may be left out. */
const hideable = words("div section span article aside main header footer nav form table dialog details")

const whole = words("p h1 h2 h3 h4 h5 h6 pre blockquote table figure dl address")
const blocks = words(
  "address article aside body caption center dd details dialog div dl dt fieldset figcaption figure footer form head " +
    "header hgroup html legend main nav p section summary tbody tfoot thead"
)

const headings = new Map(["h1", "h2", "h3", "h4", "h5", "h6"].map((name, at) => [name, `${"#".repeat(at + 1)} `]))

const ticks = (body: string): string => {
  const longest = (body.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0)
  const fence = "`".repeat(longest + 1)
  return longest === 0 ? `\`${body}\`` : `${fence} ${body} ${fence}`
}

/** How inline elements show. */
const marks = new Map<string, (body: string) => string>([
  ...["b", "strong"].map((name) => [name, (body: string) => `**${body}**`] as const),
  ...["i", "em"].map((name) => [name, (body: string) => `*${body}*`] as const),
  ...["code", "kbd", "samp", "tt"].map((name) => [name, ticks] as const),
  ...["del", "s", "strike"].map((name) => [name, (body: string) => `~~${body}~~`] as const),
  ["q", (body) => `"${body}"`]
])

/** Longer addresses are data rather than places. */
const LONGEST_LINK = 1_000

const isHidden = (attributes: Attributes): boolean =>
  attributes.has("hidden") || /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributes.get("style") ?? "")

const languageOf = (attributes: Attributes): string | undefined =>
  /(?:^|\s)(?:lang|language|highlight-source)-([\w+#-]+)/.exec(attributes.get("class") ?? "")?.[1]

interface Cells {
  readonly rows: Array<Array<string>>
  isInCell: boolean
}

interface Verbatim {
  readonly pieces: Array<string>
  language: string | undefined
}

/** `base`: where relative links start. */
export const toMarkdown = (html: string, base: URL): Readable => {
  const out = Blocks.make()
  const inline = Inline.make()
  /** The tables around; `undefined` one that only lays out the page. */
  const tables: Array<Cells | undefined> = []
  let title: string | undefined
  let root = base
  let heading = ""
  let verbatim: Verbatim | undefined
  let skipped: { readonly name: string; depth: number } | undefined
  let isTitle = false

  const cells = (): Cells | undefined => tables.at(-1)

  const flush = (): void => {
    if (cells()?.isInCell === true) return inline.space()
    const text = inline.take().trim()
    if (text === "") return
    out.add(heading === "" ? text.split("\n").map((line) => line.trim()) : [heading + text.replace(/\s*\n\s*/g, " ")])
  }

  const part = (name: string): void => {
    flush()
    if (cells()?.isInCell !== true) out.part(whole.has(name))
  }

  const linkTo = (href: string | undefined): string | undefined => {
    const url = href === undefined || href.startsWith("#") ? null : URL.parse(href, root.href)
    const isLink = url !== null && /^(https?|mailto):$/.test(url.protocol) && url.href.length <= LONGEST_LINK
    return isLink ? url.href : undefined
  }

  const endCell = (): void => {
    const table = cells()
    if (table?.isInCell !== true) return
    table.rows.at(-1)?.push(inline.take())
    table.isInCell = false
  }

  const showTable = (table: Cells, isLayout = false): void => {
    out.part(true)
    const lines = isLayout ? undefined : tableLines(table.rows)
    if (lines !== undefined) out.add(lines)
    else for (const cell of table.rows.flat()) showCell(cell)
    out.part(true)
  }

  const showCell = (cell: string): void => {
    const text = cell.trim()
    if (text === "") return
    out.part(true)
    out.add(text.split("\n").map((line) => line.trim()))
  }

  const openTable = (): void => {
    const around = cells()
    if (around !== undefined) {
      // A table around another one lays out the page.
      endCell()
      showTable(around, true)
      tables[tables.length - 1] = undefined
    }
    part("table")
    tables.push({ rows: [], isInCell: false })
  }

  const closeTable = (): void => {
    endCell()
    const table = tables.pop()
    if (table !== undefined) showTable(table)
  }

  const endVerbatim = (): void => {
    if (verbatim === undefined) return
    const text = verbatim.pieces.join("").replace(/^\n/, "").trimEnd()
    if (text !== "") out.add(fenced(text, verbatim.language).split("\n"))
    verbatim = undefined
    out.part(true)
  }

  const openInTable = (name: string): boolean => {
    const isCell = name === "td" || name === "th"
    if (!isCell && name !== "tr") return false
    const table = cells()
    if (table === undefined) {
      part(isCell ? "span" : "div")
      return true
    }
    endCell()
    if (!isCell || table.rows.length === 0) table.rows.push([])
    if (isCell) {
      flush()
      table.isInCell = true
    }
    return true
  }

  const open = (name: string, attributes: Attributes): void => {
    if (verbatim !== undefined) {
      if (name === "br") verbatim.pieces.push("\n")
      if (name === "code") verbatim.language ??= languageOf(attributes)
      return
    }
    if (openInTable(name)) return
    const mark = marks.get(name)
    const level = headings.get(name)
    if (mark !== undefined) return inline.isIn(name) ? undefined : inline.open(name, mark)
    if (level !== undefined) {
      part(name)
      heading = level
      return
    }
    if (blocks.has(name)) return part(name)
    const isFree = cells()?.isInCell !== true
    switch (name) {
      case "a": {
        const link = linkTo(attributes.get("href"))
        inline.close("a")
        if (link !== undefined) inline.open("a", (body) => `[${body.replace(/\s*\n\s*/g, " ")}](${link})`)
        return
      }
      case "img": {
        const alt = attributes.get("alt")?.trim() ?? ""
        const source = linkTo(attributes.get("src"))
        if (alt !== "") inline.text(source === undefined || inline.isIn("a") ? alt : `![${alt}](${source})`)
        return
      }
      case "br":
        return inline.text("\n", true)
      case "hr":
        part("p")
        if (isFree) out.add(["---"])
        return part("p")
      case "pre":
        part(name)
        if (isFree) verbatim = { pieces: [], language: languageOf(attributes) }
        return
      case "table":
        return openTable()
      case "base":
        root = URL.parse(attributes.get("href") ?? "", base.href) ?? root
        return
      case "ul":
      case "menu":
      case "ol":
        flush()
        if (isFree) out.openList(name === "ol" ? Math.trunc(Number(attributes.get("start") ?? 1)) || 1 : undefined)
        return
      case "li":
        flush()
        if (isFree) out.openItem()
        return
      case "blockquote":
        flush()
        if (isFree) out.openQuote()
        return
    }
  }

  const close = (name: string): void => {
    if (verbatim !== undefined) {
      if (name === "pre") endVerbatim()
      return
    }
    if (marks.has(name) || name === "a") return inline.close(name)
    if (headings.has(name)) {
      flush()
      heading = ""
      return out.part(true)
    }
    if (name === "td" || name === "th" || name === "tr") return cells() === undefined ? part(name) : endCell()
    if (name === "table") return closeTable()
    if (blocks.has(name)) return part("div")
    const isFree = cells()?.isInCell !== true
    if (name !== "ul" && name !== "ol" && name !== "menu" && name !== "li" && name !== "blockquote") return
    flush()
    if (!isFree) return
    if (name === "li") out.closeItem()
    else if (name === "blockquote") out.closeQuote()
    else out.closeList()
  }

  for (const token of tokensOf(html)) {
    if (token.type === "text") {
      if (skipped !== undefined) continue
      if (isTitle) title ??= token.text.replace(/\s+/g, " ").trim()
      else if (verbatim === undefined) inline.text(token.text)
      else verbatim.pieces.push(token.text)
      continue
    }
    const { name } = token
    if (skipped !== undefined) {
      if (name !== skipped.name) continue
      if (token.type === "close") skipped.depth -= 1
      else if (!token.isClosed) skipped.depth += 1
      if (skipped.depth === 0) skipped = undefined
      continue
    }
    if (name === "title") {
      isTitle = token.type === "open" && !token.isClosed
      continue
    }
    if (token.type === "close") close(name)
    else if (unread.has(name) || (hideable.has(name) && isHidden(token.attributes))) {
      if (!token.isClosed) skipped = { name, depth: 1 }
    } else open(name, token.attributes)
  }
  endVerbatim()
  while (tables.length > 0) closeTable()
  flush()
  return { title: title === "" ? undefined : title, text: out.text().trim() }
}
