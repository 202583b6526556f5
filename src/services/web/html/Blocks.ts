/** Paragraphs, headings and code as lines of Markdown, within lists and quotations. */

type Container = { readonly kind: "quote" } | { readonly kind: "item"; readonly marker: string; isBegun: boolean }

interface List {
  /** The containers around it. */
  readonly base: number
  next: number | undefined
}

/** Lists and quotations within each other; deeper ones are not indented any further. */
const DEEPEST = 24

export interface Blocks {
  /** Adds lines as one block. */
  readonly add: (lines: ReadonlyArray<string>) => void
  /** What comes next stands apart: by an empty line, and in a list only between `whole` paragraphs. */
  readonly part: (whole: boolean) => void
  readonly openQuote: () => void
  readonly closeQuote: () => void
  /** `first`: the number of its first item; absent for a list without numbers. */
  readonly openList: (first: number | undefined) => void
  readonly closeList: () => void
  readonly openItem: () => void
  readonly closeItem: () => void
  readonly text: () => string
}

export const make = (): Blocks => {
  const lines: Array<string> = []
  const containers: Array<Container> = []
  const lists: Array<List> = []
  /** The containers of the last line. */
  let before: ReadonlyArray<Container> = []
  let gap: "none" | "line" | "blank" = "none"

  const prefix = (): string =>
    containers
      .map((container) => {
        if (container.kind === "quote") return "> "
        const marker = container.isBegun ? " ".repeat(container.marker.length) : container.marker
        container.isBegun = true
        return marker
      })
      .join("")

  /** Of an empty line: that of what is around both sides of it. */
  const emptyPrefix = (): string =>
    containers
      .filter((container, at) => container === before[at])
      .map((container) => (container.kind === "quote" ? "> " : " ".repeat(container.marker.length)))
      .join("")

  const inner = (): Container | undefined => containers.at(-1)

  const widen = (wanted: "line" | "blank"): void => {
    if (gap !== "blank") gap = wanted
  }

  const part: Blocks["part"] = (whole) => {
    const around = inner()
    if (around?.kind === "item" && !around.isBegun) return
    widen(around?.kind === "item" && !whole ? "line" : "blank")
  }

  const push = (container: Container): void => {
    if (containers.length < DEEPEST) containers.push(container)
  }

  const closeItem = (): void => {
    const base = lists.at(-1)?.base
    if (base === undefined || containers.length <= base) return
    containers.length = base
    widen("line")
  }

  return {
    add: (added) => {
      if (lines.length > 0 && gap === "blank") lines.push(emptyPrefix().trimEnd())
      gap = "none"
      for (const line of added) lines.push((prefix() + line).trimEnd())
      before = [...containers]
      widen("line")
    },
    part,
    openQuote: () => {
      part(true)
      push({ kind: "quote" })
    },
    closeQuote: () => {
      const found = containers.findLastIndex(({ kind }) => kind === "quote")
      if (found >= (lists.at(-1)?.base ?? 0)) containers.length = Math.max(0, found)
      widen("blank")
    },
    openList: (first) => {
      part(false)
      lists.push({ base: containers.length, next: first })
    },
    closeList: () => {
      const list = lists.pop()
      if (list === undefined) return
      containers.length = Math.min(containers.length, list.base)
      part(false)
    },
    openItem: () => {
      if (lists.length === 0) lists.push({ base: containers.length, next: undefined })
      closeItem()
      const list = lists.at(-1)
      const number = list?.next
      if (list !== undefined && number !== undefined) list.next = number + 1
      push({ kind: "item", marker: number === undefined ? "- " : `${number}. `, isBegun: false })
    },
    closeItem,
    text: () => lines.join("\n")
  }
}
