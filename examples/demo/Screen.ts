/** What an editor would show, as lines of text with the time since the start. */
import type { PermissionOption, PlanEntry, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk"
import { structuredPatch } from "diff"
import { relative } from "node:path"

/** A tool call with every status that it had. */
export interface Card {
  readonly id: string
  title: string
  kind: ToolKind
  statuses: Array<string>
  locations: ReadonlyArray<ToolCallLocation>
  content: ReadonlyArray<ToolCallContent>
  readonly begun: number
}

export interface ScreenOptions {
  readonly write: (line: string) => void
  readonly colours: boolean
  /** Paths are shown relative to it. */
  readonly root: string
}

const INDENT = " ".repeat(11)
/** Lines of a text that a card shows. */
const SHOWN = 5

const boxes = { pending: "[ ]", in_progress: "[>]", completed: "[x]" } as const

export const makeScreen = ({ colours, root, write }: ScreenOptions) => {
  const start = performance.now()
  const paint = (code: number) => (text: string) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text)
  const bold = paint(1)
  const dim = paint(2)
  const red = paint(31)
  const green = paint(32)
  const yellow = paint(33)
  const cyan = paint(36)

  const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(2)} s`
  const indented = (line: string) => write(INDENT + line)
  /** One thing that happened, with its time. */
  const tell = (text: string) => write(`${dim(seconds(performance.now() - start).padStart(9))}  ${text}`)

  const excerpt = (text: string) => {
    const lines = text
      .replaceAll(/^(`{3,})\w*\n|\n`{3,}$/gm, "")
      .trimEnd()
      .split("\n")
    const rest = lines.length - SHOWN
    return [...lines.slice(0, SHOWN), ...(rest > 1 ? [`… and ${rest} more lines`] : lines.slice(SHOWN))]
  }

  const patchLine = (line: string): string =>
    line.startsWith("+") ? green(line) : line.startsWith("-") ? red(line) : dim(line)

  const content = (item: ToolCallContent) => {
    if (item.type === "diff") {
      const { hunks } = structuredPatch(item.path, item.path, item.oldText ?? "", item.newText, "", "", { context: 1 })
      for (const line of hunks.flatMap(({ lines }) => lines)) indented(patchLine(line))
    } else if (item.type === "content" && item.content.type === "text") {
      excerpt(item.content.text).forEach((line) => indented(dim(line)))
    }
  }

  const places = (locations: ReadonlyArray<ToolCallLocation>) =>
    locations.map(({ line, path }) => `${relative(root, path)}${line == null ? "" : `:${line}`}`).join(", ")

  const head = ({ kind, locations, title }: Card) =>
    `${cyan(kind.padEnd(8))}${bold(title)}${locations.length === 0 ? "" : dim(`  ${places(locations)}`)}`

  let planned = new Map<string, string>()
  /** What was judged in a question needs not be shown again when it is done. */
  const judged = new Map<string, string>()

  return {
    title: (text: string) => write(bold(text)),
    text: write,
    tell,
    quote: (text: string) => write(`\n${bold(`> ${text}`)}\n`),
    thought: (text: string) => tell(dim(`thinks  ${text}`)),
    answer: (text: string) => tell(`${green("answers")} ${text}`),
    /** The whole plan at first, then the entries that changed. */
    plan: (entries: ReadonlyArray<PlanEntry>) => {
      tell(cyan("plan"))
      for (const { content, status } of entries) {
        if (planned.get(content) !== status) indented(`${boxes[status]} ${content}`)
      }
      planned = new Map(entries.map(({ content, status }) => [content, status]))
    },
    /** A call that has ended. */
    card: (card: Card) => {
      const good = card.statuses.at(-1) === "completed"
      const states = card.statuses.join(" → ")
      tell(
        `${head(card)}  ${good ? green(states) : red(states)} ${dim(`in ${seconds(performance.now() - card.begun)}`)}`
      )
      if (judged.get(card.id) !== JSON.stringify(card.content)) card.content.forEach(content)
    },
    question: (card: Card, options: ReadonlyArray<PermissionOption>, chosen: PermissionOption) => {
      tell(`${yellow("asks")}    ${bold(card.title)}`)
      card.content.forEach(content)
      judged.set(card.id, JSON.stringify(card.content))
      for (const option of options) {
        const mark = option === chosen ? yellow("(•)") : "( )"
        indented(`${mark} ${option === chosen ? bold(option.name) : option.name}`)
      }
    },
    patch: (text: string) => {
      for (const line of text.trimEnd().split("\n")) write(patchLine(line))
    }
  }
}

export type Screen = ReturnType<typeof makeScreen>
