/** What the model is told before the conversation: the harness, the place, the project's and the client's instructions. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import type { TurnSession } from "../Turn.ts"

/** A longer instruction file is cut, with a note, so that it cannot crowd out the conversation. */
const MAX_INSTRUCTION_BYTES = 32_000
const INSTRUCTIONS = "AGENTS.md"

export type SystemPrompt = (session: TurnSession) => Effect.Effect<string>

export const make = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const withParents = (folder: string): ReadonlyArray<string> => {
    const parent = path.dirname(folder)
    return parent === folder ? [folder] : [...withParents(parent), folder]
  }

  const instructionsIn = Effect.fnUntraced(
    function* (folder: string) {
      const file = path.join(folder, INSTRUCTIONS)
      const { size, type } = yield* fileSystem.stat(file)
      // Opening a pipe would wait for a writer.
      if (type !== "File") return []
      const text = yield* fileSystem
        .stream(file, { bytesToRead: MAX_INSTRUCTION_BYTES })
        .pipe(Stream.decodeText(), Stream.mkString)
      const cut = Number(size) > MAX_INSTRUCTION_BYTES ? "\n[The file is longer; the rest is left out]" : ""
      return [`<instructions file="${file}">\n${text.trim()}${cut}\n</instructions>`]
    },
    Effect.orElseSucceed((): ReadonlyArray<string> => [])
  )

  /** Outer folders first and the working directory last, so that the nearest file has the last word. */
  const projectInstructions = (roots: ReadonlyArray<string>) =>
    Effect.map(
      Effect.forEach(new Set(roots.toReversed().flatMap(withParents)), instructionsIn, { concurrency: 8 }),
      (found) => found.flat()
    )

  const systemPrompt: SystemPrompt = Effect.fnUntraced(function* ({ harness, rules, skills, systemPrompt, workspace }) {
    const place = [
      `Working directory: ${workspace.cwd}`,
      ...workspace.roots.filter((root) => root !== workspace.cwd).map((root) => `Also part of the workspace: ${root}`),
      `Date: ${DateTime.formatIsoDateUtc(yield* DateTime.now)}`
    ].join("\n")
    const project = harness.tools.includes("read") ? yield* projectInstructions(workspace.roots) : []
    const offered = yield* skills
    const wished = rules === undefined ? [] : [`<rules>\n${rules}\n</rules>`]
    return [systemPrompt ?? harness.prompt, place, ...project, ...(offered === "" ? [] : [offered]), ...wished].join(
      "\n\n"
    )
  })

  return systemPrompt
})
