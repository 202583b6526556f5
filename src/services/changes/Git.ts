/**
 * What git is asked for: which files a work tree has, and to keep their bytes. It reads the repository and changes
 * nothing of it: objects go into a folder of the session, and nothing that the repository configures is run, be it a
 * hook, a filter or a file system monitor.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Stream from "effect/Stream"
import { childEnvironment, type Environment } from "../../domain/ChildEnvironment.ts"
import { gitQuote } from "../../domain/text/GitQuote.ts"
import { systemText } from "../files/SystemText.ts"
import { findExecutable } from "../sandbox/Executable.ts"
import { spawn } from "../sandbox/Spawn.ts"
import { decodeName } from "./OddNames.ts"
import { Unaffordable } from "./Unaffordable.ts"

/** A repository: where its objects are, and how they are named. */
export interface Repository {
  readonly objects: string
  readonly format: string
}

/** Names of files below a folder; a repository inside is one name that ends with `/`. */
export interface GitNames {
  readonly names: ReadonlyArray<string>
  /** Those that are not UTF-8. */
  readonly odd: ReadonlyArray<Uint8Array>
}

/** Where a session keeps objects of its own, beside those of the repositories that it works in. */
export interface ObjectStore {
  readonly folder: string
  readonly repositories: ReadonlyArray<Repository>
}

export interface Git {
  /** Undefined outside of a work tree, and where there is no git. */
  readonly repositoryOf: (folder: string) => Effect.Effect<Repository | undefined>
  /** Files below the folder that git tracks or would track; fails when there are more than `most`. */
  readonly files: (folder: string, most: number) => Effect.Effect<GitNames, Unaffordable>
  /** Keeps the bytes of files, and gives the names of their objects in the same order. */
  readonly keep: (
    store: ObjectStore,
    paths: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string>, Unaffordable>
  /** The bytes of objects in the same order, undefined for one that is gone. */
  readonly read: (
    store: ObjectStore,
    names: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<Uint8Array | undefined>, Unaffordable>
}

/** In a repository of somebody else too, since nothing of it is run. */
const CAREFUL = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*"]

/** Objects live as long as a session does: it is not worth packing them well, or waiting for the disk. */
const FAST = ["-c", "core.looseCompression=1", "-c", "core.fsync=none"]

const NEWLINE = 10
const NUL = 0

/** In bytes: what git may answer, with names and with what files hold. */
const ANSWER_LIMIT = 16 * 1024 * 1024
const BYTES_LIMIT = 128 * 1024 * 1024

/** Why a folder is not looked at. `what` it has too much of. */
export const tooLarge = (what: string): Unaffordable =>
  new Unaffordable({ message: `it is too large to record: it has more than ${what}` })

/** `<name> <type> <size>`, a line end, the bytes and a line end, one after another; or `<name> missing`. */
const parseObjects = (bytes: Uint8Array): ReadonlyArray<Uint8Array | undefined> => {
  const objects: Array<Uint8Array | undefined> = []
  const decoder = new TextDecoder()
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, at)
    if (end === -1) break
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(decoder.decode(bytes.subarray(at, end)))?.[1]
    at = end + 1
    if (size === undefined) {
      objects.push(undefined)
      continue
    }
    objects.push(bytes.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
  return objects
}

interface Parts {
  readonly input?: string
  readonly variables?: Readonly<Record<string, string>>
  /** In bytes, what is read of the answer at most, and what becomes of a longer one. */
  readonly limit?: number
  readonly beyond?: Unaffordable
  /** Sees the answer as it comes, and can end it. */
  readonly check?: (chunk: Uint8Array) => Effect.Effect<void, Unaffordable>
}

/** The parts of a list whose items end with NUL. */
const itemsOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const items: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(NUL, at)
    const item = bytes.subarray(at, end === -1 ? undefined : end)
    if (item.length > 0) items.push(item)
    at += item.length + 1
  }
  return items
}

const countOf = (bytes: Uint8Array): number => {
  let count = 0
  for (let at = bytes.indexOf(NUL); at !== -1; at = bytes.indexOf(NUL, at + 1)) count++
  return count
}

