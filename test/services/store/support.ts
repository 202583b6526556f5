/** Stores on real files in folders of their own, and a way to see what was logged. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import type { SessionId } from "../../../src/domain/Ids.ts"
import { SessionStore, type SessionStoreShape } from "../../../src/services/SessionStore.ts"
import * as SessionStoreSqlite from "../../../src/services/store/SessionStoreSqlite.ts"

/** The path of a database that is not there yet, in a folder that is not there either. */
export const temporaryFile = FileSystem.FileSystem.pipe(
  Effect.flatMap((fileSystem) => fileSystem.makeTempDirectoryScoped({ prefix: "super-pi-store-" })),
  Effect.map((folder) => `${folder}/home/sessions.db`),
  Effect.provide(NodeFileSystem.layer)
)

export const storeLayer = (file: string) =>
  SessionStoreSqlite.layer({ file }).pipe(Layer.provide([NodeFileSystem.layer, NodePath.layer]))

/** A store with a connection of its own, which ends with the scope. */
export const openStore = (file: string) =>
  Effect.map(Layer.build(Layer.fresh(storeLayer(file))), (context) => Context.get(context, SessionStore))

export const logOf = (store: SessionStoreShape, id: SessionId) => Stream.runCollect(store.entries(id))

/** Runs an effect and gives its result with the messages that it logged. */
export const withLogged = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const logged: Array<string> = []
  const logger = Logger.make(({ message }) => logged.push(String(message)))
  return [yield* Effect.provide(effect, Logger.layer([logger])), logged] as const
})
