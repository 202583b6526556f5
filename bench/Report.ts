/** The targets, and the table that shows how the programs stand to them. */
import { dialects } from "./Dialects.ts"
import type { Figure } from "./Rounds.ts"

export type ProgramName =
  | "super-pi"
  | "scripted"
  | "bare Node"
  | "SDK"
  | "SDK and fetch"
  | "stdio"
  | "WebSocket"
  | "HTTP"
export type Figures = ReadonlyMap<ProgramName, ReadonlyMap<Figure, ReadonlyArray<number>>>

interface Target {
  readonly name: string
  readonly figure: Figure
  /** Whose figure counts as ours, where it is not that of the program with a real model. */
  readonly ours?: ProgramName
  /** With a floor, a target is a ratio to its figure (of the same name, unless `floorFigure` says otherwise). */
  readonly floor?: ProgramName
  readonly floorFigure?: Figure
  readonly most?: number
  readonly least?: number
}

type Bound = Pick<Target, "most" | "least">

/** The same work over a network, beside stdio. */
const over = (ours: ProgramName, name: string, figure: Figure, bound: Bound): Target => ({
  name: `${name}, over ${ours}`,
  figure,
  ours,
  floor: "stdio",
  ...bound
})

const targets: ReadonlyArray<Target> = [
  { name: "start to `initialize`", figure: "initialize ms", floor: "SDK", most: 0.7 },
  { name: "start to `initialize`", figure: "initialize ms", floor: "bare Node", most: 2.2 },
  { name: "start to the first token of a first prompt", figure: "first token ms", floor: "SDK and fetch", most: 1.3 },
  { name: "a later `session/new`", figure: "later session ms", most: 3 },
  { name: "prompt to first chunk", figure: "later first chunk ms", floor: "SDK and fetch", most: 1.5 },
  { name: "tool result to the next request", figure: "result to request ms", most: 5 },
  ...(Object.keys(dialects) as ReadonlyArray<keyof typeof dialects>).map((dialect): Target => ({
    name: `5,000 deltas, package ${dialect}`,
    figure: `${dialect} deltas/s`,
    floor: "SDK and fetch",
    floorFigure: "stream deltas/s",
    least: 0.4
  })),
  { name: "5,000 deltas, scripted model", figure: "stream deltas/s", ours: "scripted", floor: "SDK", least: 0.8 },
  { name: "chunks that they are merged to", figure: "stream chunks", most: 50 },
  { name: "longest of them", figure: "longest chunk characters", most: 2048 },
  { name: "20 sessions at once, as first prompts", figure: "twenty sessions ms", floor: "SDK and fetch", most: 1.5 },
  { name: "20 sessions at once, later", figure: "twenty warm sessions ms", floor: "SDK and fetch", most: 1.5 },
  { name: "cancel while streaming", figure: "cancel ms", most: 5 },
  { name: "memory after `initialize`", figure: "after initialize MiB", floor: "SDK", most: 1 },
  { name: "memory after long streams", figure: "after streams MiB", most: 130 },
  { name: "memory of one more idle session", figure: "idle session MiB", most: 0.3 },
  { name: "loading 500 messages", figure: "load ms", most: 40 },
  { name: "end of input to exit", figure: "end of input ms", most: 50 },
  { name: "first request to the model", figure: "first request bytes", most: 10_000 },
  over("WebSocket", "prompt to first chunk", "later first chunk ms", { most: 1.2 }),
  over("WebSocket", "5,000 deltas", "stream deltas/s", { least: 1 / 1.2 }),
  over("WebSocket", "loading 500 messages", "load ms", { most: 1.2 }),
  over("WebSocket", "50 sessions at once", "fifty warm sessions ms", { most: 1.5 }),
  over("HTTP", "prompt to first chunk", "later first chunk ms", {}),
  over("HTTP", "5,000 deltas", "stream deltas/s", {}),
  over("HTTP", "loading 500 messages", "load ms", {}),
  over("HTTP", "50 sessions at once", "fifty warm sessions ms", {}),
  { name: "memory of 200 idle WebSockets", figure: "idle connections MiB", ours: "WebSocket", most: 40 }
]

/** Shown without a target. */
const others: ReadonlyArray<Figure> = [
  "initialize cpu ms",
  "first session ms",
  "first token cpu ms",
  "later answer ms",
  "call to request ms",
  "cancel ms",
  "stream cpu ms",
  "fifty sessions ms",
  "fifty sessions cpu ms",
  "fifty sessions MiB",
  "idle connections MiB"
]

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const number = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(value < 1 ? 2 : 3)

const unitOf = (figure: Figure): string => figure.slice(figure.lastIndexOf(" ") + 1)

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

export const report = (figures: Figures): { readonly text: string; readonly missed: number } => {
  const of = (program: ProgramName, figure: Figure): number | undefined => {
    const values = figures.get(program)?.get(figure) ?? []
    return values.length === 0 ? undefined : median(values)
  }
  const show = (value: number | undefined, figure: Figure): string =>
    value === undefined ? "–" : `${number(value)} ${unitOf(figure)}`

  let missed = 0
  const measured = targets.filter(({ ours = "super-pi" }) => figures.has(ours))
  const judged = measured.map(({ figure, floor, floorFigure = figure, least, most, name, ours = "super-pi" }) => {
    const own = of(ours, figure)
    const other = floor === undefined ? undefined : of(floor, floorFigure)
    const value = own === undefined || (floor !== undefined && other === undefined) ? undefined : own / (other ?? 1)
    const isMet = value !== undefined && value <= (most ?? Infinity) && value >= (least ?? 0)
    if (!isMet) missed += 1
    const limit = most ?? least
    const bound = `${most === undefined ? "≥" : "≤"} ${limit?.toLocaleString("en", { maximumFractionDigits: 2 })}`
    return row([
      name,
      show(own, figure),
      floor === undefined ? "" : `${show(other, floorFigure)} (${floor})`,
      floor === undefined || value === undefined ? "" : `${value.toFixed(2)} ×`,
      limit === undefined ? "" : `${bound} ${floor === undefined ? unitOf(figure) : "×"}`,
      limit === undefined ? "" : isMet ? "met" : "**missed**"
    ])
  })

  const programs = [...figures.keys()]
  const shown = others.filter((figure) => programs.some((program) => of(program, figure) !== undefined))
  const text = [
    row(["", "super-pi", "floor", "ratio", "target", ""]),
    row(["---", "---:", "---:", "---:", "---:", "---"]),
    ...judged,
    "",
    row(["without a target", ...programs]),
    row(["---", ...programs.map(() => "---:")]),
    ...shown.map((figure) => row([figure, ...programs.map((program) => show(of(program, figure), figure))]))
  ]
  return { text: text.join("\n"), missed }
}
