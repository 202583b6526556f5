/** A file of settings that is somebody else's: read as it is, and replaced in one step, with a copy of what it was. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import { systemText } from "../../services/files/SystemText.ts"

/** It was left as it was. */
export class SettingsFileFailed extends Schema.TaggedError<SettingsFileFailed>()("SettingsFileFailed", {
  message: Schema.String
}) {}

/** The copy of what was there before the last change. */
export const backupOf = (file: string): string => `${file}.before-super-pi`

/** Settings are never this large; in bytes. */
const LARGEST = 8n * 1024n * 1024n

const failed = (file: string, what: string) => (error: PlatformError) =>
  new SettingsFileFailed({ message: `${file} cannot be ${what}: ${systemText(error)}` })

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The text, its byte order mark included; an absent file is an empty one. */
export const read = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(file).pipe(
    Effect.asSome,
    Effect.catchIf(
      (error) => error.reason._tag === "NotFound",
      () => Effect.succeedNone
    ),
    Effect.mapError(failed(file, "read"))
  )
  if (Option.isNone(info)) return ""
  if (info.value.type !== "File" || info.value.size > LARGEST) {
    return yield* new SettingsFileFailed({ message: `${file} is no file of settings` })
  }
  const bytes = yield* Effect.mapError(fs.readFile(file), failed(file, "read"))
  return yield* Effect.try({
    try: () => decoder.decode(bytes),
    catch: () => new SettingsFileFailed({ message: `${file} is not UTF-8` })
  })
})

const write = Effect.fnUntraced(function* (file: string, text: string, like: Option.Option<FileSystem.File.Info>) {
  const fs = yield* FileSystem.FileSystem
  const mode = Option.match(like, { onNone: () => 0o644, onSome: (info) => info.mode & 0o7777 })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const opened = yield* fs.open(file, { flag: "w", mode })
      yield* opened.writeAll(new TextEncoder().encode(text))
      yield* opened.sync
    })
  )
  yield* fs.chmod(file, mode)
  if (Option.isNone(like)) return
  const { gid, uid } = like.value
  // Of a file that another user has, only root can keep that.
  if (Option.isSome(uid) && Option.isSome(gid)) yield* Effect.ignore(fs.chown(file, uid.value, gid.value))
})

/** Replaces `before`, which was read, by `after`. A link stays one: what it leads to is replaced, with its mode. */
export const replace = Effect.fnUntraced(
  function* (file: string, before: string, after: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const target = yield* fs.realPath(file).pipe(
      // A link to what is not there yet.
      Effect.catch(() => Effect.map(fs.readLink(file), (link) => path.resolve(path.dirname(file), link))),
      Effect.orElseSucceed(() => file)
    )
    yield* fs.makeDirectory(path.dirname(target), { recursive: true })
    const like = yield* Effect.option(fs.stat(target))
    // In the same folder, and so on the same disk; removed with the scope.
    const fresh = yield* fs.makeTempFileScoped({ directory: path.dirname(target), prefix: ".super-pi-" })
    yield* write(fresh, after, like)
    if (Option.isSome(like)) yield* write(backupOf(target), before, like)
    if ((yield* read(file)) !== before) {
      return yield* new SettingsFileFailed({
        message: `${file} was changed meanwhile, perhaps by the editor: try again`
      })
    }
    yield* fs.rename(fresh, target)
    return Option.isSome(like) ? backupOf(target) : undefined
  },
  Effect.scoped,
  (effect, file) => Effect.catchTag(effect, "PlatformError", (error) => Effect.fail(failed(file, "written")(error)))
)