export const makeGit = (
  fs: FileSystem.FileSystem,
  paths: Path.Path,
  spawner: ChildProcessSpawner["Service"],
  environment: Environment
): Git => {
  const inherited = Object.fromEntries(
    Object.entries(childEnvironment(environment, [])).filter(([name]) => !name.startsWith("GIT_"))
  )
  const quiet = { ...inherited, LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", GIT_NO_LAZY_FETCH: "1" }

  const run = Effect.fnUntraced(
    function* (
      folder: string,
      options: ReadonlyArray<string>,
      [subcommand, ...args]: readonly [string, ...ReadonlyArray<string>],
      { beyond, check = () => Effect.void, input = "", limit = ANSWER_LIMIT, variables = {} }: Parts = {}
    ) {
      // By its absolute path: it runs in folders of the user, whose own `git` an entry such as `.` of PATH would find.
      const git = yield* findExecutable(fs, paths, environment, "git")
      if (git === undefined) return yield* new Unaffordable({ message: "git was not found in PATH" })
      const handle = yield* spawn(
        spawner,
        ChildProcess.make(git, [...CAREFUL, ...options, subcommand, ...args], {
          cwd: folder,
          env: { ...quiet, ...variables },
          stdin: input === "" ? "ignore" : Stream.encodeText(Stream.succeed(input)),
          stderr: "ignore",
          forceKillAfter: "500 millis"
        })
      )
      const chunks: Array<Uint8Array> = []
      let length = 0
      yield* Stream.runForEach(handle.stdout, (chunk) => {
        length += chunk.length
        chunks.push(chunk)
        return length > limit
          ? Effect.fail(beyond ?? new Unaffordable({ message: `git ${subcommand} gave more than ${limit} bytes` }))
          : check(chunk)
      })
      const code = yield* handle.exitCode
      if (code !== 0) return yield* new Unaffordable({ message: `git ${subcommand} ended with code ${code}` })
      return new Uint8Array(Buffer.concat(chunks))
    },
    Effect.scoped,
    Effect.catchTag("PlatformError", (error: PlatformError) =>
      Effect.fail(new Unaffordable({ message: `git could not be used: ${systemText(error)}` }))
    )
  )

  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

  const variablesOf = ({ folder, repositories }: ObjectStore) => {
    // Git separates these paths by colons, and would read a quote as the beginning of a quoted one.
    const known = repositories.map(({ objects }) => objects).filter((path) => !/[:"]/.test(path))
    return {
      GIT_DIR: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: known.join(":"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null"
    }
  }

  /** What makes a folder a repository for git, and no more. */
  const prepare = ({ folder, repositories }: ObjectStore) =>
    Effect.gen(function* () {
      if (yield* fs.exists(paths.join(folder, "HEAD"))) return
      const format = repositories[0]?.format ?? "sha1"
      yield* fs.makeDirectory(paths.join(folder, "objects"), { recursive: true, mode: 0o700 })
      yield* fs.makeDirectory(paths.join(folder, "refs"), { recursive: true, mode: 0o700 })
      yield* fs.writeFileString(
        paths.join(folder, "config"),
        `[core]\nrepositoryformatversion = 1\nbare = true\n[extensions]\nobjectformat = ${format}\n`
      )
      yield* fs.writeFileString(paths.join(folder, "HEAD"), "ref: refs/heads/none\n")
    }).pipe(Effect.mapError((error) => new Unaffordable({ message: systemText(error) })))

  return {
    repositoryOf: (folder) =>
      run(
        folder,
        [],
        [
          "rev-parse",
          "--path-format=absolute",
          "--show-object-format",
          "--is-inside-work-tree",
          "--git-path",
          "objects"
        ]
      ).pipe(
        Effect.map((bytes) => {
          const [format = "", inside, ...objects] = text(bytes).replace(/\n$/, "").split("\n")
          return inside === "true" ? { format, objects: objects.join("\n") } : undefined
        }),
        Effect.orElseSucceed(() => undefined)
      ),
    files: Effect.fnUntraced(function* (folder, most) {
      let count = 0
      const bytes = yield* run(
        folder,
        [],
        ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
        {
          beyond: tooLarge(`${ANSWER_LIMIT / 1024 / 1024} MB of names of files`),
          check: (chunk) => {
            count += countOf(chunk)
            return count > most ? Effect.fail(tooLarge(`${most} files`)) : Effect.void
          }
        }
      )
      const names: Array<string> = []
      const odd: Array<Uint8Array> = []
      for (const item of itemsOf(bytes)) {
        const name = decodeName(item)
        if (name === undefined) odd.push(item)
        else names.push(name)
      }
      return { names, odd }
    }),
    keep: Effect.fnUntraced(function* (store, files) {
      if (files.length === 0) return []
      yield* prepare(store)
      const bytes = yield* run(store.folder, FAST, ["hash-object", "-w", "--no-filters", "--stdin-paths"], {
        input: files.map((path) => `${gitQuote(path)}\n`).join(""),
        variables: variablesOf(store)
      })
      return text(bytes).trimEnd().split("\n")
    }),
    read: Effect.fnUntraced(function* (store, names) {
      if (names.length === 0) return []
      const bytes = yield* run(store.folder, [], ["cat-file", "--batch"], {
        limit: BYTES_LIMIT,
        input: names.map((name) => `${name}\n`).join(""),
        variables: variablesOf(store)
      })
      return parseObjects(bytes)
    })
  }
}
