/** The versions of files that sessions change. Loaded with the first change. */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as Layer from "effect/Layer"
import * as ChangesLive from "../services/changes/ChangesLive.ts"

/** Git runs in the environment that this process was started in. */
export const layer = Layer.suspend(() => Layer.provide(ChangesLive.layer(process.env), NodeChildProcessSpawner.layer))
