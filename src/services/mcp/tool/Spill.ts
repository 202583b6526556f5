/** Keeps what is too long for the model, and what is no text, in files of the session. They end with it. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { Keep } from "./McpOutcome.ts"

/** Bytes that the servers of one session may fill. */
const MAX_KEPT = 256 * 1024 * 1024

export interface Spill {
  /** For one call. */
  readonly of: (callId: string) => Keep
}

/** `folder` is made when something is kept. */
export const make = (fileSystem: FileSystem.FileSystem, path: Path.Path, folder: string): Spill => {
  let kept = 0
  return {
    of: (callId) => {
      let count = 0
      return Effect.fnUntraced(
        function* (ending, content) {
          const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
          if (kept + bytes.length > MAX_KEPT) return undefined
          kept += bytes.length
          count += 1
          const file = path.join(folder, `${callId.replace(/[^\w-]/g, "_").slice(0, 80)}-${count}.${ending}`)
          yield* fileSystem.makeDirectory(folder, { recursive: true, mode: 0o700 })
          yield* fileSystem.writeFile(file, bytes, { mode: 0o600 })
          return file
        },
        Effect.catch((error) =>
          Effect.as(Effect.logWarning(`A result of an MCP tool could not be kept: ${error.message}`), undefined)
        )
      )
    }
  }
}
