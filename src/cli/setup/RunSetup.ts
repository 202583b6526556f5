/** `acp setup`: puts the agent into an editor's settings, or says what to put where. */
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { homedir } from "node:os"
import { diffOf } from "../terminal/Diff.ts"
import { explained, failed } from "../Explained.ts"
import { misused } from "../UsageError.ts"
import { plan } from "./AgentEntry.ts"
import { type EditorId, editorIds } from "./EditorIds.ts"
import { editors, entryText, type FileEditor } from "./Editors.ts"
import { jetbrainsFile, type Machine, zedFolders } from "./Places.ts"
import * as Program from "./Program.ts"
import * as SettingsFile from "./SettingsFile.ts"

const variables = ["APPDATA", "FLATPAK_XDG_CONFIG_HOME", "XDG_CONFIG_HOME", "HOME"] as const

const machine = Effect.gen(function* () {
  const path = yield* Path.Path
  const given = new Map<string, string>()
  for (const name of variables) {
    const value = yield* Effect.orElseSucceed(Config.String(name), () => "")
    if (value !== "") given.set(name, value)
  }
  return {
    platform: process.platform,
    home: (process.platform === "win32" ? undefined : given.get("HOME")) ?? homedir(),
    variable: (name) => given.get(name),
    join: path.join,
    isAbsolute: path.isAbsolute
  } satisfies Machine
})

/** Where the editor's file is, or would be. */
export const fileOf = Effect.fnUntraced(function* (editor: "zed" | "jetbrains") {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const here = yield* machine
  if (editor === "jetbrains") return jetbrainsFile(here)
  const folders = zedFolders(here)
  const present = yield* Effect.filter(folders, (folder) => Effect.orElseSucceed(fs.exists(folder), () => false))
  return path.join(present[0] ?? folders[0] ?? here.home, "settings.json")
})

const program = Effect.suspend(() => Program.find(process.argv[1] ?? "super-pi"))

/** What would have to change in the file. */
export const look = Effect.fnUntraced(function* (editor: FileEditor, file: string) {
  const { isSameCommand, launch } = yield* program
  const text = yield* SettingsFile.read(file)
  const planned = plan(text, { ...editor.wanted, launch, isSameCommand })
  return { text, launch, planned }
})

const write = Effect.fnUntraced(function* (id: "zed" | "jetbrains", editor: FileEditor, given: Option.Option<string>) {
  const path = yield* Path.Path
  const file = Option.isSome(given) ? path.resolve(given.value) : yield* fileOf(id)
  const { launch, planned, text } = yield* explained(look(editor, file))
  if (Result.isFailure(planned)) {
    yield* Console.error(`Add this yourself:\n${entryText(editor, launch)}`)
    return yield* failed(`${file} ${planned.failure}. It was left as it is`)
  }
  const { kind, name, text: wanted } = planned.success
  if (kind === "unchanged") return yield* Console.log(`${file} has the agent already, as ${JSON.stringify(name)}`)
  const backup = yield* explained(SettingsFile.replace(file, text, wanted))
  yield* Console.log(diffOf(file, text, wanted))
  yield* Console.log(
    [
      kind === "added" ? `Added ${JSON.stringify(name)}.` : `Corrected ${JSON.stringify(name)}.`,
      ...(backup === undefined ? [] : [`The file as it was is ${backup}.`]),
      editor.next
    ].join(" ")
  )
})

const list = Effect.gen(function* () {
  const width = Math.max(...editorIds.map((id) => id.length))
  for (const id of editorIds) {
    const editor = editors[id]
    const how =
      (id === "zed" || id === "jetbrains") && editor.kind === "file"
        ? `writes ${yield* fileOf(id)}`
        : "shows what to paste"
    yield* Console.log(`${id.padEnd(width)}  ${editor.title}: ${how}`)
  }
  yield* Console.log("Choose one: super-pi acp setup --editor zed. With --print nothing is written")
})

export const run = Effect.fnUntraced(function* (options: {
  readonly editor: Option.Option<EditorId>
  readonly file: Option.Option<string>
  readonly print: boolean
}) {
  if (Option.isNone(options.editor)) return yield* list
  const id = options.editor.value
  const editor = editors[id]
  if (editor.kind === "paste") {
    if (Option.isSome(options.file)) return yield* misused(`--file is for editors whose file is written, not for ${id}`)
    const { launch } = yield* program
    const parts = editor.parts(launch)
    for (const [at, { text, where }] of parts.entries()) {
      yield* Console.error(where)
      yield* Console.log(at === 0 ? text : `\n${text}`)
    }
    return
  }
  if (!options.print && (id === "zed" || id === "jetbrains")) return yield* write(id, editor, options.file)
  const { launch } = yield* program
  yield* Console.log(entryText(editor, launch))
})
