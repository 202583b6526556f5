/** Questions about calls, put to the person at the terminal: asked on stderr, answered on the terminal itself. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Answer, Question } from "../../domain/permission/Permission.ts"
import { outputText, type ToolContent } from "../../domain/Tool.ts"
import { textOf } from "../../transports/inbox/Projection.ts"
import { diffOf } from "../terminal/Diff.ts"
import { plainLine, plainText } from "../terminal/Plain.ts"
import { readLine } from "../terminal/TerminalLine.ts"

export type Asker = (question: Question, title: string) => Effect.Effect<Answer>

/** Lines of what a question shows; a person who wants more uses an editor. */
const MAX_LINES = 40

const shownContent = (content: ToolContent): string => {
  switch (content.type) {
    case "content":
      return textOf([content.content])
    case "output":
      return outputText(content)
    case "diff":
      return diffOf(content.path, content.oldText ?? "", content.newText)
  }
}

const bounded = (text: string): string => {
  const lines = text.trimEnd().split("\n")
  return lines.length <= MAX_LINES
    ? lines.join("\n")
    : [...lines.slice(0, MAX_LINES), `… ${lines.length - MAX_LINES} more lines`].join("\n")
}

const describe = ({ call, options }: Question, title: string): string => {
  const content = (call.patch.content ?? []).map(shownContent).filter((text) => text.trim() !== "")
  return [
    "",
    plainLine(call.patch.title ?? title),
    ...content.map((text) => bounded(plainText(text))),
    ...options.map(({ name }, at) => `  ${at + 1}) ${plainLine(name)}`)
  ].join("\n")
}

/** One question at a time, in the order in which they come. */
export const make = (write: (text: string) => Effect.Effect<void>): Asker => {
  const oneAtATime = Semaphore.makeUnsafe(1)
  const put = Effect.fnUntraced(function* (question: Question, title: string): Effect.fn.Return<Answer> {
    const { options } = question
    yield* write(`${describe(question, title)}\n`)
    for (;;) {
      yield* write(`Answer 1-${options.length}: `)
      const line = yield* readLine
      if (line === undefined) return { _tag: "Cancelled" }
      const chosen = options[Number(line.trim()) - 1]
      if (chosen !== undefined) return { _tag: "Selected", optionId: chosen.id }
    }
  })
  return (question, title) => oneAtATime.withPermit(put(question, title))
}
