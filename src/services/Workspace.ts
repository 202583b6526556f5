/** Where a session works: what paths mean there, and the editor whose buffers count. */
import type * as Scope from "effect/Scope"
import type { SessionId } from "../domain/Ids.ts"
import type { Editor } from "./Editor.ts"

/** The place of one session. */
export interface Workspace {
  readonly sessionId: SessionId
  /** Absolute; the base of relative paths. */
  readonly cwd: string
  /** `cwd` and the additional directories, absolute. */
  readonly roots: ReadonlyArray<string>
  /** The view that sent the prompt; absent when nobody watches. */
  readonly editor: Editor | undefined
  /** A folder of the session's own; made on first use. The model may read parts of it only: `readableScratch`. */
  readonly scratch: string
  /** Ends with the session: what a call starts and leaves running ends with it. */
  readonly lifetime: Scope.Scope
}

/** Where commands of a session put what is too long to keep. `scratch` is absolute. */
export const outputFolder = (scratch: string): string => `${scratch}/output`

/** Where the temporary files of its commands are. */
export const temporaryFolder = (scratch: string): string => `${scratch}/tmp`

/**
 * What of the session's own folder the model and its commands may read: what spilled from commands and from MCP servers.
 * The rest is not for them: what files held before a change may be what a rule hides, or a key.
 */
export const readableScratch = (scratch: string): ReadonlyArray<string> => [
  outputFolder(scratch),
  temporaryFolder(scratch),
  `${scratch}/mcp`
]
