/** What a session changed on disk, kept so that it can be shown and taken back. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FileChange } from "../domain/session/Changes.ts"
import type { Entry } from "../domain/session/Session.ts"
import type { UndoResult } from "../domain/session/Undo.ts"
import type { SessionState } from "../domain/session/SessionState.ts"
import type { Workspace } from "./Workspace.ts"

export type { UndoResult } from "../domain/session/Undo.ts"

/** Keeps in the log that a file changed. */
export type RecordChange = (change: FileChange) => Effect.Effect<void>

/** The net change of a session. */
export interface DiffResult {
  /** Unified, in the style of git; empty when nothing changed. */
  readonly diff: string
  readonly files: ReadonlyArray<{
    readonly path: string
    readonly status: "added" | "modified" | "deleted"
    readonly added: number
    readonly removed: number
  }>
  /** Whether some of it was left out for its size. */
  readonly truncated: boolean
}

/** What `Changes` promises. */
export interface ChangesShape {
  /** Runs a change of these files, absolute paths, and keeps what they were and are, however it ends. */
  readonly recording: <A, E>(
    workspace: Workspace,
    record: RecordChange,
    paths: ReadonlyArray<string>,
    change: Effect.Effect<A, E>
  ) => Effect.Effect<A, E>
  /** The same for a command that may change any file of the workspace. */
  readonly recordingAll: <A, E>(
    workspace: Workspace,
    record: RecordChange,
    change: Effect.Effect<A, E>
  ) => Effect.Effect<A, E>
  /** Brings files back to what they were before the last turn that changed any and was not taken back. */
  readonly undo: (
    workspace: Workspace,
    state: SessionState,
    log: (entry: Entry) => Effect.Effect<void>
  ) => Effect.Effect<UndoResult>
  readonly diff: (workspace: Workspace, state: SessionState) => Effect.Effect<DiffResult>
  /**
   * Gives a session that continues another, at the same place, the versions that its log speaks of. Both are the folders
   * of the sessions, `scratch` of their workspaces. Without it their changes can be neither shown nor taken back there.
   */
  readonly inherit: (from: string, to: string) => Effect.Effect<void>
}

/** Versions of the files that sessions change. */
export class Changes extends Context.Service<Changes, ChangesShape>()("super-pi/Changes") {
  /** Keeps nothing: for agents that change no files, or hosts that keep versions themselves. */
  static readonly layerNone: Layer.Layer<Changes> = Layer.succeed(Changes, {
    recording: (_workspace, _record, _paths, change) => change,
    recordingAll: (_workspace, _record, change) => change,
    undo: () => Effect.succeed({ _tag: "Nothing" }),
    diff: () => Effect.succeed({ diff: "", files: [], truncated: false }),
    inherit: () => Effect.void
  })
}
