/**
 * Files of this machine, seen the way their user sees them. What the editor shows is asked for by `EditorBuffers`.
 *
 * `never` reads the disk. `unsaved_only` starts from the disk and lets the buffer win only where it holds what the disk
 * never held: a text that differs beyond line ends, and is no older version of the file, since an editor that has not
 * noticed a change on the disk still shows the version before it (F83). `always` takes whatever the editor answers.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { decode, encode, type Encoding, encodingNames, unwritable } from "../../domain/text/Encoding.ts"
import { lineEnding, linesAt, toUnix, withLineEnding } from "../../domain/text/LineEnding.ts"
import { ClientFS, type FileEdit, FileFailed, type LineRange, type TextFile } from "../ClientFS.ts"
import { type FsDelegation, Settings } from "../Settings.ts"
import type { Workspace } from "../Workspace.ts"
import { ABSENT, type DiskText, makeDiskFiles } from "./DiskFile.ts"
import { type Buffer, makeEditorBuffers, misplaced } from "./EditorBuffers.ts"
import { makeFileWriter } from "./FileWriter.ts"
import { makeRealPaths } from "./RealPath.ts"
import { makeVersions, type Versions } from "./Versions.ts"

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

/** The bytes of a text, if the same text can be read from them again. */
const bytesOf = Effect.fnUntraced(function* (path: string, text: string, encoding: Encoding) {
  const name = encodingNames[encoding]
  const missing = unwritable(text, encoding)
  if (missing !== undefined) {
    const [line = 1] = linesAt(text, [missing.at])
    const character = JSON.stringify(missing.character)
    return yield* new FileFailed({
      reason: "encoding",
      path,
      message: `${path} is written in ${name}, which has no ${character} (line ${line} of the new text). Nothing was changed: use other characters, or convert the file to UTF-8 first (iconv)`
    })
  }
  const bytes = encode(text, encoding)
  if (Option.exists(decode(bytes), (again) => again.text === text)) return bytes
  return yield* new FileFailed({
    reason: "encoding",
    path,
    message: `${path} could not be read as text in ${name} any more with this content, such as with a NUL character in it. Nothing was changed`
  })
})

