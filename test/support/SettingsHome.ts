/** Settings over a real, temporary home folder and an environment of one's own. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { type Flags, Settings } from "../../src/services/Settings.ts"

export const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)

export interface Home {
  readonly config?: string
  /** `credentials.json`. */
  readonly credentials?: string
  readonly env?: Record<string, string>
  readonly flags?: Partial<Flags>
}

export const settingsHome = ({ config, credentials, env, flags }: Home = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "super-pi-settings-" })
      const home = `${folder}/home`
      for (const [name, text] of Object.entries({ "config.toml": config, "credentials.json": credentials })) {
        if (text === undefined) continue
        yield* fs.makeDirectory(home, { recursive: true })
        yield* fs.writeFileString(`${home}/${name}`, text)
      }
      const environment = ConfigProvider.fromEnv({ env: { ...env, SUPERCHARGE_HOME: home } })
      return Settings.layer({ alwaysApprove: false, ...flags }).pipe(Layer.provide(ConfigProvider.layer(environment)))
    })
  ).pipe(Layer.provideMerge(platform))
