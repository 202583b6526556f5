import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Place from "../../../src/transports/leader/Place.ts"
import { folder } from "../../support/Program.ts"

describe("Place", () => {
  it.effect("names what lies beside the socket", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const place = yield* Place.placeOf(Place.defaultSocket(home))
      assert.deepStrictEqual(place, {
        socket: join(home, "leader/leader.sock"),
        address: join(home, "leader/leader.sock"),
        folder: join(home, "leader"),
        lock: join(home, "leader/leader.lock"),
        pid: join(home, "leader/leader.pid"),
        log: join(home, "leader/leader.log")
      })
      assert.isUndefined(yield* Place.pidOf(place))
    })
  )

  it.effect("counts bytes and not characters of a path", () =>
    Effect.gen(function* () {
      const name = (length: number) => `/${"x".repeat(length - 1)}`
      yield* Place.placeOf(name(103))
      assert.include((yield* Effect.flip(Place.placeOf(name(104)))).message, "has 104 bytes")
      assert.include((yield* Effect.flip(Place.placeOf(`/${"漢".repeat(40)}`))).message, "has 121 bytes")
    })
  )

  it.effect("makes the folder for its user alone", () =>
    Effect.gen(function* () {
      const place = yield* Place.placeOf(join(yield* folder, "a/b/l.sock"))
      yield* Place.secureFolder(place)
      assert.strictEqual(statSync(place.folder).mode & 0o777, 0o700)
      yield* Place.secureFolder(place)
    })
  )

  it.effect("refuses a folder that is open, one behind a link, and what is none, and says why", () =>
    Effect.gen(function* () {
      const base = yield* folder
      const problemOf = Effect.fnUntraced(function* (name: string) {
        const place = yield* Place.placeOf(join(base, name, "l.sock"))
        return (yield* Effect.flip(Place.secureFolder(place))).message
      })
      for (const mode of [0o701, 0o710, 0o750, 0o777]) {
        const name = mode.toString(8)
        mkdirSync(join(base, name))
        chmodSync(join(base, name), mode)
        assert.include(yield* problemOf(name), `is open to others (mode ${name}): run chmod 700`)
      }
      mkdirSync(join(base, "real"), { mode: 0o700 })
      symlinkSync(join(base, "real"), join(base, "link"))
      assert.include(yield* problemOf("link"), "is no folder")
      writeFileSync(join(base, "file"), "")
      assert.include(yield* problemOf("file"), "cannot be made or looked at (EEXIST)")
    })
  )

  it.effect.skipIf(process.getuid?.() === 0)("refuses the folder of somebody else", () =>
    Effect.gen(function* () {
      const place = yield* Place.placeOf("/root/l.sock")
      yield* Effect.flip(Place.secureFolder(place))
    })
  )
})
