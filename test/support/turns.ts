/** Turns over a scripted model and tools of the test. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { text } from "../../src/domain/Content.ts"
import { Changes } from "../../src/services/Changes.ts"
import { Confinements } from "../../src/services/Confinements.ts"
import { Hooks } from "../../src/services/Hooks.ts"
import type { Models } from "../../src/services/Models.ts"
import { Grants } from "../../src/services/permission/Grants.ts"
import { PermissionBroker } from "../../src/services/PermissionBroker.ts"
import { Projects } from "../../src/services/Projects.ts"
import type { Tools } from "../../src/services/Tools.ts"
import { Turn, type TurnSession } from "../../src/services/Turn.ts"
import * as TurnLoop from "../../src/services/turn/TurnLoop.ts"
import { fakeTools } from "./fakeTools.ts"

export const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, SecureRandom.layerWebCrypto)

/** What the broker stands on when nothing is remembered and no project says anything. */
export const unremembered = Layer.mergeAll(Grants.layerMemory, Projects.layerNone)

/** No hook, no sandbox, nothing to undo. */
export const unguarded = Layer.mergeAll(Changes.layerNone, Confinements.layerOff, Hooks.layerNone)

export interface TurnOptions {
  readonly guards?: Layer.Layer<Changes | Confinements | Hooks>
  readonly models: Layer.Layer<Models>
  readonly tools?: Layer.Layer<Tools>
  readonly broker?: Layer.Layer<PermissionBroker>
  readonly maxRequests?: number
}

export const turnLayer = ({
  broker = PermissionBroker.layerAllow,
  guards = unguarded,
  maxRequests = 50,
  models,
  tools = fakeTools({})
}: TurnOptions) => TurnLoop.layerWith({ maxRequests }).pipe(Layer.provide([models, tools, broker, guards, platform]))

/** One turn with services of its own. */
export const runTurn = (session: TurnSession, prompt: string, options: TurnOptions) =>
  Effect.flatMap(Turn, (turn) => turn.run(session, [text(prompt)])).pipe(Effect.provide(turnLayer(options)))
