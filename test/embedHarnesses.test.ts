/** Kinds of agent as values: what each gives its model, and one that an application makes, with a tool of its own. */
import { assert, describe, it } from "@effect/vitest"
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  AcpAgent,
  type Harness,
  HarnessId,
  Harnesses,
  harnesses,
  Notes,
  NotesSqlite,
  SessionId,
  type ToolDefinition,
  ToolInputInvalid,
  Tools,
  Web,
  type Workspace
} from "../src/index.ts"
import { ScriptedEditor } from "../src/testing.ts"
import { nothingAsked, scripted } from "./support/models.ts"
import { failed } from "./support/Link.ts"
import { folder } from "./support/Program.ts"
import { toolbox } from "./support/toolbox.ts"

const Plant = Schema.Struct({ plant: Schema.String, litres: Schema.Finite })

const watered: Array<string> = []

const water: ToolDefinition = {
  tool: AiTool.make("water", { description: "Water a plant of the house.", parameters: Plant }),
  kind: "other",
  title: "Water a plant",
  concurrency: "exclusive",
  prepare: (input) =>
    Schema.decodeUnknownEffect(Plant)(input).pipe(
      Effect.mapError(({ message }) => new ToolInputInvalid({ message })),
      Effect.map(({ litres, plant }) => ({
        title: `Water the ${plant}`,
        kind: "other",
        locations: [],
        preview: [],
        // As a tool of a server named `house`: rules such as MCPTool(house__water) are about it.
        access: { _tag: "Mcp", server: "house", tool: "water" },
        run: () =>
          Effect.sync(() => {
            watered.push(plant)
            return { status: "completed", text: `The ${plant} got ${litres} l.`, content: [] }
          })
      }))
    )
}

const gardener: Harness = {
  id: HarnessId.make("house-gardener"),
  title: "Gardener",
  description: "Looks after the plants of the house",
  tools: ["water", "note_search", "todo"],
  mcp: false,
  ceiling: "ask",
  unattended: false,
  prompt: "You look after the plants. Water each as its note says."
}

const place = Effect.map(folder, (path) => {
  const work = join(path, "work")
  mkdirSync(work)
  writeFileSync(join(work, "kept.txt"), "kept")
  return { work, home: join(path, "home") }
})

const answers = (...tools: ReadonlyArray<readonly [name: string, input: Schema.JsonObject]>) => [
  { parts: tools.map(([name, input]) => ({ tool: { name, input } })) },
  { parts: [{ text: "Done." }] }
]

describe("the built-in kinds of agent", () => {
  for (const { id, tools } of harnesses) {
    it.effect(`${id} gives its model exactly its own tools`, () =>
      Effect.gen(function* () {
        const { home, work } = yield* place
        const asked = nothingAsked()
        const models = scripted(answers(["write", { path: "made", content: "x" }]), asked)
        yield* Effect.gen(function* () {
          const editor = yield* ScriptedEditor.connect({ cwd: work, meta: { harness: id } })
          yield* editor.prompt("Go")
        }).pipe(
          Effect.provide(
            AcpAgent.layer.pipe(
              Layer.provide(models),
              Layer.provide(AcpAgent.defaults),
              Layer.provide(AcpAgent.settings({ home, sandboxProfile: "off" }))
            )
          )
        )
        assert.deepStrictEqual(asked.tools, tools)
        assert.deepStrictEqual(readdirSync(work), ["kept.txt"])
      }).pipe(Effect.scoped)
    )
  }

  it.effect("the planner's tools can touch nothing: each wants to read, or nothing at all", () =>
    Effect.gen(function* () {
      const tools = (yield* Tools).get(harnesses.find(({ id }) => id === "super-pi-planner")?.tools ?? [])
      const workspace: Workspace = {
        sessionId: SessionId.make("s"),
        cwd: "/work",
        roots: ["/work"],
        editor: undefined,
        scratch: "/scratch",
        lifetime: Scope.makeUnsafe()
      }
      const inputs: Readonly<Record<string, unknown>> = {
        read: { path: "a" },
        grep: { pattern: "a" },
        glob: { pattern: "a" },
        list: { path: "." },
        todo: { entries: [] },
        ask_user: { questions: [{ question: "Which?" }] }
      }
      assert.sameMembers(
        tools.map(({ tool }) => tool.name),
        Object.keys(inputs)
      )
      for (const { kind, prepare, tool } of tools) {
        const { access } = yield* prepare(inputs[tool.name], workspace)
        assert.include(["None", "Read"], access._tag, tool.name)
        assert.include(["read", "search", "think", "other"], kind, tool.name)
      }
    }).pipe(Effect.provide(toolbox()))
  )
})

