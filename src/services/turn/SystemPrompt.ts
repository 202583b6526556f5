/** What the model is told before the conversation: the harness, the place, the project's and the client's instructions. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { TurnSession } from "../Turn.ts"

/** A longer instruction file is cut, with a note, so that it cannot crowd out the conversation. */
const MAX_INSTRUCTION_CHARACTERS = 32_000
const INSTRUCTIONS = "AGENTS.md"

export type SystemPrompt = (session: TurnSession) => Effect.Effect<string>

export const make = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const parentsOf = (folder: string): ReadonlyArray<string> => {
    const parent = path.dirname(folder)
    return parent === folder ? [folder] : [...parentsOf(parent), folder]
  }

  const instructionsIn = (folder: string): Effect.Effect<string | undefined> =>
    fileSystem.readFileString(path.join(folder, INSTRUCTIONS)).pipe(
      Effect.map((text) => {
        const shown =
          text.length > MAX_INSTRUCTION_CHARACTERS
            ? `${text.slice(0, MAX_INSTRUCTION_CHARACTERS)}\n[cut: the file is longer]`
            : text
        return `<instructions file="${path.join(folder, INSTRUCTIONS)}">\n${shown.trim()}\n</instructions>`
      }),
      Effect.orElseSucceed(() => undefined)
    )

  /** Outer folders first, so that the nearest file has the last word. */
  const projectInstructions = (roots: ReadonlyArray<string>) =>
    Effect.forEach([...new Set(roots.flatMap(parentsOf))], instructionsIn, { concurrency: 8 }).pipe(
      Effect.map((texts) => texts.filter((text) => text !== undefined))
    )

  const systemPrompt: SystemPrompt = Effect.fnUntraced(function* (session) {
    const { workspace } = session
    const today = DateTime.formatIsoDateUtc(yield* DateTime.now)
    const place = [
      `Working directory: ${workspace.cwd}`,
      ...workspace.roots.filter((root) => root !== workspace.cwd).map((root) => `Also part of the workspace: ${root}`),
      `Date: ${today}`
    ].join("\n")
    const project = session.harness.tools.includes("read") ? yield* projectInstructions(workspace.roots) : []
    const rules = session.rules === undefined ? [] : [`<rules>\n${session.rules}\n</rules>`]
    return [session.systemPrompt ?? session.harness.prompt, place, ...project, ...rules].join("\n\n")
  })

  return systemPrompt
})
