/** A process of its own that keeps notes in a file: `node writer.ts <file> <name> <count>`. It changes each note once. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Notes } from "../../../src/services/Notes.ts"
import * as NotesSqlite from "../../../src/services/notes/NotesSqlite.ts"

const [, , file = "", name = "", count = ""] = process.argv

const program = Effect.gen(function* () {
  const notes = yield* Notes
  for (let index = 0; index < Number(count); index++) {
    const { id } = yield* notes.add("/project", { title: `${name} ${index}`, text: "first" })
    yield* notes.change("/project", id, { text: `second of ${name}` })
  }
})

const layer = NotesSqlite.layer({ file }).pipe(Layer.provide([NodeFileSystem.layer, NodePath.layer]))

NodeRuntime.runMain(Effect.scoped(Effect.provide(program, layer)))
