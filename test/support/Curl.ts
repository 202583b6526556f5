/** curl, which knows HTTP better than any client of ours. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"

export interface Curled {
  /** curl's exit code; 0 when it has an answer, whatever its status. */
  readonly code: number
  /** The last status line and headers, whose names are in lower case. */
  readonly head: string
  readonly status: number
  readonly body: string
}

/** Runs it to its end, for at most ten seconds; `input` is what a `@-` in the arguments reads. */
export const curl = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  input: string | Uint8Array = ""
): Effect.fn.Return<Curled, never, Scope.Scope> {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn("curl", ["-s", "-S", "-i", "-N", "--max-time", "10", ...args])),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  return yield* Effect.callback<Curled>((resume) => {
    let text = ""
    child.stdin.on("error", () => {})
    child.stdin.end(input)
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
    child.on("close", (code) => {
      const parts = text.split("\r\n\r\n")
      const at = parts.findLastIndex((part) => part.startsWith("HTTP/") && !/^\S+ 100/.test(part))
      const head = parts[at] ?? ""
      resume(
        Effect.succeed({
          code: code ?? -1,
          head: head.replaceAll(/^(HTTP\/|[^:\s]+:)/gm, (name) => name.toLowerCase()),
          status: Number(/^HTTP\/\S+ (\d+)/.exec(head)?.[1] ?? 0),
          body: parts.slice(at + 1).join("\r\n\r\n")
        })
      )
    })
  })
})