const make = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const settings = yield* Settings
  const disk = makeDiskFiles(fs)
  const writer = makeFileWriter(fs, paths)
  const realPaths = makeRealPaths(fs, paths)
  const versions: Versions = makeVersions()
  const buffers = makeEditorBuffers()

  /** Asks only for files of this workspace, by their real path, and only if the policy wants it. */
  const ask = Effect.fnUntraced(function* (workspace: Workspace, path: string, real: string, range?: LineRange) {
    const { fsDelegation } = yield* settings.current
    const none: Buffer = { text: undefined }
    if (fsDelegation === "never" || workspace.editor === undefined) return none
    if (!(yield* realPaths.isInside(workspace.roots, real))) return none
    return yield* buffers.ask(workspace.editor, workspace.sessionId, path, range)
  })

  /** A buffer that can be a new file: its folder is there, and it is not the text of another file. */
  const isPlausible = Effect.fnUntraced(function* (real: string, onDisk: DiskText | undefined, text: string) {
    if (versions.isOfOther(real, toUnix(text))) return false
    return onDisk !== undefined || (yield* Effect.orElseSucceed(fs.exists(paths.dirname(real)), () => false))
  })

  /** The whole buffer where that is needed; a part that is the same on the disk is enough to know that it is not. */
  const bufferOf = Effect.fnUntraced(function* (
    workspace: Workspace,
    path: string,
    real: string,
    onDisk: DiskText | undefined,
    range: LineRange | undefined
  ) {
    const { fsDelegation } = yield* settings.current
    if (range !== undefined && onDisk !== undefined && fsDelegation === "unsaved_only") {
      const part = yield* ask(workspace, path, real, range)
      if (part.text === undefined || buffers.isPartOf(onDisk.text, part.text, range))
        return { ...part, text: undefined }
    }
    const whole = yield* ask(workspace, path, real)
    if (whole.text === undefined || (yield* isPlausible(real, onDisk, whole.text))) return whole
    return { text: undefined, notice: misplaced }
  })

  const read = Effect.fn("ClientFS.read")(function* (workspace: Workspace, path: string, range?: LineRange) {
    const real = yield* realPaths.resolve(path)
    const stored = yield* Effect.result(
      Effect.mapError(disk.read(real), ({ message, reason }) => new FileFailed({ reason, path, message }))
    )
    if (Result.isFailure(stored) && stored.failure.reason !== "not_found") return yield* stored.failure
    const onDisk = Result.getOrUndefined(stored)
    if (onDisk !== undefined) versions.add(real, toUnix(onDisk.text))
    const { fsDelegation } = yield* settings.current
    const { notice, text: shown } = yield* bufferOf(workspace, path, real, onDisk, range)
    const chosen =
      shown === undefined
        ? undefined
        : choose(fsDelegation, path, onDisk, shown, (text) => versions.isOld(real, toUnix(text)))
    if (chosen !== undefined) return chosen
    const told = notice === undefined ? {} : { notice }
    if (Result.isFailure(stored)) {
      const { message, reason } = stored.failure
      return yield* new FileFailed({ reason, path, message, ...told })
    }
    const { encoding, stamp, text } = stored.success
    return { path, text, encoding, source: "disk", stamp, ...told } satisfies TextFile
  })

  const readLines = Effect.fn("ClientFS.readLines")(function* (workspace: Workspace, path: string, range: LineRange) {
    const { fsDelegation } = yield* settings.current
    // Whether lines are unsaved or outdated cannot be told without the whole, which nobody wants to hold.
    if (fsDelegation !== "always") return { text: undefined }
    const part = yield* ask(workspace, path, yield* realPaths.resolve(path), range)
    return buffers.keepsTo(range, part)
  })

  const check = Effect.fnUntraced(function* (path: string, real: string, expected: TextFile | null | undefined) {
    if (expected === undefined) return
    const now = yield* disk.stamp(real)
    if (expected === null && now !== ABSENT) return yield* changed(path, "exists by now")
    if (expected !== null && now !== expected.stamp) return yield* changed(path, "changed since it was read")
  })

  const stateOf = Effect.fnUntraced(function* ({ executable, expected, like, path, text }: FileEdit) {
    const real = yield* realPaths.resolve(path)
    yield* check(path, real, expected)
    if (text === null) {
      if (Option.isSome(yield* Effect.option(fs.readLink(path)))) {
        const message = `${path} is a link to ${real}: remove it with a command, if the link is what you mean`
        return yield* new FileFailed({ reason: "io", path, message })
      }
      return { path: real, bytes: null }
    }
    const encoding = expected?.encoding ?? like?.encoding ?? (yield* disk.encodingOf(real))
    return {
      path: real,
      bytes: yield* bytesOf(path, text, encoding),
      ...(like === undefined ? {} : { like: yield* realPaths.resolve(like.path) }),
      ...(executable === undefined ? {} : { executable })
    }
  })

  const change = Effect.fn("ClientFS.change")(function* (_workspace: Workspace, edits: ReadonlyArray<FileEdit>) {
    const states = yield* Effect.forEach(edits, stateOf)
    yield* writer.apply(states)
    for (const [index, { text }] of edits.entries()) {
      const real = states[index]?.path
      if (text !== null && real !== undefined) versions.add(real, toUnix(text))
    }
  })

  const write = Effect.fn("ClientFS.write")(
    (workspace: Workspace, path: string, text: string, expected?: TextFile | null) =>
      change(workspace, [{ path, text, ...(expected === undefined ? {} : { expected }) }])
  )

  return ClientFS.of({ read, readLines, write, change })
})

/** `ClientFS` on this machine's disk, and in the editor's buffers as `fsDelegation` of the settings says. */
export const layer: Layer.Layer<ClientFS, never, FileSystem.FileSystem | Path.Path | Settings> = Layer.effect(
  ClientFS,
  make
)
