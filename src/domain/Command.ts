/** Slash commands, and how a prompt names one. */
import type { Content } from "./Content.ts"

/** `name` is without its slash; `hint` says what may follow it. */
export interface CommandInfo {
  readonly name: string
  readonly description: string
  readonly hint?: string
}

const whole = new Set(["undo", "clear"])

/** Whether it can be broken off anywhere, since it changes nothing before its end. */
export const isReading = (name: string): boolean => !whole.has(name)

/** A command as it was typed. `input` is all that followed its name, without the space around it. */
export interface Typed {
  readonly name: string
  readonly input: string
  /** What came with it, such as files that the editor attached. */
  readonly rest: ReadonlyArray<Content>
}

/** The command that a prompt may be: it begins with a slash and a name. Whether there is one of that name is another thing. */
export const typedIn = (content: ReadonlyArray<Content>): Typed | undefined => {
  const [first, ...rest] = content
  if (first?.type !== "text") return undefined
  const [, name, input = ""] = /^\s*\/([^\s/]+)(?:\s+([^]*))?$/.exec(first.text) ?? []
  return name === undefined ? undefined : { name, input: input.trim(), rest }
}
