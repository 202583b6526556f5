import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { find } from "../../../src/cli/setup/Program.ts"
import { version } from "../../../src/domain/Version.ts"
import { folder } from "../../support/Program.ts"

const place = Effect.map(folder, (path) => realpathSync(path))

const program = (file: string): string => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, "#!/bin/sh\n", { mode: 0o755 })
  return file
}

const found = (called: string, path: string) => {
  const environment = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { PATH: path } }))
  return find(called).pipe(Effect.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, environment)))
}

describe("how this program is started again", () => {
  it.effect("by the name on PATH that leads to it, which outlasts an update", () =>
    Effect.gen(function* () {
      const root = yield* place
      const real = program(join(root, "lib", "super-pi-1", "bin", "super-pi"))
      mkdirSync(join(root, "bin"))
      const link = join(root, "bin", "super-pi")
      symlinkSync(real, link)
      const { isSameCommand, launch } = yield* found(real, `relative:${join(root, "bin")}`)
      assert.deepStrictEqual(launch, { command: link, args: ["acp"] })
      assert.deepStrictEqual(["super-pi", link, real, "/other/super-pi"].map(isSameCommand), [true, true, true, false])
    })
  )

  it.effect("by its own path where PATH leads elsewhere or nowhere", () =>
    Effect.gen(function* () {
      const root = yield* place
      const other = program(join(root, "bin", "super-pi"))
      const real = program(join(root, "checkout", "bin", "super-pi"))
      const { isSameCommand, launch } = yield* found(real, dirname(other))
      assert.deepStrictEqual(launch, { command: real, args: ["acp"] })
      assert.deepStrictEqual(["super-pi", other].map(isSameCommand), [false, false])
    })
  )

  it.effect("by npx where npx runs it, since its cache does not last", () =>
    Effect.gen(function* () {
      const root = yield* place
      const npx = program(join(root, "bin", "npx"))
      const cached = program(join(root, "_npx", "1f", "node_modules", "super-pi", "bin", "super-pi"))
      const { launch } = yield* found(cached, dirname(npx))
      assert.deepStrictEqual(launch, { command: npx, args: ["--yes", `super-pi@${version}`, "acp"] })
      assert.strictEqual((yield* found(cached, "/nowhere")).launch.command, "npx")
    })
  )
})
