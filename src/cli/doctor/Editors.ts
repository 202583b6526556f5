/** What editors would start, of those whose settings are files that can be looked into. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { editors } from "../setup/Editors.ts"
import { fileOf, look } from "../setup/RunSetup.ts"
import { type Finding, found, ok } from "./Finding.ts"

const check = Effect.fnUntraced(function* (id: "zed" | "jetbrains") {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const editor = editors[id]
  const file = yield* fileOf(id)
  const isThere = yield* Effect.orElseSucceed(fs.exists(path.dirname(file)), () => false)
  if (editor.kind !== "file" || !isThere) return []
  const setup = `super-pi acp setup --editor ${id}`
  const looked = yield* Effect.result(look(editor, file))
  if (Result.isFailure(looked)) return [found("warning", "editor", looked.failure.message, undefined, editor.title)]
  const { planned } = looked.success
  if (Result.isFailure(planned)) {
    return [found("warning", "editor", `${file} ${planned.failure}`, "correct it in the editor", editor.title)]
  }
  const { kind, name } = planned.success
  const finding: Record<typeof kind, Finding> = {
    unchanged: ok("editor", `${file} starts this agent as ${JSON.stringify(name)}`, editor.title),
    added: found("note", "editor", `${file} does not have the agent`, `to add it, run ${setup}`, editor.title),
    corrected: found(
      "warning",
      "editor",
      `${JSON.stringify(name)} in ${file} does not start this agent`,
      `to set it right, run ${setup}`,
      editor.title
    )
  }
  return [finding[kind]]
})

export const entries = Effect.gen(function* () {
  return [...(yield* check("zed")), ...(yield* check("jetbrains"))]
})
