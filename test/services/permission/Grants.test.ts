import { assert, describe, it } from "@effect/vitest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import type { Grant } from "../../../src/domain/permission/Permission.ts"
import { Grants } from "../../../src/services/permission/Grants.ts"
import { Settings } from "../../../src/services/Settings.ts"
import { platform } from "../../support/toolbox.ts"

const npm: Grant = { verdict: "allow", access: "Execute", subject: "npm test" }
const fetch: Grant = { verdict: "reject", access: "Fetch", subject: "example.org" }

const grants = (home: string) =>
  Layer.fresh(Grants.layer).pipe(
    Layer.provide([Settings.layerValues({ home }), SecureRandom.layerWebCrypto]),
    Layer.provide(platform)
  )

const within = <A, E>(use: (home: string) => Effect.Effect<A, E, FileSystem.FileSystem>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    return yield* use(`${yield* fs.makeTempDirectoryScoped()}/home`)
  }).pipe(Effect.scoped, Effect.provide(platform))

describe("Grants", () => {
  it.effect("are kept for their project, across processes, in a file of the owner's own", () =>
    within(
      Effect.fnUntraced(function* (home) {
        const fs = yield* FileSystem.FileSystem
        yield* Effect.gen(function* () {
          const { of, remember } = yield* Grants
          assert.deepStrictEqual(yield* of("/a"), [])
          yield* remember("/a", npm)
          yield* remember("/a", fetch)
          yield* remember("/b", { ...npm, verdict: "reject" })
        }).pipe(Effect.provide(grants(home)))
        assert.strictEqual((yield* fs.stat(`${home}/grants.json`)).mode & 0o777, 0o600)
        yield* Effect.gen(function* () {
          const { list, of } = yield* Grants
          assert.deepInclude((yield* of("/a"))[0], npm)
          assert.deepInclude((yield* of("/b"))[0], { verdict: "reject" })
          assert.deepStrictEqual(
            (yield* list).map(({ project, subject }) => `${project} ${subject}`),
            ["/a npm test", "/a example.org", "/b npm test"]
          )
        }).pipe(Effect.provide(grants(home)))
      })
    )
  )

  it.effect("a later answer replaces the earlier one to the same", () =>
    within((home) =>
      Effect.gen(function* () {
        const { of, remember } = yield* Grants
        yield* remember("/a", npm)
        yield* remember("/a", { ...npm, verdict: "reject" })
        assert.deepStrictEqual(
          (yield* of("/a")).map(({ verdict }) => verdict),
          ["reject"]
        )
      }).pipe(Effect.provide(grants(home)))
    )
  )

  it.effect("are revoked by their ids, for a running agent too", () =>
    within((home) =>
      Effect.gen(function* () {
        const running = yield* Grants
        yield* running.remember("/a", npm)
        yield* running.remember("/a", fetch)
        yield* Effect.gen(function* () {
          const { list, revoke } = yield* Grants
          const [first] = yield* list
          assert.strictEqual((yield* revoke(new Set([first?.id ?? "", "unknown"]))).length, 1)
        }).pipe(Effect.provide(grants(home)))
        assert.deepStrictEqual(
          (yield* running.of("/a")).map(({ subject }) => subject),
          ["example.org"]
        )
        yield* running.revoke("all")
        assert.deepStrictEqual(yield* running.of("/a"), [])
      }).pipe(Effect.provide(grants(home)))
    )
  )

  it.effect("are dropped when nobody used them for 30 days", () =>
    within((home) =>
      Effect.gen(function* () {
        const { list, of, remember, use } = yield* Grants
        yield* remember("/a", npm)
        yield* remember("/a", fetch)
        yield* TestClock.adjust("20 days")
        yield* use("/a", [npm])
        yield* TestClock.adjust("20 days")
        assert.deepStrictEqual(
          (yield* of("/a")).map(({ subject }) => subject),
          ["npm test"]
        )
        yield* remember("/b", npm)
        assert.deepStrictEqual(
          (yield* of("/a")).map(({ subject }) => subject),
          ["npm test"]
        )
        assert.strictEqual((yield* list).length, 2)
      }).pipe(Effect.provide(grants(home)))
    )
  )

  it.effect("a damaged file is left as it is, and nobody can say what was in it", () =>
    within((home) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        yield* fs.makeDirectory(home)
        yield* fs.writeFileString(`${home}/grants.json`, "{")
        const { list, of, remember, use } = yield* Grants
        assert.strictEqual((yield* Effect.flip(of("/a"))).reason, "damaged")
        yield* remember("/a", npm)
        yield* use("/a", [npm])
        assert.strictEqual(yield* fs.readFileString(`${home}/grants.json`), "{")
        assert.include((yield* Effect.flip(list)).message, "is no list of remembered answers and was left as it is")
      }).pipe(Effect.provide(grants(home)))
    )
  )

  it.effect("of one command in two folders are two", () =>
    within((home) =>
      Effect.gen(function* () {
        const { of, remember } = yield* Grants
        yield* remember("/a", { ...npm, folder: "/a/x" })
        yield* remember("/a", { ...npm, folder: "/a/y" })
        yield* remember("/a", { ...npm, folder: "/a/y" })
        assert.deepStrictEqual(
          (yield* of("/a")).map(({ folder }) => folder),
          ["/a/x", "/a/y"]
        )
        yield* remember("/a", { ...npm, verdict: "reject" })
        assert.deepStrictEqual(
          (yield* of("/a")).map(({ folder, verdict }) => [verdict, folder]),
          [["reject", undefined]]
        )
      }).pipe(Effect.provide(grants(home)))
    )
  )

  it.effect("are as many as can be read again, the newest of them", () =>
    within((home) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const entry = (n: number) => ({
          id: `i${n}`,
          project: "/a",
          verdict: "allow",
          access: "Execute",
          subject: `${n} ${"ü".repeat(700)}`,
          grantedAt: "1970-01-01T00:00:00.000Z",
          usedAt: `1970-01-01T00:00:00.${String(n).padStart(4, "0")}Z`
        })
        const many = Array.from({ length: 2_300 }, (_, n) => entry(n))
        yield* fs.makeDirectory(home)
        yield* fs.writeFileString(`${home}/grants.json`, JSON.stringify({ version: 1, grants: many }))
        const { list, remember } = yield* Grants
        yield* TestClock.adjust("1 minute")
        yield* remember("/a", npm)
        const kept = yield* list
        assert.isBelow(kept.length, 2_001)
        assert.isAbove(kept.length, 1_000)
        assert.isBelow(Number((yield* fs.stat(`${home}/grants.json`)).size), 3 * 1024 * 1024)
        assert.deepStrictEqual([kept.at(-1)?.subject, kept.at(-2)?.id], ["npm test", "i2299"])
      }).pipe(Effect.provide(grants(home)))
    )
  )

  it.effect("in memory keep the same promises", () =>
    Effect.gen(function* () {
      const { list, of, remember, revoke, use } = yield* Grants
      yield* remember("/a", npm)
      yield* TestClock.adjust("20 days")
      yield* remember("/b", { ...npm, verdict: "reject" })
      yield* remember("/a", { ...fetch, folder: "/a/x" })
      yield* use("/a", [npm])
      const day = "1970-01-21T00:00:00.000Z"
      assert.deepStrictEqual(yield* list, [
        { id: "1", project: "/a", ...npm, grantedAt: "1970-01-01T00:00:00.000Z", usedAt: day },
        { id: "2", project: "/b", ...npm, verdict: "reject", grantedAt: day, usedAt: day },
        { id: "3", project: "/a", ...fetch, folder: "/a/x", grantedAt: day, usedAt: day }
      ])
      assert.deepStrictEqual(
        (yield* revoke(new Set(["1", "unknown"]))).map(({ id }) => id),
        ["1"]
      )
      assert.deepStrictEqual(
        (yield* of("/a")).map(({ subject }) => subject),
        ["example.org"]
      )
      yield* TestClock.adjust("31 days")
      assert.deepStrictEqual(yield* list, [])
      yield* remember("/a", npm)
      assert.deepStrictEqual(
        (yield* revoke("all")).map(({ id }) => id),
        ["4"]
      )
      assert.deepStrictEqual(yield* of("/a"), [])
    }).pipe(Effect.provide(Grants.layerMemory))
  )

  it.live("many processes at once lose nothing", () =>
    within((home) =>
      Effect.gen(function* () {
        yield* Effect.forEach(
          Array.from({ length: 12 }, (_, n) => n),
          (n) =>
            Effect.provide(
              Effect.flatMap(Grants, ({ remember }) => remember("/a", { ...npm, subject: `command ${n}` })),
              grants(home)
            ),
          { concurrency: "unbounded", discard: true }
        )
        assert.strictEqual((yield* Effect.flatMap(Grants, ({ of }) => of("/a"))).length, 12)
      }).pipe(Effect.provide(grants(home)))
    )
  )
})
