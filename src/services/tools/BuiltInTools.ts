/** The tools that come with the agent, on the files and commands of this machine. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type { Environment } from "../../domain/ChildEnvironment.ts"
import type { ToolName } from "../../domain/Harness.ts"
import { ClientFS } from "../ClientFS.ts"
import { makeRealPaths } from "../files/RealPath.ts"
import { makeSearch } from "../files/SearchLocal.ts"
import { SandboxRunner } from "../SandboxRunner.ts"
import type { ToolDefinition } from "../ToolDefinition.ts"
import { Tools } from "../Tools.ts"
import { makeBash } from "./Bash.ts"
import { makeEdit } from "./Edit.ts"
import { makeGlob } from "./Glob.ts"
import { makeGrep } from "./Grep.ts"
import { makeList } from "./List.ts"
import { makeCommandReach } from "./support/CommandReach.ts"
import { makePlaces } from "./support/Places.ts"
import { makeRead } from "./Read.ts"
import { makeReadLedger } from "./support/ReadLedger.ts"
import { makeSuggestions } from "./support/Suggestions.ts"
import { makeTodo } from "./Todo.ts"
import { makeWrite } from "./Write.ts"

const make = Effect.fnUntraced(function* (environment: Environment) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const files = yield* ClientFS
  const runner = yield* SandboxRunner
  const search = yield* makeSearch(environment)
  const realPaths = makeRealPaths(fs, paths)
  const places = makePlaces(paths, realPaths, environment["HOME"])
  const ledger = makeReadLedger()
  const suggestions = makeSuggestions(fs, paths)
  const changes = { files, ledger, suggestions }

  const tools: Readonly<Record<ToolName, ToolDefinition>> = {
    read: makeRead({ fs, files, places, ledger, suggestions }),
    write: makeWrite(changes, places),
    edit: makeEdit(changes, places),
    grep: makeGrep(fs, search, places),
    glob: makeGlob(fs, search, places),
    list: makeList({ fs, paths, realPaths, places, suggestions }),
    bash: makeBash(runner, paths, makeCommandReach(fs, paths, realPaths)),
    todo: makeTodo()
  }
  return Tools.of({ get: (names) => names.map((name) => tools[name]) })
})

/** `environment` says where `~` and programs such as ripgrep are. Building it touches no file. */
export const layer = (
  environment: Environment
): Layer.Layer<Tools, never, ClientFS | SandboxRunner | ChildProcessSpawner | FileSystem.FileSystem | Path.Path> =>
  Layer.effect(Tools, make(environment))
