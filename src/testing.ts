/**
 * What tests of an application that embeds the agent need: an editor that follows rules, a model that follows a script,
 * and stores and settings that leave nothing behind.
 */
import type * as Layer from "effect/Layer"
import type { ModelInfo } from "./domain/Model.ts"
import { Models } from "./services/Models.ts"
import type * as Scripts from "./services/models/script/Script.ts"

export { parseScript, Script, ScriptPart, ScriptStep } from "./services/models/script/Script.ts"
export * as Memory from "./transports/Memory.ts"
export * as ScriptedEditor from "./testing/ScriptedEditor.ts"

/**
 * A model that answers by `script`, step by step, and fails when none is left. `info` describes it to editors; default:
 * `scripted/script`, which takes images.
 */
export const scriptedModel = (script: Scripts.Script, info?: ModelInfo): Layer.Layer<Models> =>
  Models.scripted(script, info)

/** A session store that ends with its scope. */
export { layerMemory as memoryStore } from "./services/store/SessionStoreSqlite.ts"
