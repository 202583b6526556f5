/** What a question shows beside the preview of its tool, so that a person can judge what is asked. */
import { fenced } from "../text/Fence.ts"
import { textContent, type ToolCallPatch, type ToolContent } from "../Tool.ts"
import { isProtected } from "./facts/FileFacts.ts"
import { realName, type Links } from "./PathPattern.ts"
import type { Access } from "./Permission.ts"

const MAX_PATHS = 20

/** Characters that could hide or reorder what stands beside them. */
const unseen = /[\p{Cf}\p{Cc}]/gu

const visible = (text: string): string =>
  text.replace(unseen, (char) =>
    char === "\n" || char === "\t" ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
  )

const listed = (what: string, paths: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...paths.slice(0, MAX_PATHS).map((path) => `${what}: ${visible(path)}`),
  ...(paths.length > MAX_PATHS ? [`… and ${paths.length - MAX_PATHS} more`] : [])
]

const notesOf = (access: Access, links: Links): ReadonlyArray<string> => {
  switch (access._tag) {
    case "Read":
    case "Edit": {
      const outside = listed("Outside of the workspace", access.outside)
      const special = access._tag === "Edit" ? access.paths.filter(isProtected) : []
      const real = new Set(special.map((path) => realName(links, path)))
      return [...outside, ...listed("This file can decide what programs run", [...real])]
    }
    case "None":
    case "Execute":
    case "Fetch":
    case "Mcp":
      return []
  }
}

const legible = (part: ToolContent): ToolContent =>
  part.type === "content" && part.content.type === "text" ? textContent(visible(part.content.text)) : part

const shownOf = (access: Access, { content = [] }: ToolCallPatch): ReadonlyArray<ToolContent> => {
  if (content.length > 0) return content.map(legible)
  if (access._tag === "Execute") return [textContent(`${fenced(visible(access.command), "sh")}\nIn ${access.cwd}`)]
  return access._tag === "Fetch" ? [textContent(fenced(visible(access.url)))] : []
}

/** The call as the question shows it. `notes` stand first: what is special about this question. */
export const questionPatch = (
  access: Access,
  patch: ToolCallPatch,
  { links, notes }: { readonly links: Links; readonly notes: ReadonlyArray<string> }
): ToolCallPatch => {
  const lines = [...notes, ...notesOf(access, links)]
  const content = [...(lines.length === 0 ? [] : [textContent(lines.join("\n"))]), ...shownOf(access, patch)]
  return {
    ...patch,
    ...(patch.title === undefined ? {} : { title: visible(patch.title) }),
    ...(content.length === 0 ? {} : { content })
  }
}
