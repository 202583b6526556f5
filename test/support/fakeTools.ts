/** Tools that do what a test wants, under the names of the built-in ones. */
import * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { Access } from "../../src/domain/permission/Permission.ts"
import { textContent, type ToolContent } from "../../src/domain/Tool.ts"
import {
  type ToolContext,
  type ToolDefinition,
  ToolInputInvalid,
  type ToolOutcome
} from "../../src/services/ToolDefinition.ts"
import { Tools } from "../../src/services/Tools.ts"

const Input = Schema.Struct({ value: Schema.optionalKey(Schema.String) })

export interface FakeTool {
  readonly run: (value: string, context: ToolContext) => Effect.Effect<ToolOutcome>
  readonly concurrency?: "shared" | "exclusive"
  readonly access?: Access
  readonly preview?: ReadonlyArray<ToolContent>
}

export const completed = (text: string): ToolOutcome => ({ status: "completed", text, content: [textContent(text)] })

export const echo: FakeTool = { run: (value) => Effect.succeed(completed(`echo ${value}`)) }

export const fakeTool = (name: string, fake: FakeTool): ToolDefinition => ({
  tool: AiTool.make(name, { description: `The tool ${name}`, parameters: Input }),
  kind: "other",
  title: `Use ${name}`,
  concurrency: fake.concurrency ?? "shared",
  prepare: (input) =>
    Schema.decodeUnknownEffect(Input)(input).pipe(
      Effect.mapError(() => new ToolInputInvalid({ message: `"value" of ${name} has to be a text` })),
      Effect.map(({ value = "" }) => ({
        title: `${name} ${value}`,
        kind: "read",
        locations: [{ path: `/work/${value}` }],
        preview: fake.preview ?? [],
        access: fake.access ?? { _tag: "None" },
        run: (context) => fake.run(value, context)
      }))
    )
})

export const fakeTools = (tools: { readonly [Name in string]?: FakeTool }): Layer.Layer<Tools> =>
  Layer.succeed(Tools, {
    get: (names) =>
      names.flatMap((name) => {
        const fake = tools[name]
        return fake === undefined ? [] : [fakeTool(name, fake)]
      })
  })
