/** Keeps what tools and commands change, in the log and in the session's folder. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type * as Scope from "effect/Scope"
import { isWithin } from "../../domain/files/Paths.ts"
import { type FileChange, type FileVersion, isSameVersion } from "../../domain/session/Changes.ts"
import type { ChangesShape, RecordChange } from "../Changes.ts"
import type { Workspace } from "../Workspace.ts"
import type { Capture, Captured } from "./Capture.ts"
import type { Snapshot, Snapshots } from "./Snapshots.ts"
import { Unaffordable } from "./Unaffordable.ts"

/** For a look at a folder before a command, and again for one after it. */
const PATIENCE = Duration.seconds(5)

/** What is remembered of one session. */
interface Memory {
  /** By folder: the last look at it, or why there is none and will not be. */
  readonly looks: Map<string, Snapshot | string>
  /** For each command that runs: what was recorded since it began. */
  readonly running: Set<Map<string, FileVersion | null>>
}

type Look = Snapshot | { readonly root: string; readonly missed: string }

export const makeRecorder = (
  fs: FileSystem.FileSystem,
  paths: Path.Path,
  capture: Capture,
  snapshots: Snapshots
): Pick<ChangesShape, "recording" | "recordingAll"> => {
  const memories = new WeakMap<Scope.Scope, Memory>()
  const memoryOf = ({ lifetime }: Workspace): Memory => {
    const memory = memories.get(lifetime) ?? { looks: new Map(), running: new Set() }
    memories.set(lifetime, memory)
    return memory
  }

  const note = ({ running }: Memory, record: RecordChange, change: FileChange) =>
    Effect.suspend(() => {
      if (!("missed" in change)) for (const since of running) since.set(change.path, change.after)
      return record(change)
    })

  const put = (memory: Memory, record: RecordChange, path: string, before: Captured, after: Captured) => {
    if (before !== null && "missed" in before) return note(memory, record, { path, missed: before.missed })
    if (after !== null && "missed" in after) return note(memory, record, { path, missed: after.missed })
    return isSameVersion(before, after) ? Effect.void : note(memory, record, { path, before, after })
  }

  const realOf = (path: string) => Effect.orElseSucceed(fs.realPath(path), () => path)

  /** The paths, what they lead to, and the folders that are missing for them, the outermost first. */
  const concerned = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
    const all = new Set<string>()
    for (const path of given) {
      const missing: Array<string> = []
      let folder = paths.dirname(path)
      while (folder !== paths.dirname(folder) && !(yield* Effect.orElseSucceed(fs.exists(folder), () => false))) {
        missing.push(paths.basename(folder))
        folder = paths.dirname(folder)
      }
      let real = yield* realOf(folder)
      for (const name of missing.toReversed()) all.add((real = paths.join(real, name)))
      const own = paths.join(real, paths.basename(path))
      all.add(own)
      all.add(yield* realOf(own))
    }
    return [...all]
  })

  const recording: ChangesShape["recording"] = (workspace, record, given, change) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const memory = memoryOf(workspace)
        const before = new Map<string, Captured>()
        for (const path of yield* concerned(given)) before.set(path, yield* capture.keep(workspace.scratch, path))
        const exit = yield* Effect.exit(restore(change))
        for (const [path, was] of before) {
          yield* put(memory, record, path, was, yield* capture.keep(workspace.scratch, path))
        }
        return yield* exit
      })
    )

  const inTime = <A>(effect: Effect.Effect<A, Unaffordable>): Effect.Effect<A, Unaffordable> =>
    Effect.timeoutOrElse(effect, {
      duration: PATIENCE,
      orElse: () => {
        const message = `looking at its files took longer than ${Duration.toSeconds(PATIENCE)} s`
        return Effect.fail(new Unaffordable({ message }))
      }
    })

  const take = Effect.fnUntraced(function* ({ scratch }: Workspace, root: string, earlier: Snapshot | undefined) {
    const now = yield* Clock.currentTimeMillis
    return yield* inTime(snapshots.take(scratch, root, now, earlier))
  })

  /** The folders of the workspace, without those that lie in another one. */
  const rootsOf = Effect.fnUntraced(function* ({ roots }: Workspace) {
    const real = [...new Set(yield* Effect.forEach(roots, realOf))]
    return real.filter((root) => !real.some((other) => other !== root && isWithin(other, root)))
  })

  const look = Effect.fnUntraced(function* (workspace: Workspace, root: string): Effect.fn.Return<Look> {
    const { looks } = memoryOf(workspace)
    const earlier = looks.get(root)
    if (typeof earlier === "string") return { root, missed: earlier }
    return yield* take(workspace, root, earlier).pipe(
      Effect.tap((snapshot) => Effect.sync(() => looks.set(root, snapshot))),
      // The next command would wait for the same answer.
      Effect.catch(({ message }) =>
        Effect.sync(() => {
          looks.set(root, message)
          return { root, missed: message }
        })
      )
    )
  })

  const changesSince = Effect.fnUntraced(function* (workspace: Workspace, before: Look) {
    if ("missed" in before) return [{ path: before.root, missed: before.missed }]
    const after = yield* take(workspace, before.root, before)
    memoryOf(workspace).looks.set(before.root, after)
    return yield* inTime(snapshots.compare(workspace.scratch, before, after))
  })

  const finish = Effect.fnUntraced(function* (
    workspace: Workspace,
    record: RecordChange,
    before: Look,
    meanwhile: ReadonlyMap<string, FileVersion | null>
  ) {
    const changes: ReadonlyArray<FileChange> = yield* Effect.catch(changesSince(workspace, before), ({ message }) =>
      Effect.succeed([{ path: before.root, missed: message }])
    )
    for (const change of changes) {
      // What somebody else of the session changed meanwhile is recorded already.
      const recorded = "missed" in change ? undefined : meanwhile.get(change.path)
      const own = recorded === undefined || "missed" in change ? change : { ...change, before: recorded }
      if (!("missed" in own) && isSameVersion(own.before, own.after)) continue
      yield* note(memoryOf(workspace), record, own)
    }
  })

  const recordingAll: ChangesShape["recordingAll"] = (workspace, record, change) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const { running } = memoryOf(workspace)
        const before = yield* restore(
          Effect.flatMap(rootsOf(workspace), (roots) => Effect.forEach(roots, (root) => look(workspace, root)))
        )
        const meanwhile = new Map<string, FileVersion | null>()
        running.add(meanwhile)
        const exit = yield* Effect.exit(restore(change))
        running.delete(meanwhile)
        for (const one of before) yield* finish(workspace, record, one, meanwhile)
        return yield* exit
      })
    )

  return { recording, recordingAll }
}
