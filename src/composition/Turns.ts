/** What a turn is made of: the loop, the tools, and whoever decides about their calls. Loaded with the first prompt. */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ClientFSLocal from "../services/files/ClientFSLocal.ts"
import { Confinements } from "../services/Confinements.ts"
import { Hooks } from "../services/Hooks.ts"
import { Grants } from "../services/permission/Grants.ts"
import * as NotesSqlite from "../services/notes/NotesSqlite.ts"
import { PermissionBroker } from "../services/PermissionBroker.ts"
import * as SandboxRunnerLocal from "../services/sandbox/SandboxRunnerLocal.ts"
import { Settings } from "../services/Settings.ts"
import * as BuiltInTools from "../services/tools/BuiltInTools.ts"
import * as TurnLoop from "../services/turn/TurnLoop.ts"
import { Web } from "../services/Web.ts"

const loop = Layer.unwrap(
  Settings.use(({ current }) =>
    Effect.map(current, ({ maxRequests }) =>
      maxRequests === undefined ? TurnLoop.layer : TurnLoop.layerWith({ maxRequests })
    )
  )
)

/** Commands and hooks run in the environment that this process was started in. */
export const layer = Layer.suspend(() =>
  loop.pipe(
    Layer.provide([
      BuiltInTools.layer(process.env),
      Confinements.layer,
      Hooks.layer(process.env),
      Layer.provide(PermissionBroker.layer, Grants.layer)
    ]),
    Layer.provide([
      SandboxRunnerLocal.layer(process.env),
      ClientFSLocal.layer,
      NotesSqlite.layerHome,
      Web.layer(process.env)
    ]),
    Layer.provide(NodeChildProcessSpawner.layer)
  )
)
