/** The built-in tools on a real folder of their own, with real programs. Everything goes with the test's scope. */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { noCapabilities } from "../../src/domain/Capability.ts"
import type { PlanEntry } from "../../src/domain/Event.ts"
import { SessionId, ToolCallId } from "../../src/domain/Ids.ts"
import { outputText, type ToolCallPatch, type ToolContent } from "../../src/domain/Tool.ts"
import { type Editor, EditorFailed } from "../../src/services/Editor.ts"
import * as ClientFSLocal from "../../src/services/files/ClientFSLocal.ts"
import type { Notes } from "../../src/services/Notes.ts"
import * as NotesSqlite from "../../src/services/notes/NotesSqlite.ts"
import { Projects } from "../../src/services/Projects.ts"
import * as SandboxRunnerLocal from "../../src/services/sandbox/SandboxRunnerLocal.ts"
import { Settings, type SettingsValue } from "../../src/services/Settings.ts"
import type { ToolContext } from "../../src/services/ToolDefinition.ts"
import { Tools } from "../../src/services/Tools.ts"
import * as BuiltInTools from "../../src/services/tools/BuiltInTools.ts"
import { Web } from "../../src/services/Web.ts"
import type { Workspace } from "../../src/services/Workspace.ts"

export const platform = NodeChildProcessSpawner.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer))
)

export interface ToolboxOptions {
  readonly environment?: Record<string, string | undefined>
  readonly settings?: Partial<SettingsValue> & { readonly home?: string }
  readonly notes?: Layer.Layer<Notes>
  readonly projects?: Layer.Layer<Projects>
  readonly web?: Layer.Layer<Web, never, Settings>
}

/** No login shell, whose start files may do anything, is asked for its environment. */
export const withoutShell = { ...process.env, SHELL: undefined }

export const toolbox = ({
  environment = withoutShell,
  notes = NotesSqlite.layerMemory,
  projects = Projects.layerNone,
  settings = {},
  web = Web.layerNone
}: ToolboxOptions = {}) =>
  BuiltInTools.layer(environment).pipe(
    Layer.provide([notes, projects, web]),
    Layer.provideMerge(Layer.merge(SandboxRunnerLocal.layer(environment), ClientFSLocal.layer)),
    Layer.provideMerge(Settings.layerValues(settings)),
    Layer.provideMerge(platform)
  )

/** A folder with `work` as the workspace and `scratch` beside it. Real paths, wherever the system keeps its own. */
export const makeFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const base = yield* Effect.flatMap(fs.makeTempDirectoryScoped({ prefix: "super-pi-tools-" }), fs.realPath)
  yield* fs.makeDirectory(`${base}/work`)
  return { base, work: `${base}/work` }
})

export const makeWorkspace = (work: string, options: Partial<Workspace> = {}): Workspace => ({
  sessionId: SessionId.make("session-1"),
  cwd: work,
  roots: [work],
  editor: undefined,
  scratch: `${work}/../scratch`,
  lifetime: Scope.makeUnsafe(),
  ...options
})

/** An editor that shows `buffers`, remembers what it was asked for, and has no other file. */
export const makeEditor = (buffers: ReadonlyMap<string, string>) => {
  const asked: Array<string> = []
  const editor: Editor = {
    capabilities: { ...noCapabilities, readTextFile: true },
    emit: () => Effect.void,
    caughtUp: Effect.void,
    isGone: () => false,
    ask: () => Effect.succeed({ _tag: "Cancelled" }),
    elicit: () => Effect.succeed({ _tag: "Cancelled" }),
    readTextFile: (_session, path) => {
      asked.push(path)
      const text = buffers.get(path)
      return text === undefined
        ? Effect.fail(new EditorFailed({ notFound: true, message: "no such buffer" }))
        : Effect.succeed(text)
    }
  }
  return { editor, asked }
}

export const write = (path: string, content: string | Uint8Array) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    fs.writeFile(path, typeof content === "string" ? new TextEncoder().encode(content) : content)
  )

export const read = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path))

export const bytes = (path: string) =>
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFile(path)),
    (content) => [...content]
  )

/** What a call gets that runs outside of a turn: nothing is confined, nobody is there to ask, nothing is kept. */
export const makeContext = (workspace: Workspace, overrides: Partial<ToolContext> = {}): ToolContext => ({
  workspace,
  callId: ToolCallId.make("call-1"),
  sandbox: Effect.succeed("off"),
  elicit: undefined,
  recording: (_paths, change) => change,
  recordingAll: (change) => change,
  plan: () => Effect.void,
  readable: Effect.succeedNone,
  progress: () => Effect.void,
  ...overrides
})

export const prepare = Effect.fnUntraced(function* (name: string, input: unknown, workspace: Workspace) {
  const tools = yield* Tools
  const [definition] = tools.get([name])
  if (definition === undefined) return yield* Effect.die(`no tool ${name}`)
  return yield* definition.prepare(input, workspace)
})

/** Prepares and runs a call; `progress` and `plans` are what it told meanwhile. */
export const call = Effect.fnUntraced(function* (name: string, input: unknown, workspace: Workspace) {
  const prepared = yield* prepare(name, input, workspace)
  const progress: Array<ToolCallPatch> = []
  const plans: Array<ReadonlyArray<PlanEntry>> = []
  const outcome = yield* prepared.run(
    makeContext(workspace, {
      plan: (entries) => Effect.sync(() => void plans.push(entries)),
      // What is only new is no view.
      progress: (patch) => Effect.sync(() => void (patch.content === undefined || progress.push(patch)))
    })
  )
  return { prepared, outcome, progress, plans }
})

export const textOf = (content: ReadonlyArray<ToolContent> | undefined): string =>
  (content ?? [])
    .map((item) => {
      if (item.type === "output") return outputText(item)
      return item.type === "content" && item.content.type === "text" ? item.content.text : ""
    })
    .join("\n")
