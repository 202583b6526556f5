/** An application that embeds the agent, with a model and decisions of its own. In yours, import from "super-pi". */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { AcpAgent, Models, PermissionBroker } from "../../src/index.ts"
import { ScriptedEditor } from "../../src/testing.ts"
import * as ToyModel from "./ToyModel.ts"

/** The only model there is, as editors see it. */
const model = Models.fromLanguageModel({
  id: "house/toy",
  name: "Toy",
  contextWindow: 8_000,
  image: false,
  efforts: []
}).pipe(Layer.provide(ToyModel.layer))

/** Nobody is asked: this agent may read in its folder, and nothing else. */
const readOnly = Layer.succeed(PermissionBroker, {
  decide: ({ access }) =>
    Effect.succeed(
      access._tag === "None" || (access._tag === "Read" && access.outside.length === 0)
        ? { _tag: "Allowed" }
        : { _tag: "Denied", reason: "This agent only reads." }
    ),
  readable: () => Effect.succeedNone
})

/** The agent with these two replaced, and its own folder for sessions. */
const agent = (home: string) =>
  AcpAgent.layer.pipe(
    Layer.provide([model, readOnly]),
    Layer.provide(AcpAgent.defaults),
    Layer.provide(AcpAgent.settings({ home }))
  )

/** What an editor would do, over a linked transport in this process. */
const talk = Effect.fn("talk")(function* (cwd: string) {
  const editor = yield* ScriptedEditor.connect({ cwd, serve: { name: "house-bot" } })
  const notes = yield* editor.prompt("What do the notes say?").pipe(Effect.timeout("1 minute"))
  yield* Console.log(`${notes.text}\n(${notes.stopReason})`)

  // When time runs out, the request is withdrawn, and with it ends all that the turn started: the model, every tool.
  const dream = yield* editor.prompt("Dream.").pipe(Effect.timeoutOption("200 millis"))
  yield* Console.log(Option.match(dream, { onNone: () => "That took too long.", onSome: ({ text }) => text }))

  // A session runs one turn at a time, so this answer comes because the dream is over.
  const awake = yield* editor.prompt("Are you awake?")
  yield* Console.log(awake.text)
})

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "super-pi-embed-" })
  yield* fs.writeFileString(`${folder}/notes.txt`, "Water the plants.\n")
  yield* talk(folder).pipe(Effect.scoped, Effect.provide(agent(`${folder}/home`)))
})

NodeRuntime.runMain(program.pipe(Effect.scoped, Effect.provide(AcpAgent.platform)))
