/**
 * The files of a project: which of them count for a folder, and what they say. Read whole, small and plain files only, and
 * never through a link out of the project. One that should count and cannot be read is told: it may hold deny rules.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Result from "effect/Result"
import { isWithin } from "../../domain/files/Paths.ts"
import { OWN_FOLDER } from "./OwnFolder.ts"
import { type FileContent, type FileKind, nothingSaid, parseProjectFile } from "./ProjectFile.ts"

interface Candidate {
  readonly kind: FileKind
  readonly path: string
}

interface FoundFile extends Candidate {
  /** Differs when the file may have changed. */
  readonly stamp: string
  /** Where it really lies, or why it is not read. */
  readonly place: Result.Result<string, string>
}

export interface FoundFiles {
  readonly files: ReadonlyArray<FoundFile>
  /** Why some may be missing. */
  readonly problems: ReadonlyArray<string>
}

/** What one file says. */
export interface SaidFile extends FileContent {
  /** Its path in the project. */
  readonly file: string
}

/** In bytes. */
const LARGEST = 1024 * 1024

/** Files of hooks in one folder, and folders from the root down. More are not read. */
const MOST_FILES = 20
const MOST_FOLDERS = 50

/** Files whose last good content is remembered. */
const MOST_REMEMBERED = 500

/** Looks wait for the disk, and do so side by side: each call of a tool begins with them. */
const atOnce = { concurrency: 8 }

const isAbsent = ({ reason }: PlatformError): boolean => reason._tag === "NotFound"
const unreadable = ({ reason }: PlatformError): string => `cannot be read (${reason._tag}); make it readable for you`

/** What lies in `home`, the person's own folder, is theirs also where they work around it, and no project's. */
export const makeProjectFiles = (fs: FileSystem.FileSystem, path: Path.Path, home: string) => {
  const remembered = new Map<string, { readonly stamp: string; readonly content: FileContent }>()

  const remember = (file: string, stamp: string, content: FileContent): void => {
    remembered.delete(file)
    remembered.set(file, { stamp, content })
    const [oldest] = remembered.keys()
    if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest)
  }

  /** The file as it is, or why it cannot be read. */
  const examine = Effect.fnUntraced(function* (
    root: string,
    file: string
  ): Effect.fn.Return<{ readonly place: string; readonly stamp: string }, PlatformError | string> {
    const place = yield* fs.realPath(file)
    if (!isWithin(root, place)) return yield* Effect.fail("leads out of the project; put the file itself there")
    const { ino, mtime, size, type } = yield* fs.stat(place)
    if (type !== "File") return yield* Effect.fail("is no plain file; make it one, or remove it")
    if (size > LARGEST) return yield* Effect.fail(`has more than ${LARGEST} bytes; shorten it`)
    const time = Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
    return { place, stamp: [time, size, Option.getOrElse(ino, () => 0)].join(":") }
  })

  /** Undefined where there is no such file. */
  const look = (root: string, candidate: Candidate): Effect.Effect<FoundFile | undefined> =>
    Effect.match(examine(root, candidate.path), {
      onSuccess: ({ place, stamp }) => ({ ...candidate, stamp, place: Result.succeed(place) }),
      onFailure: (error) => {
        if (typeof error !== "string" && isAbsent(error)) return undefined
        const problem = typeof error === "string" ? error : unreadable(error)
        return { ...candidate, stamp: problem, place: Result.fail(problem) }
      }
    })

  const realOf = (folder: string) => Effect.orElseSucceed(fs.realPath(folder), () => path.resolve(folder))

  /** The folders from the root down to where a session works. */
  const foldersOf = (root: string, cwd: string): ReadonlyArray<string> => {
    const folders = [cwd]
    for (let at = cwd; at !== root && at !== path.dirname(at);) {
      at = path.dirname(at)
      folders.unshift(at)
    }
    return folders
  }

  /** The files of hooks in a folder, and why they may not be all. */
  const hooksIn = (folder: string) =>
    Effect.match(fs.readDirectory(folder), {
      onFailure: (error) => ({
        files: [],
        problems: isAbsent(error) ? [] : [`${folder} ${unreadable(error)}: no hook of it runs`]
      }),
      onSuccess: (names) => {
        const own = names.filter((name) => name.endsWith(".json")).toSorted()
        return {
          files: own.slice(0, MOST_FILES).map((name): Candidate => ({ kind: "hooks", path: path.join(folder, name) })),
          problems:
            own.length > MOST_FILES
              ? [`${folder} has more than ${MOST_FILES} files; the hooks of the rest do not run`]
              : []
        }
      }
    })

  /** Every file that counts, in the order in which they count. */
  const find = Effect.fnUntraced(function* (root: string, cwd: string): Effect.fn.Return<FoundFiles> {
    const candidates: Array<Candidate> = [{ kind: "servers", path: path.join(root, ".mcp.json") }]
    const problems: Array<string> = []
    const person = yield* realOf(home)
    const folders = foldersOf(root, cwd)
    const looked = yield* Effect.forEach(
      folders.slice(0, MOST_FOLDERS),
      (folder) => {
        const own = path.join(folder, OWN_FOLDER)
        return Effect.all([Effect.succeed(own), realOf(own), hooksIn(path.join(own, "hooks"))], atOnce)
      },
      atOnce
    )
    if (folders.length > MOST_FOLDERS) {
      problems.push(`${cwd} lies more than ${MOST_FOLDERS} folders deep; what the deepest configure is not used`)
    }
    for (const [own, real, hooks] of looked) {
      if (real === person) continue
      candidates.push({ kind: "config", path: path.join(own, "config.toml") }, ...hooks.files)
      problems.push(...hooks.problems)
    }
    const found = yield* Effect.forEach(candidates, (candidate) => look(root, candidate), atOnce)
    return { files: found.filter((file) => file !== undefined), problems }
  })

  /** Fails with a sentence where the file says nothing at all. */
  const readNew = Effect.fnUntraced(function* ({ kind, path: file, place }: FoundFile) {
    const from = yield* Effect.mapError(Effect.fromResult(place), (problem) => `${file} ${problem}`)
    const text = yield* Effect.mapError(fs.readFileString(from), (error) => `${file} ${unreadable(error)}`)
    return yield* Effect.fromResult(parseProjectFile(text, file, kind))
  })

  /** One that breaks while somebody edits it keeps what it said last, so that its deny rules do not go away. */
  const read = Effect.fnUntraced(function* (root: string, found: FoundFile): Effect.fn.Return<SaidFile> {
    const file = path.relative(root, found.path)
    const last = remembered.get(found.path)
    if (last?.stamp === found.stamp) return { ...last.content, file }
    const content = yield* Effect.result(readNew(found))
    if (Result.isFailure(content)) {
      const until = last === undefined ? "it is not used" : "its last good content holds"
      return { ...nothingSaid, ...last?.content, warnings: [`${content.failure}. Until then ${until}`], file }
    }
    remember(found.path, found.stamp, content.success)
    return { ...content.success, file }
  })

  return {
    find,
    read: (root: string, { files }: FoundFiles) => Effect.forEach(files, (file) => read(root, file))
  }
}
