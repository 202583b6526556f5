/** The built-in tools. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ToolDefinition } from "./ToolDefinition.ts"

/** What `Tools` promises: the tools of a harness by name, in the order of the names, without those that there are not. */
export interface ToolsShape {
  readonly get: (names: ReadonlyArray<string>) => ReadonlyArray<ToolDefinition>
}

/** The tools that a session has beside those of its MCP servers. */
export class Tools extends Context.Service<Tools, ToolsShape>()("super-pi/Tools") {
  /** These beside those of another layer, and instead of one of the same name. */
  static layerBeside(own: ReadonlyArray<ToolDefinition>): Layer.Layer<Tools, never, Tools> {
    const known = new Map(own.map((definition) => [definition.tool.name, definition]))
    return Layer.effect(
      Tools,
      Effect.map(Tools, (others) =>
        Tools.of({ get: (names) => names.flatMap((name) => known.get(name) ?? others.get([name])) })
      )
    )
  }
}