describe("a kind of agent of an application", () => {
  it.effect("has its own tool beside built-in ones, is the default, and is asked about like any other", () =>
    Effect.gen(function* () {
      const { home, work } = yield* place
      const asked = nothingAsked()
      const input = { plant: "fern", litres: 0.5 }
      const models = scripted(
        [
          ...answers(
            ["water", input],
            ["water", { plant: "fern" }],
            ["note_search", { query: "fern" }],
            ["bash", { command: "rm kept.txt" }]
          ),
          ...answers(["water", input])
        ],
        asked
      )
      const agent = AcpAgent.layerWith([water]).pipe(
        Layer.provide([models, Harnesses.layerOf([gardener, ...harnesses]), NotesSqlite.layerMemory, Web.layerNone]),
        Layer.provide(AcpAgent.defaults),
        Layer.provide(AcpAgent.settings({ home }))
      )
      yield* Effect.gen(function* () {
        const editor = yield* ScriptedEditor.connect({ cwd: work, answer: ScriptedEditor.allowOnce })
        assert.include(JSON.stringify(editor.agent), "house-gardener")
        const turn = yield* editor.prompt("Water the fern")
        const shown = JSON.stringify(turn.updates)
        assert.include(shown, "Water the fern")
        assert.include(shown, "0 of 0 notes")
        assert.include(shown, `There is no tool named \\"bash\\". The tools are: water, note_search, todo.`)
        assert.deepStrictEqual(watered, ["fern"])
        assert.lengthOf(editor.questions, 1)
        assert.include(JSON.stringify(asked.prompts[0]), "You look after the plants.")
        assert.deepStrictEqual(asked.tools, ["water", "note_search", "todo"])
        const mode = { sessionId: editor.sessionId, modeId: "accept-edits" }
        assert.propertyVal(yield* failed(editor.request("session/set_mode", mode)), "code", -32602)
      }).pipe(Effect.provide(agent))
      assert.deepStrictEqual(readdirSync(work), ["kept.txt"])
      assert.notInclude(readdirSync(home), "notes.db")
    }).pipe(Effect.scoped)
  )

  it.effect("can be the only one, and then no other can be chosen", () =>
    Effect.gen(function* () {
      const { home, work } = yield* place
      const agent = AcpAgent.layerWith([water]).pipe(
        Layer.provide([scripted([]), Harnesses.layerOf([gardener])]),
        Layer.provide(AcpAgent.defaults),
        Layer.provide(AcpAgent.settings({ home }))
      )
      yield* Effect.gen(function* () {
        const refused = yield* Effect.flip(
          Effect.scoped(ScriptedEditor.connect({ cwd: work, meta: { harness: "super-pi-code" } }))
        )
        assert.propertyVal(refused, "code", -32602)
        assert.include(refused.message, "house-gardener")
        assert.notInclude(refused.message, "super-pi-planner")
      }).pipe(Effect.provide(agent))
    }).pipe(Effect.scoped)
  )

  it.effect("notes are a service that it can use as well", () =>
    Effect.gen(function* () {
      const notes = yield* Notes
      yield* notes.add("/house", { title: "Fern", text: "Half a litre on Mondays.", scope: "global" })
      assert.lengthOf((yield* notes.search("/elsewhere", { words: "ferns", limit: 5 })).notes, 1)
    }).pipe(Effect.provide(NotesSqlite.layerMemory))
  )
})
