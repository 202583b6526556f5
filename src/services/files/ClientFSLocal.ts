/**
 * Files of this machine, seen the way their user sees them. The editor is asked for its buffer only when the policy
 * allows it, it said that it can, and the real path lies in the workspace; an editor that fails or does not answer in
 * time leaves the disk.
 *
 * `never` reads the disk. `unsaved_only` starts from the disk and lets the buffer win only where it holds what the disk
 * never held: a text that differs beyond line ends, and is no older version of the file, since an editor that has not
 * noticed a change on the disk still shows the version before it (F83). `always` takes whatever the editor answers.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { encode } from "../../domain/text/Encoding.ts"
import { lineEnding, toUnix, withLineEnding } from "../../domain/text/LineEnding.ts"
import { ClientFS, FileFailed, type TextFile } from "../ClientFS.ts"
import { type FsDelegation, Settings } from "../Settings.ts"
import type { Workspace } from "../Workspace.ts"
import { ABSENT, type DiskText, makeDiskFiles } from "./DiskFile.ts"
import { makeRealPaths } from "./RealPath.ts"
import { makeVersions, type Versions } from "./Versions.ts"

const EDITOR_PATIENCE = Duration.seconds(10)

const changed = (path: string, text: string) =>
  new FileFailed({ reason: "changed", path, message: `${path} ${text}: read it again before writing` })

/** What a buffer makes of a file; undefined where the disk stays right. */
const choose = (
  policy: FsDelegation,
  path: string,
  disk: DiskText | undefined,
  buffer: string,
  isOld: (text: string) => boolean
): TextFile | undefined => {
  if (disk === undefined) {
    return buffer === "" ? undefined : { path, text: buffer, encoding: "utf-8", source: "editor", stamp: ABSENT }
  }
  const unsaved = toUnix(buffer) !== toUnix(disk.text) && !isOld(buffer)
  if (policy !== "always" && !unsaved) return undefined
  // Editors show CRLF files with plain line ends; what is written back has to keep the file's own.
  const text = withLineEnding(buffer, lineEnding(disk.text))
  return { path, text, encoding: disk.encoding, source: "editor", stamp: disk.stamp }
}

const make = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const settings = yield* Settings
  const disk = makeDiskFiles(fs, paths)
  const realPaths = makeRealPaths(fs, paths)
  const versions: Versions = makeVersions()

  const buffer = Effect.fnUntraced(function* ({ editor, roots, sessionId }: Workspace, path: string, real: string) {
    if (editor === undefined || !editor.capabilities.readTextFile) return Option.none<string>()
    if (!(yield* realPaths.isInside(roots, real))) return Option.none<string>()
    return yield* editor.readTextFile(sessionId, path).pipe(
      Effect.timeoutOption(EDITOR_PATIENCE),
      Effect.catch((error) =>
        error.notFound
          ? Effect.succeedNone
          : Effect.as(Effect.logDebug("The editor did not give its buffer", error.message), Option.none<string>())
      )
    )
  })

  const read = Effect.fn("ClientFS.read")(function* (workspace: Workspace, path: string) {
    const real = yield* realPaths.resolve(path)
    const stored = yield* Effect.result(
      Effect.mapError(disk.read(real), ({ message, reason }) => new FileFailed({ reason, path, message }))
    )
    if (Result.isFailure(stored) && stored.failure.reason !== "not_found") return yield* stored.failure
    const onDisk = Result.getOrUndefined(stored)
    if (onDisk !== undefined) versions.add(real, toUnix(onDisk.text))
    const { fsDelegation } = yield* settings.current
    const shown = fsDelegation === "never" ? Option.none<string>() : yield* buffer(workspace, path, real)
    const chosen = Option.isNone(shown)
      ? undefined
      : choose(fsDelegation, path, onDisk, shown.value, (text) => versions.isOld(real, toUnix(text)))
    if (chosen !== undefined) return chosen
    const { encoding, stamp, text } = yield* Effect.fromResult(stored)
    return { path, text, encoding, source: "disk", stamp } satisfies TextFile
  })

  const write = Effect.fn("ClientFS.write")(function* (
    _workspace: Workspace,
    path: string,
    text: string,
    expected?: TextFile | null
  ) {
    const real = yield* realPaths.resolve(path)
    if (expected !== undefined) {
      const now = yield* disk.stamp(real)
      if (expected === null && now !== ABSENT) return yield* changed(path, "exists by now")
      if (expected !== null && now !== expected.stamp) return yield* changed(path, "changed since it was read")
    }
    const encoding = expected?.encoding ?? (yield* disk.encodingOf(real))
    yield* disk.write(real, encode(text, encoding))
    versions.add(real, toUnix(text))
  })

  return ClientFS.of({ read, write })
})

/** `ClientFS` on this machine's disk, and in the editor's buffers as `fsDelegation` of the settings says. */
export const layer: Layer.Layer<ClientFS, never, FileSystem.FileSystem | Path.Path | Settings> = Layer.effect(
  ClientFS,
  make
)
