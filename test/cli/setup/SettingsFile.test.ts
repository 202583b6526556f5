import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import * as SettingsFile from "../../../src/cli/setup/SettingsFile.ts"
import { folder } from "../../support/Program.ts"

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

describe("a file of settings that is somebody else's", () => {
  it.effect("is replaced where a link leads, with its mode and a copy of what it was", () =>
    Effect.gen(function* () {
      const place = yield* folder
      mkdirSync(join(place, "dotfiles"))
      mkdirSync(join(place, "zed"))
      const real = join(place, "dotfiles", "zed.json")
      const link = join(place, "zed", "settings.json")
      writeFileSync(real, "{}")
      chmodSync(real, 0o640)
      symlinkSync("../dotfiles/zed.json", link)
      const backup = yield* SettingsFile.replace(link, "{}", '{ "a": 1 }')
      assert.strictEqual(readFileSync(real, "utf8"), '{ "a": 1 }')
      assert.isTrue(lstatSync(link).isSymbolicLink())
      assert.strictEqual(readlinkSync(link), "../dotfiles/zed.json")
      assert.strictEqual(statSync(real).mode & 0o777, 0o640)
      assert.strictEqual(readFileSync(backup ?? "", "utf8"), "{}")
      assert.strictEqual(statSync(backup ?? "").mode & 0o777, 0o640)
      assert.deepStrictEqual(readdirSync(join(place, "dotfiles")).toSorted(), ["zed.json", "zed.json.before-super-pi"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("is made, with its folder, where there is none", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const file = join(place, "new", "settings.json")
      assert.strictEqual(yield* SettingsFile.read(file), "")
      assert.isUndefined(yield* SettingsFile.replace(file, "", "{}"))
      assert.deepStrictEqual(readdirSync(join(place, "new")), ["settings.json"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("is made where a link leads that leads nowhere yet", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const file = join(place, "settings.json")
      symlinkSync("dotfiles/zed.json", file)
      yield* SettingsFile.replace(file, "", "{}")
      assert.strictEqual(readlinkSync(file), "dotfiles/zed.json")
      assert.strictEqual(readFileSync(join(place, "dotfiles", "zed.json"), "utf8"), "{}")
    }).pipe(Effect.provide(platform))
  )

  it.effect("is left alone when somebody else changed it meanwhile, and when it is not text", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const file = join(place, "settings.json")
      writeFileSync(file, "changed")
      const failed = yield* Effect.flip(SettingsFile.replace(file, "read before", "ours"))
      assert.include(failed.message, "was changed meanwhile")
      assert.strictEqual(readFileSync(file, "utf8"), "changed")
      writeFileSync(file, Buffer.from([0xff, 0xfe, 0x7b, 0x00]))
      assert.include((yield* Effect.flip(SettingsFile.read(file))).message, "is not UTF-8")
      assert.include((yield* Effect.flip(SettingsFile.read(place))).message, "is no file of settings")
    }).pipe(Effect.provide(platform))
  )
})
