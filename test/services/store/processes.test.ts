import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import { SessionId } from "../../../src/domain/Ids.ts"
import { empty, foldAll, repair } from "../../../src/domain/session/SessionState.ts"
import { delta } from "../../support/logs.ts"
import { logOf, openStore, temporaryFile } from "./support.ts"

const appender = fileURLToPath(new URL("./appender.ts", import.meta.url))

/** Starts a process that appends, and kills it with SIGKILL at the first line that `until` accepts. */
const appendUntil = (file: string, session: string, entries: number, until: (line: string) => boolean) =>
  Effect.gen(function* () {
    const child = yield* ChildProcess.make(process.execPath, [appender, file, session, String(entries)], {
      stdin: "ignore",
      stderr: "inherit"
    })
    const lines: Array<string> = []
    yield* child.stdout.pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEach((line) => {
        lines.push(line)
        return until(line) ? child.kill({ killSignal: "SIGKILL" }) : Effect.void
      })
    )
    return lines
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("several processes", () => {
  it.live(
    "a killed one has lost nothing that it flushed, and left no hole",
    () =>
      Effect.gen(function* () {
        const file = yield* temporaryFile
        const lines = yield* appendUntil(file, "killed", 1_000_000, (line) => line === "151")
        const safe = Math.max(...lines.map(Number))
        assert.isAtLeast(safe, 151)

        const store = yield* openStore(file)
        const id = SessionId.make("killed")
        const log = yield* logOf(store, id)
        assert.isAtLeast(log.length, safe)
        for (const [index, entry] of log.slice(1).entries()) {
          assert.deepStrictEqual(entry, delta(String(index + 1), `m${index + 1}`))
        }
        const closing = repair(foldAll(empty, log))
        yield* store.append(id, yield* store.nextSeq(id), closing)
        assert.deepStrictEqual(repair(foldAll(empty, yield* logOf(store, id))), [])
      }),
    20_000
  )

  it.live(
    "write one database side by side, from its first byte",
    () =>
      Effect.gen(function* () {
        const file = yield* temporaryFile
        const isDone = (line: string) => line === "done"
        const others = ["a", "b"].map((session) => appendUntil(file, session, 300, isDone))
        yield* Effect.all(others, { concurrency: "unbounded", discard: true })

        const store = yield* openStore(file)
        assert.lengthOf((yield* store.list({})).sessions, 2)
        for (const session of ["a", "b"]) {
          assert.lengthOf(yield* logOf(store, SessionId.make(session)), 300)
        }
      }),
    20_000
  )
})
