/** What a turn is made of: the loop, the tools, and whoever decides about their calls. Loaded with the first prompt. */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as Layer from "effect/Layer"
import * as ClientFSLocal from "../services/files/ClientFSLocal.ts"
import { PermissionBroker } from "../services/PermissionBroker.ts"
import * as SandboxRunnerLocal from "../services/sandbox/SandboxRunnerLocal.ts"
import * as BuiltInTools from "../services/tools/BuiltInTools.ts"
import * as TurnLoop from "../services/turn/TurnLoop.ts"

/** Commands run in the environment that this process was started in. */
const tools = Layer.suspend(() =>
  BuiltInTools.layer(process.env).pipe(
    Layer.provide([SandboxRunnerLocal.layer(process.env), ClientFSLocal.layer]),
    Layer.provide(NodeChildProcessSpawner.layer)
  )
)

export const layer = Layer.provide(TurnLoop.layer, [tools, PermissionBroker.layer])
