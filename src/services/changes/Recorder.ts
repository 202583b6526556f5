/** Keeps what tools and commands change, in the log and in the session's folder. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type * as Scope from "effect/Scope"
import { isWithin } from "../../domain/files/Paths.ts"
import { type FileChange, type FileVersion, isSameVersion } from "../../domain/session/Changes.ts"
import type { ChangesShape, RecordChange } from "../Changes.ts"
import type { Workspace } from "../Workspace.ts"
import type { BeginCapture, Captured } from "./Capture.ts"
import { limited, makePatience, type Patience } from "./Patience.ts"
import type { Snapshot, Snapshots } from "./Snapshots.ts"

/** For a look at all folders before a command, and again for one after it. */
const PATIENCE = Duration.seconds(5)
const TOO_LONG = `looking at the files took longer than ${Duration.toSeconds(PATIENCE)} s`

/** For what is left of a look after somebody cancelled, who waits for an answer. */
const HASTE = Duration.seconds(1)
const CUT_SHORT = "the turn was cancelled before all files could be looked at"

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
  begin: BeginCapture,
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
        const { scratch } = workspace
        const memory = memoryOf(workspace)
        const before = new Map<string, Captured>()
        const first = begin()
        for (const path of yield* concerned(given)) before.set(path, yield* first.keep(scratch, path))
        const exit = yield* Effect.exit(restore(change))
        const second = begin()
        for (const [path, was] of before) yield* put(memory, record, path, was, yield* second.keep(scratch, path))
        return yield* exit
      })
    )

  const take = Effect.fnUntraced(function* ({ scratch }: Workspace, root: string, earlier: Snapshot | undefined) {
    const now = yield* Clock.currentTimeMillis
    return yield* snapshots.take(scratch, root, now, earlier)
  })

  /** The folders of the workspace, without those that lie in another one. */
  const rootsOf = Effect.fnUntraced(function* ({ roots }: Workspace) {
    const real = [...new Set(yield* Effect.forEach(roots, realOf))]
    return real.filter((root) => !real.some((other) => other !== root && isWithin(other, root)))
  })

  const look = Effect.fnUntraced(function* (
    workspace: Workspace,
    root: string,
    patience: Patience
  ): Effect.fn.Return<Look> {
    const { looks } = memoryOf(workspace)
    const earlier = looks.get(root)
    if (typeof earlier === "string") return { root, missed: earlier }
    if (patience.isOver()) return { root, missed: TOO_LONG }
    return yield* patience.within(take(workspace, root, earlier)).pipe(
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

  const lookAtAll = Effect.fnUntraced(function* (workspace: Workspace) {
    const patience = makePatience()
    const looks = Effect.flatMap(rootsOf(workspace), (roots) =>
      Effect.forEach(roots, (root) => look(workspace, root, patience))
    )
    return yield* limited(patience, looks, PATIENCE, TOO_LONG)
  })

  const changesSince = Effect.fnUntraced(function* (workspace: Workspace, before: Look) {
    if ("missed" in before) return [{ path: before.root, missed: before.missed }]
    const after = yield* take(workspace, before.root, before)
    memoryOf(workspace).looks.set(before.root, after)
    return yield* snapshots.compare(workspace.scratch, before, after)
  })

  /** Never fails and never takes long: what could not be looked at is missed, and says why. */
  const gather = Effect.fnUntraced(function* (
    workspace: Workspace,
    before: ReadonlyArray<Look>,
    restore: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>,
    isCancelled: boolean
  ) {
    const patience = makePatience()
    const looks = Effect.forEach(before, (one) =>
      Effect.catch(
        patience.within(changesSince(workspace, one)),
        ({ message }): Effect.Effect<ReadonlyArray<FileChange>> => Effect.succeed([{ path: one.root, missed: message }])
      )
    )
    const fiber = yield* Effect.forkChild(looks)
    const hurried = limited(patience, Fiber.await(fiber), HASTE, CUT_SHORT)
    if (isCancelled) yield* hurried
    else {
      const waited = yield* Effect.exit(restore(limited(patience, Fiber.await(fiber), PATIENCE, TOO_LONG)))
      if (Exit.isFailure(waited)) yield* hurried
    }
    return (yield* Fiber.join(fiber)).flat()
  })

  const recordingAll: ChangesShape["recordingAll"] = (workspace, record, change) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const memory = memoryOf(workspace)
        const before = yield* restore(lookAtAll(workspace))
        const meanwhile = new Map<string, FileVersion | null>()
        memory.running.add(meanwhile)
        const exit = yield* Effect.exit(restore(change))
        memory.running.delete(meanwhile)
        for (const found of yield* gather(workspace, before, restore, Exit.hasInterrupts(exit))) {
          // What somebody else of the session changed meanwhile is recorded already.
          const recorded = "missed" in found ? undefined : meanwhile.get(found.path)
          const own = recorded === undefined || "missed" in found ? found : { ...found, before: recorded }
          if (!("missed" in own) && isSameVersion(own.before, own.after)) continue
          yield* note(memory, record, own)
        }
        return yield* exit
      })
    )

  return { recording, recordingAll }
}
