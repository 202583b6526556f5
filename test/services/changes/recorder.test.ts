/** How long a look at files may take, and what is said of what was not seen. The clock is the test's. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as TestClock from "effect/testing/TestClock"
import { mkdirSync } from "node:fs"
import type { FileChange } from "../../../src/domain/session/Changes.ts"
import { makeBlobs } from "../../../src/services/changes/Blobs.ts"
import { makeCapture } from "../../../src/services/changes/Capture.ts"
import { makeRecorder } from "../../../src/services/changes/Recorder.ts"
import type { Snapshot, Snapshots } from "../../../src/services/changes/Snapshots.ts"
import { inFolder } from "../../support/changes.ts"
import { platform } from "../../support/toolbox.ts"

const snapshot = (root: string): Snapshot => ({
  root,
  takenAt: 0,
  files: new Map(),
  odd: new Map(),
  folders: new Map(),
  repositories: []
})

/** A workspace of three folders, of which a look takes as long as it is told. */
const setUp = Effect.fnUntraced(function* (slow: (look: number) => Effect.Effect<void>) {
  const { folder, workspace } = yield* inFolder
  const roots = ["a", "b", "c"].map((name) => `${folder}/${name}`)
  for (const root of roots) mkdirSync(root)
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  let looks = 0
  const snapshots: Snapshots = {
    take: (_scratch, root) =>
      Effect.suspend(() => Effect.as(Effect.andThen(slow(++looks), Effect.void), snapshot(root))),
    compare: (_scratch, { root }) =>
      Effect.succeed([{ path: `${root}/file`, before: null, after: { hash: "1", mode: 0o100644, size: 1 } }])
  }
  const changes: Array<FileChange> = []
  const record = (change: FileChange) => Effect.sync(() => void changes.push(change))
  const recorder = makeRecorder(fs, paths, makeCapture(fs, paths, makeBlobs(fs, paths)), snapshots)
  return {
    roots,
    changes,
    looks: () => looks,
    command: (change: Effect.Effect<void>) => recorder.recordingAll({ ...workspace, roots }, record, change)
  }
})

/** Lets real work with files go on until there is nothing to wait for but the clock. */
const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() =>
    holds()
      ? Effect.void
      : Effect.andThen(
          Effect.promise(() => new Promise((done) => setImmediate(done))),
          until(holds)
        )
  )

const missedOf = (changes: ReadonlyArray<FileChange>) =>
  changes.map((change) => ("missed" in change ? `${change.path.slice(-1)}: ${change.missed}` : change.path.slice(-6)))

describe("looks at several folders", () => {
  it.effect("before a command take five seconds together, not each", () =>
    Effect.gen(function* () {
      const test = yield* setUp(() => Effect.never)
      const fiber = yield* Effect.forkChild(test.command(Effect.void))
      yield* until(() => test.looks() === 1)
      yield* TestClock.adjust("4999 millis")
      assert.deepStrictEqual(test.changes, [])
      yield* TestClock.adjust("1 milli")
      yield* Fiber.join(fiber)
      const why = "looking at the files took longer than 5 s"
      assert.deepStrictEqual(missedOf(test.changes), [`a: ${why}`, `b: ${why}`, `c: ${why}`])
      // Only of the one that took so long it is known that it will again.
      const again = yield* Effect.forkChild(test.command(Effect.void))
      yield* until(() => test.looks() === 2)
      yield* Fiber.interrupt(again)
      assert.strictEqual(test.looks(), 2)
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("after a command take five seconds together, and what was seen by then is kept", () =>
    Effect.gen(function* () {
      const test = yield* setUp((look) => (look <= 4 ? Effect.void : Effect.never))
      const fiber = yield* Effect.forkChild(test.command(Effect.void))
      yield* until(() => test.looks() === 5)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
      const why = "looking at the files took longer than 5 s"
      assert.deepStrictEqual(missedOf(test.changes), ["a/file", `b: ${why}`, `c: ${why}`])
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("end a second after a cancel, whenever it comes, and say what they did not see", () =>
    Effect.gen(function* () {
      for (const isDuring of [true, false]) {
        const running = yield* Deferred.make<void>()
        const test = yield* setUp((look) => (look <= 3 ? Effect.void : Effect.never))
        const fiber = yield* Effect.forkChild(
          test.command(isDuring ? Effect.andThen(Deferred.succeed(running, undefined), Effect.never) : Effect.void)
        )
        if (isDuring) yield* Deferred.await(running)
        else {
          yield* until(() => test.looks() === 4)
          yield* TestClock.adjust("1 second")
        }
        const cancel = yield* Effect.forkChild(Fiber.interrupt(fiber))
        yield* until(() => test.looks() === 4)
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(cancel)
        assert.strictEqual(Exit.hasInterrupts(yield* Fiber.await(fiber)), true)
        const why = "the turn was cancelled before all files could be looked at"
        assert.deepStrictEqual(missedOf(test.changes), [`a: ${why}`, `b: ${why}`, `c: ${why}`])
      }
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("before a command end at once with a cancel, and the command is not run", () =>
    Effect.gen(function* () {
      const test = yield* setUp(() => Effect.never)
      const fiber = yield* Effect.forkChild(test.command(Effect.die("it was run")))
      yield* until(() => test.looks() === 1)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.deepStrictEqual(test.changes, [])
    }).pipe(Effect.scoped, Effect.provide(platform))
  )
})
