/** The slash commands over the versions of files that a session kept. Loaded with the first one. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { showPath } from "../../domain/files/Paths.ts"
import { describeUndo } from "../../domain/session/Undo.ts"
import { fenced } from "../../domain/text/Fence.ts"
import { Changes, type DiffResult } from "../Changes.ts"
import { Commands, type CommandSession } from "../Commands.ts"

const describeDiff = ({ diff, files, truncated }: DiffResult, cwd: string): string =>
  files.length === 0
    ? "This session changed no file."
    : [
        ...files.map(
          ({ added, path, removed, status }) => `- ${status} ${showPath(cwd, path)} (+${added} −${removed})`
        ),
        ...(diff === "" ? [] : ["", fenced(diff, "diff")]),
        ...(truncated ? ["", "Some of it is left out for its size."] : [])
      ].join("\n")

export const layer: Layer.Layer<Commands, never, Changes> = Layer.effect(
  Commands,
  Effect.gen(function* () {
    const changes = yield* Changes
    const undo = Effect.fn("Commands.undo")(({ log, state, workspace }: CommandSession) =>
      changes.undo(workspace, state(), log)
    )
    const diff = Effect.fn("Commands.diff")(({ state, workspace }: CommandSession) => changes.diff(workspace, state()))
    return {
      undo,
      diff,
      run: Effect.fn("Commands.run")(function* (name, session) {
        switch (name) {
          case "undo":
            return describeUndo(yield* undo(session), session.workspace.cwd)
          case "diff":
            return describeDiff(yield* diff(session), session.workspace.cwd)
          case "mcp":
            return yield* session.servers
        }
      })
    }
  })
)
