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
  /** A folder of the session's own for spilled output; made on first use. */
  readonly scratch: string
  /** Ends with the session: what a call starts and leaves running ends with it. */
  readonly lifetime: Scope.Scope
}
