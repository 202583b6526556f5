/** Text files as the user sees them: unsaved editor buffers by policy, else the disk. Writes always happen here. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Encoding } from "../domain/text/Encoding.ts"
import type { Workspace } from "./Workspace.ts"

/**
 * `text` has its line endings as they are, and a change keeps its encoding. `stamp` identifies the version that was read.
 * `notice`: why the editor was not believed or not asked, for the model and the person.
 */
export interface TextFile {
  readonly path: string
  readonly text: string
  readonly encoding: Encoding
  readonly source: "editor" | "disk"
  readonly stamp: string
  readonly notice?: string
}

/** A file could not be read or written. `message` is for the model and the person: what happened, and what to do. */
export class FileFailed extends Schema.TaggedError<FileFailed>()("FileFailed", {
  reason: Schema.Literals(["not_found", "is_directory", "binary", "too_large", "changed", "denied", "encoding", "io"]),
  path: Schema.String,
  message: Schema.String,
  notice: Schema.optionalKey(Schema.String)
}) {}

/** Lines of a file. `line` counts from 1, `limit` is a number of lines. */
export interface LineRange {
  readonly line: number
  readonly limit: number
}

/**
 * A new state of one path: `text`, or nothing there for null. With `expected` it fails with `changed` unless the file
 * still is that version (null: unless it still is absent). A new file takes the encoding and the permissions of `like`.
 */
export interface FileEdit {
  readonly path: string
  readonly text: string | null
  readonly expected?: TextFile | null
  readonly like?: TextFile
  /** Whether the file may be run; absent: as it was. */
  readonly executable?: boolean
}

/** What `ClientFS` promises. */
export interface ClientFSShape {
  /** The whole file. `path` is absolute; `range` is what is wanted of it, which can spare the editor the rest. */
  readonly read: (workspace: Workspace, path: string, range?: LineRange) => Effect.Effect<TextFile, FileFailed>
  /**
   * Lines as the editor shows them, for files too large to be read whole; undefined where the disk counts, as it does for
   * all of them when this is absent. `notice` as in `TextFile`.
   */
  readonly readLines?: (
    workspace: Workspace,
    path: string,
    range: LineRange
  ) => Effect.Effect<{ readonly text: string | undefined; readonly notice?: string }>
  /**
   * Replaces the file atomically, keeping encoding, mode bits and, through a symlink, its target; makes parent folders.
   * With `expected`, fails with `changed` unless the file still is that version (`null`: unless it still is absent).
   */
  readonly write: (
    workspace: Workspace,
    path: string,
    text: string,
    expected?: TextFile | null
  ) => Effect.Effect<void, FileFailed>
  /**
   * The same for several files, and for files that go. Either all of it happens or nothing. When this is absent, calls
   * that need it fail.
   */
  readonly change?: (workspace: Workspace, edits: ReadonlyArray<FileEdit>) => Effect.Effect<void, FileFailed>
}

/** Text files of the workspace. The tools that read and change files go through it. */
export class ClientFS extends Context.Service<ClientFS, ClientFSShape>()("super-pi/ClientFS") {}
