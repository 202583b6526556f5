/** A session that only changes files: its folder, its log, and the service that keeps what it changes. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { SessionId } from "../../src/domain/Ids.ts"
import type { Entry } from "../../src/domain/session/Session.ts"
import { empty, fold, type SessionState } from "../../src/domain/session/SessionState.ts"
import { Changes } from "../../src/services/Changes.ts"
import * as ChangesLive from "../../src/services/changes/ChangesLive.ts"
import type { Workspace } from "../../src/services/Workspace.ts"
import { platform } from "./toolbox.ts"

/** Without what a git of the person at the machine is set to. */
export const gitEnvironment = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  // To look at a repository must not change its index.
  GIT_OPTIONAL_LOCKS: "0",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.com"
}

export const changesLayer = (environment: Readonly<Record<string, string | undefined>> = process.env) =>
  Layer.provideMerge(ChangesLive.layer(environment), platform)

export const git = (folder: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("git", args, { cwd: folder, env: gitEnvironment, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

/** Runs what a command of a turn would do. */
export const sh = (folder: string, command: string): Effect.Effect<void> =>
  Effect.sync(() => {
    execFileSync("/bin/sh", ["-c", command], { cwd: folder, env: gitEnvironment, stdio: "ignore" })
  })

/** Everything below a folder, byte by byte, with types and permissions; git's own records are left out. */
export const treeOf = (folder: string, inside = ""): ReadonlyArray<string> =>
  readdirSync(join(folder, inside))
    .filter((name) => name !== ".git")
    .toSorted()
    .flatMap((name) => {
      const path = join(inside, name)
      const full = join(folder, path)
      const stat = lstatSync(full)
      if (stat.isDirectory()) return [`${path}/`, ...treeOf(folder, path)]
      if (stat.isSymbolicLink()) return [`${path} -> ${readlinkSync(full)}`]
      const hash = createHash("sha256").update(readFileSync(full)).digest("hex")
      return [`${path} ${stat.mode.toString(8)} ${hash}`]
    })

export interface ChangingSession {
  readonly folder: string
  readonly workspace: Workspace
  readonly state: () => SessionState
  readonly entries: () => ReadonlyArray<Entry>
  readonly log: (entry: Entry) => Effect.Effect<void>
  /** A turn that does this. */
  readonly turn: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** A file tool that changes these files, paths from the folder. */
  readonly tool: <A, E>(paths: ReadonlyArray<string>, effect: Effect.Effect<A, E>) => Effect.Effect<A, E, Changes>
  /** A command of a tool. */
  readonly command: (line: string) => Effect.Effect<void, never, Changes>
  readonly undo: Effect.Effect<import("../../src/domain/session/Undo.ts").UndoResult, never, Changes>
  readonly diff: Effect.Effect<import("../../src/services/Changes.ts").DiffResult, never, Changes>
}

export const makeSession = (folder: string, options: Partial<Workspace> = {}): ChangingSession => {
  let state = empty
  const entries: Array<Entry> = []
  const workspace: Workspace = {
    sessionId: SessionId.make("session-1"),
    cwd: folder,
    roots: [folder],
    editor: undefined,
    scratch: join(folder, "..", "scratch"),
    lifetime: Scope.makeUnsafe(),
    ...options
  }
  const log = (entry: Entry) =>
    Effect.sync(() => {
      entries.push(entry)
      state = fold(state, entry)
    })
  const record = (change: Extract<Entry, { _tag: "FileChanged" }>["change"]) => log({ _tag: "FileChanged", change })
  return {
    folder,
    workspace,
    state: () => state,
    entries: () => entries,
    log,
    turn: (effect) =>
      Effect.andThen(
        log({ _tag: "TurnStarted" }),
        Effect.ensuring(effect, log({ _tag: "TurnEnded", outcome: { stopReason: "end_turn" } }))
      ),
    tool: (paths, effect) =>
      Changes.use((changes) =>
        changes.recording(
          workspace,
          record,
          paths.map((path) => join(folder, path)),
          effect
        )
      ),
    command: (line) => Changes.use((changes) => changes.recordingAll(workspace, record, sh(folder, line))),
    undo: Changes.use((changes) => Effect.suspend(() => changes.undo(workspace, state, log))),
    diff: Changes.use((changes) => Effect.suspend(() => changes.diff(workspace, state)))
  }
}

/** A session in a folder of its own, with real paths. */
export const inFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const base = yield* Effect.flatMap(fs.makeTempDirectoryScoped({ prefix: "super-pi-changes-" }), fs.realPath)
  yield* fs.makeDirectory(join(base, "work"))
  return makeSession(join(base, "work"))
})

/** The same in a git repository with one commit of what `prepare` makes. */
export const inRepository = Effect.fnUntraced(function* (prepare: string) {
  const session = yield* inFolder
  yield* sh(session.folder, `git init -q && ${prepare} && git add -A && git commit -qm first`)
  return session
})
