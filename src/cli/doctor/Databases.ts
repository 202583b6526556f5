/** Whether the files of the agent are whole. They are opened for reading only. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { DatabaseSync } from "node:sqlite"
import { type Finding, found, ok } from "./Finding.ts"

/** Milliseconds that another process may hold a file. */
const PATIENCE = 2_000

const checked = (file: string): string => {
  const database = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE })
  try {
    const [first] = database.prepare("PRAGMA quick_check(1)").all()
    return String(Object.values(first ?? {})[0] ?? "no answer")
  } finally {
    database.close()
  }
}

const check = Effect.fnUntraced(function* (
  file: string,
  name: string
): Effect.fn.Return<Finding, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.option(fs.stat(file))
  if (info._tag === "None") return ok("store", "there is none yet", name)
  const said = yield* Effect.try({
    try: () => checked(file),
    catch: (error) => (error instanceof Error ? error.message : "it cannot be opened")
  }).pipe(Effect.catch((problem) => Effect.succeed(problem)))
  return said === "ok"
    ? ok("store", `${file} is whole`, name)
    : found(
        "broken",
        "store",
        `${file} is damaged or cannot be read: ${said}`,
        "stop every agent and move it away, with the -wal and -shm files beside it: a new one is made; or restore a copy",
        name
      )
})

export const databases = Effect.fnUntraced(function* (home: string) {
  const path = yield* Path.Path
  return [yield* check(path.join(home, "sessions.db"), "sessions"), yield* check(path.join(home, "notes.db"), "notes")]
})
