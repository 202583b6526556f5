/** What `doctor` says of the folder that the agent keeps things in. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { home } from "../../../src/cli/doctor/Machine.ts"

describe("home", () => {
  it.effect("is a folder, or can be made", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/file`, "")
      const healths = yield* Effect.forEach(["", "/new", "/new/deep", "/file", "/file/below"], (place) =>
        Effect.map(home(`${folder}${place}`), ({ health, message }) => [health, message.replaceAll(folder, "~")])
      )
      assert.deepStrictEqual(healths, [
        ["ok", "~"],
        ["ok", "~/new is made when it is needed"],
        ["ok", "~/new/deep is made when it is needed"],
        ["broken", "~/file is no folder"],
        ["broken", "~/file is no folder"]
      ])
    }).pipe(Effect.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer)))
  )
})
