/**
 * Turns the bytes of a command into text: live for whoever watches, head and tail for the result, and all of it in a
 * file once it no longer fits. Needs the same memory for any amount of output.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import * as Scope from "effect/Scope"
import * as Output from "../../domain/text/Output.ts"
import * as Terminal from "../../domain/text/Terminal.ts"
import type { ShellCommand } from "../SandboxRunner.ts"

export interface RecorderLimits extends Output.OutputLimits {
  /** Bytes that the spill file may grow to. */
  readonly spill: number
}

export const defaultLimits: RecorderLimits = { ...Output.defaultLimits, spill: 200 * 1024 * 1024 }

/** A watcher who does not take the last of the output in this time does without it. */
const LAST_TAKEN_AFTER = Duration.seconds(1)

type Spill =
  | { readonly _tag: "Unused" }
  | { readonly _tag: "Open"; readonly file: FileSystem.File; readonly written: number }
  | { readonly _tag: "Full" | "Broken" }

export interface Recorded {
  readonly output: string
  readonly spilled: string | undefined
  readonly bytes: number
}

export interface OutputRecorder {
  readonly add: (bytes: Uint8Array) => Effect.Effect<void>
  /** `note` is put behind the output. */
  readonly finish: (note: string) => Effect.Effect<Recorded>
}

/** The scope closes the spill file. */
export const makeRecorder = (
  fs: FileSystem.FileSystem,
  path: Path.Path,
  command: Pick<ShellCommand, "spill" | "onOutput">,
  limits: RecorderLimits,
  scope: Scope.Scope
): OutputRecorder => {
  const decoder = new TextDecoder()
  let bytes = 0
  let carry = ""
  let open = ""
  let kept = Output.empty(limits)
  let spill: Spill = { _tag: "Unused" }

  const openSpill = Effect.fnUntraced(function* (text: string) {
    yield* fs.makeDirectory(path.dirname(command.spill), { recursive: true, mode: 0o700 })
    const file = yield* Scope.provide(fs.open(command.spill, { flag: "w", mode: 0o600 }), scope)
    spill = { _tag: "Open", file, written: 0 }
    yield* write(text)
  })

  const write = Effect.fnUntraced(function* (text: string) {
    if (spill._tag !== "Open") return
    const data = new TextEncoder().encode(text)
    const { file, written } = spill
    if (written + data.length <= limits.spill) {
      yield* file.writeAll(data)
      spill = { _tag: "Open", file, written: written + data.length }
    } else {
      yield* file.writeAll(data.subarray(0, limits.spill - written))
      yield* file.writeAll(new TextEncoder().encode(`\n[… the output went on; ${limits.spill} bytes are kept …]\n`))
      spill = { _tag: "Full" }
    }
  })

  // A full disk must not fail the command: what is lost is the middle of its output.
  const keep = Effect.fnUntraced(
    function* (text: string) {
      const { head, tail } = kept
      kept = Output.push(kept, text)
      if (spill._tag === "Unused" && Output.isCut(kept)) yield* openSpill(head + tail)
      yield* write(text)
    },
    Effect.catch(() =>
      Effect.sync(() => {
        spill = { _tag: "Broken" }
      })
    )
  )

  /** What a person sees of `text`; for the result it is kept first, so that a watcher who blocks loses nothing of it. */
  const accept = Effect.fnUntraced(function* (text: string) {
    const [plain, unfinished] = Terminal.strip(carry, text)
    const [settled, rest] = Terminal.settle(open, plain)
    carry = unfinished
    open = rest
    if (settled !== "") yield* keep(settled)
    return plain
  })

  return {
    add: Effect.fnUntraced(function* (chunk) {
      bytes += chunk.length
      const plain = yield* accept(decoder.decode(chunk, { stream: true }))
      if (plain !== "") yield* command.onOutput(plain)
    }),
    finish: Effect.fnUntraced(function* (note) {
      const last = yield* accept(decoder.decode())
      yield* keep(Terminal.shown(open) + note)
      if (last + note !== "") yield* Effect.timeoutOption(command.onOutput(last + note), LAST_TAKEN_AFTER)
      const spilled = spill._tag === "Open" || spill._tag === "Full" ? command.spill : undefined
      return { output: Output.render(kept, spilled), spilled, bytes }
    })
  }
}
