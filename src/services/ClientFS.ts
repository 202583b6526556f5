/** Text files as the user sees them: unsaved editor buffers by policy, else the disk. Writes always happen here. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Encoding } from "../domain/text/Encoding.ts"
import type { Workspace } from "./Workspace.ts"

/** `text` has its line endings as they are, and a change keeps its encoding. `stamp` identifies the version that was read. */
export interface TextFile {
  readonly path: string
  readonly text: string
  readonly encoding: Encoding
  readonly source: "editor" | "disk"
  readonly stamp: string
}

/** A file could not be read or written. `message` is for the model and the person: what happened, and what to do. */
export class FileFailed extends Schema.TaggedError<FileFailed>()("FileFailed", {
  reason: Schema.Literals(["not_found", "is_directory", "binary", "too_large", "changed", "denied", "io"]),
  path: Schema.String,
  message: Schema.String
}) {}

/** What `ClientFS` promises. */
export interface ClientFSShape {
  /** `path` is absolute. */
  readonly read: (workspace: Workspace, path: string) => Effect.Effect<TextFile, FileFailed>
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
}

/** Text files of the workspace. The tools that read and change files go through it. */
export class ClientFS extends Context.Service<ClientFS, ClientFSShape>()("super-pi/ClientFS") {}
