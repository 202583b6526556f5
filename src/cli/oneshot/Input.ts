/** The task: what the command line says, and what standard input has. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { fstatSync } from "node:fs"
import { misused, type UsageError } from "../UsageError.ts"

/** In bytes. */
const LARGEST = 4 * 1024 * 1024

/** How long a pipe may stay silent that nobody asked to read: a program that starts this one may leave it open for good. */
const PATIENCE = "2 seconds"

const isPiped = (): boolean => {
  if (process.stdin.isTTY) return false
  const info = fstatSync(0, { throwIfNoEntry: false })
  return info !== undefined && (info.isFile() || info.isFIFO() || info.isSocket())
}

type Read =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Silent" }
  | { readonly _tag: "TooLarge" }

/** Waits until there is something to read, or the end. */
const readable: Effect.Effect<void> = Effect.callback<void>((resume) => {
  const ready = (): void => resume(Effect.void)
  process.stdin.once("readable", ready).once("error", ready)
  return Effect.sync(() => process.stdin.off("readable", ready).off("error", ready))
})

const readAll: Effect.Effect<Read> = Effect.callback<Read>((resume) => {
  const chunks: Array<Buffer> = []
  let size = 0
  const take = (chunk: Buffer): void => {
    chunks.push(chunk)
    size += chunk.length
    if (size > LARGEST) finish({ _tag: "TooLarge" })
  }
  const end = (): void => finish({ _tag: "Text", text: Buffer.concat(chunks).toString("utf8") })
  const leave = () => process.stdin.off("data", take).off("end", end).off("error", end)
  const finish = (read: Read): void => {
    leave()
    resume(Effect.succeed(read))
  }
  process.stdin.on("data", take).once("end", end).once("error", end)
  return Effect.sync(leave)
})

/** All of standard input. One that nobody asked to read is given up when it stays silent. */
const readInput = Effect.fnUntraced(
  function* (isAsked: boolean) {
    const waited = isAsked ? Option.some(undefined) : yield* Effect.timeoutOption(readable, PATIENCE)
    return Option.isSome(waited) ? yield* readAll : ({ _tag: "Silent" } satisfies Read)
  },
  Effect.ensuring(Effect.sync(() => process.stdin.destroy()))
)

/** `-` stands for standard input; beside another task it is what the task is about. */
export const task = Effect.fnUntraced(function* (
  given: string,
  warn: (text: string) => Effect.Effect<void>
): Effect.fn.Return<string, UsageError> {
  const isAsked = given === "-"
  const piped: Read = isAsked || isPiped() ? yield* readInput(isAsked) : { _tag: "Text", text: "" }
  if (piped._tag === "TooLarge") {
    return yield* misused(
      `Standard input has more than ${LARGEST / 1024 / 1024} MiB: give the task a file to read instead`
    )
  }
  if (piped._tag === "Silent") {
    yield* warn("Standard input is open and silent, so it was left out; end it, or start with < /dev/null")
  }
  const input = piped._tag === "Text" ? piped.text : ""
  const text = isAsked ? input : [given, input].filter((part) => part.trim() !== "").join("\n\n")
  if (text.trim() === "") return yield* misused('There is no task: write super-pi -p "your task", or pipe it in')
  return text
})
