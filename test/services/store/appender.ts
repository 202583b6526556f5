/**
 * A process of its own that appends to a session and says, after each flush, how many entries are safe. Started as
 * `node appender.ts <file> <session> <entries>`; it stays alive at the end, so that it can only be killed.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { writeSync } from "node:fs"
import { SessionStore } from "../../../src/services/SessionStore.ts"
import * as LogWriter from "../../../src/services/store/LogWriter.ts"
import * as SessionStoreSqlite from "../../../src/services/store/SessionStoreSqlite.ts"
import { delta, recordOf, said } from "../../support/logs.ts"

const [, , file = "", session = "", entries = ""] = process.argv

/** Each of them a message of its own, so that none is joined with the next. */
const entry = (index: number) => (index === 0 ? said("hi") : delta(String(index), `m${index}`))

const program = Effect.gen(function* () {
  const store = yield* SessionStore
  const log = yield* LogWriter.open(store, recordOf(session), { _tag: "New", entries: [] })
  for (let index = 0; index < Number(entries); index++) {
    yield* log.append(entry(index))
    if (index % 5 !== 0) continue
    yield* log.flush
    writeSync(1, `${index + 1}\n`)
  }
  yield* log.flush
  writeSync(1, "done\n")
  return yield* Effect.never
})

const layer = SessionStoreSqlite.layer({ file }).pipe(Layer.provide([NodeFileSystem.layer, NodePath.layer]))

NodeRuntime.runMain(Effect.scoped(Effect.provide(program, layer)))
