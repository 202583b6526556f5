/** Turns over a scripted model and tools of the test. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { text } from "../../src/domain/Content.ts"
import type { Models } from "../../src/services/Models.ts"
import { PermissionBroker } from "../../src/services/PermissionBroker.ts"
import type { Tools } from "../../src/services/Tools.ts"
import { Turn, type TurnSession } from "../../src/services/Turn.ts"
import * as TurnLoop from "../../src/services/turn/TurnLoop.ts"
import { fakeTools } from "./fakeTools.ts"

export const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, SecureRandom.layerWebCrypto)

export interface TurnOptions {
  readonly models: Layer.Layer<Models>
  readonly tools?: Layer.Layer<Tools>
  readonly broker?: Layer.Layer<PermissionBroker>
  readonly maxRequests?: number
}

export const turnLayer = ({
  broker = PermissionBroker.layerAllow,
  maxRequests = 50,
  models,
  tools = fakeTools({})
}: TurnOptions) => TurnLoop.layerWith({ maxRequests }).pipe(Layer.provide([models, tools, broker, platform]))

/** One turn with services of its own. */
export const runTurn = (session: TurnSession, prompt: string, options: TurnOptions) =>
  Effect.flatMap(Turn, (turn) => turn.run(session, [text(prompt)])).pipe(Effect.provide(turnLayer(options)))
