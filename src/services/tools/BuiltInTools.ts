/** The tools that come with the agent, on the files and commands of this machine. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type { Environment } from "../../domain/ChildEnvironment.ts"
import { privatePlaces } from "../../domain/sandbox/SensitiveNames.ts"
import { ClientFS } from "../ClientFS.ts"
import { makeRealPaths } from "../files/RealPath.ts"
import { makeWorkspaceBounds } from "../files/WorkspaceBounds.ts"
import { makeSearch } from "../files/search/SearchLocal.ts"
import { Notes } from "../Notes.ts"
import { makeSettingsIn } from "../project/ProjectSettings.ts"
import { Projects } from "../Projects.ts"
import { SandboxRunner } from "../SandboxRunner.ts"
import { Settings } from "../Settings.ts"
import type { ToolDefinition } from "../ToolDefinition.ts"
import { Tools } from "../Tools.ts"
import { Web } from "../Web.ts"
import { makeApplyPatch } from "./ApplyPatch.ts"
import { makeAskUser } from "./AskUser.ts"
import { makeBash } from "./Bash.ts"
import { makeBashOutput } from "./BashOutput.ts"
import { makeBashStop } from "./BashStop.ts"
import { makeEdit } from "./Edit.ts"
import { makeGlob } from "./Glob.ts"
import { makeGrep } from "./Grep.ts"
import { makeList } from "./List.ts"
import { makeNoteSearch } from "./NoteSearch.ts"
import { makeNoteWrite } from "./NoteWrite.ts"
import { makeBackgroundCommands } from "./support/BackgroundCommands.ts"
import { makeCommandReach } from "./support/CommandReach.ts"
import { makeNotices } from "./support/Notices.ts"
import { makePlaces } from "./support/Places.ts"
import { makeRead } from "./Read.ts"
import { makeReadLedger } from "./support/ReadLedger.ts"
import { makeSuggestions } from "./support/Suggestions.ts"
import { makeSpillFiles } from "./support/SpillFiles.ts"
import { taskTool } from "./Task.ts"
import { makeTodo } from "./Todo.ts"
import { makeWebFetch } from "./WebFetch.ts"
import { makeWrite } from "./Write.ts"

const make = Effect.fnUntraced(function* (environment: Environment) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const files = yield* ClientFS
  const runner = yield* SandboxRunner
  const settings = yield* Settings
  const projects = yield* Projects
  const settingsIn = makeSettingsIn(settings, projects)
  const remembering = { notes: yield* Notes, projects }
  const search = yield* makeSearch(environment)
  const realPaths = makeRealPaths(fs, paths)
  const person = environment["HOME"]
  const bounds = makeWorkspaceBounds(fs, realPaths, privatePlaces(settings.home, person))
  const places = makePlaces(paths, realPaths, bounds, person)
  const ledger = makeReadLedger()
  const suggestions = makeSuggestions(fs, paths)
  const background = makeBackgroundCommands(runner)
  const reach = makeCommandReach(fs, paths, realPaths, bounds)
  const notices = makeNotices()
  const changes = { files, places, ledger, suggestions, notices }
  const looking = { fs, search, places, bounds, settingsIn }

  const tools: Readonly<Record<string, ToolDefinition>> = {
    read: makeRead({ ...changes, fs }),
    write: makeWrite(changes),
    edit: makeEdit(changes),
    apply_patch: makeApplyPatch(changes),
    grep: makeGrep(looking),
    glob: makeGlob(looking),
    list: makeList({ ...looking, paths, realPaths, suggestions }),
    bash: makeBash({ fs, runner, settingsIn, places, reach, background, spills: makeSpillFiles(fs, paths) }),
    bash_output: makeBashOutput(background),
    bash_stop: makeBashStop(background),
    task: taskTool,
    todo: makeTodo(),
    web_fetch: makeWebFetch({ web: yield* Web, settings, projects }),
    ask_user: makeAskUser(),
    note_write: makeNoteWrite(remembering),
    note_search: makeNoteSearch(remembering)
  }
  return Tools.of({ get: (names) => names.flatMap((name) => tools[name] ?? []) })
})

/** `environment` says where `~` and programs such as ripgrep are. Building it touches no file. */
export const layer = (
  environment: Environment
): Layer.Layer<
  Tools,
  never,
  ClientFS | Notes | Projects | SandboxRunner | Settings | Web | ChildProcessSpawner | FileSystem.FileSystem | Path.Path
> => Layer.effect(Tools, make(environment))
