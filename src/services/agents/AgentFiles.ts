/**
 * Reads the files of agents: plain, small, each anew when it changed. A project's file counts only where it really lies in the
 * project: its text goes to a model.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Result from "effect/Result"
import { type ReadAgent, readAgentFile, readAgentObject } from "../../domain/agent/AgentFile.ts"
import { isWithin } from "../../domain/files/Paths.ts"

/** In bytes. */
const LARGEST = 512 * 1024

/** Files of one folder; more are not read, which is told. */
const MOST_FILES = 100

/** Files whose content is remembered. */
const MOST_REMEMBERED = 1000

type Reading = Result.Result<ReadAgent, string>

/** A file, and what it says or why it says nothing. */
export interface AgentFile {
  readonly path: string
  readonly reading: Reading
}

export interface AgentFiles {
  /** One file. `root` is the real folder that it must not lead out of; absent: it may lie anywhere. */
  readonly read: (path: string, root?: string) => Effect.Effect<AgentFile>
  /** The files of a folder, and what is wrong with the folder. */
  readonly readFolder: (
    folder: string,
    root?: string
  ) => Effect.Effect<{ readonly files: ReadonlyArray<AgentFile>; readonly problems: ReadonlyArray<string> }>
}

const isAbsent = ({ reason }: PlatformError): boolean => reason._tag === "NotFound"

const unreadable = (path: string, error: PlatformError): string =>
  isAbsent(error)
    ? `${path} is not there; give the path of a file that describes an agent`
    : `${path} cannot be read (${error.reason._tag}); make it readable for you`

const parseJson = Option.liftThrowable((text: string): unknown => JSON.parse(text))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const parse = (path: string, name: string, text: string): Reading => {
  if (!path.toLowerCase().endsWith(".json")) return readAgentFile(path, name, text)
  const value = Option.getOrUndefined(parseJson(text))
  return isObject(value)
    ? readAgentObject(path, { name, ...value })
    : Result.fail(`${path} is no agent: it is no JSON object with the fields name, description and prompt`)
}

export const makeAgentFiles = (fs: FileSystem.FileSystem, paths: Path.Path): AgentFiles => {
  const remembered = new Map<string, { readonly stamp: string; readonly reading: Reading }>()

  const remember = (path: string, stamp: string, reading: Reading): void => {
    remembered.delete(path)
    remembered.set(path, { stamp, reading })
    const [oldest] = remembered.keys()
    if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest)
  }

  const examine = Effect.fnUntraced(function* (path: string, root: string | undefined) {
    const place = yield* fs.realPath(path)
    if (root !== undefined && !isWithin(root, place)) {
      return yield* Effect.fail(`${path} leads out of the project; put the file itself there`)
    }
    const { ino, mtime, size, type } = yield* fs.stat(place)
    if (type !== "File") return yield* Effect.fail(`${path} is no plain file; give the path of one`)
    if (size > LARGEST) return yield* Effect.fail(`${path} has more than ${LARGEST} bytes; shorten it`)
    const time = Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
    const stamp = [place, time, size, Option.getOrElse(ino, () => 0)].join(":")
    const last = remembered.get(path)
    if (last?.stamp === stamp) return last.reading
    const name = paths.basename(path, paths.extname(path))
    const reading = parse(path, name, yield* fs.readFileString(place))
    remember(path, stamp, reading)
    return reading
  })

  const read: AgentFiles["read"] = (path, root) =>
    Effect.match(examine(path, root), {
      onSuccess: (reading) => ({ path, reading }),
      onFailure: (error) => ({
        path,
        reading: Result.fail(typeof error === "string" ? error : unreadable(path, error))
      })
    })

  const isAgentFile = (name: string): boolean =>
    name.toLowerCase().endsWith(".md") && !name.startsWith(".") && name.toLowerCase() !== "readme.md"

  const readFolder: AgentFiles["readFolder"] = Effect.fnUntraced(function* (folder, root) {
    const listed = yield* Effect.result(fs.readDirectory(folder))
    if (Result.isFailure(listed)) {
      const error = listed.failure
      return {
        files: [],
        problems: isAbsent(error) ? [] : [`${unreadable(folder, error)}; no agent of it can be used`]
      }
    }
    const names = listed.success.filter(isAgentFile).toSorted((one, other) => (one < other ? -1 : 1))
    const files = yield* Effect.forEach(names.slice(0, MOST_FILES), (name) => read(paths.join(folder, name), root))
    const problems =
      names.length > MOST_FILES
        ? [`${folder} has more than ${MOST_FILES} files; the agents of the rest cannot be used`]
        : []
    return { files, problems }
  })

  return { read, readFolder }
}
