/**
 * The bytes of files as a snapshot knows them. Where there is a repository its objects are not copied: most files of a
 * work tree are among them.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import { typeOf } from "../../domain/session/Changes.ts"
import { systemText } from "../files/SystemText.ts"
import { type Blobs, FILE_LIMIT } from "./Blobs.ts"
import type { Git, ObjectStore, Repository } from "./Git.ts"
import { readTarget } from "./LinkTarget.ts"
import type { Stat } from "./Stat.ts"
import { Unaffordable } from "./Unaffordable.ts"

/** `git:` and the name of an object, or `blob:` and a hash. Undefined: it is too large, or could not be read. */
export type ContentId = string | undefined

/** In bytes: what is read for one snapshot. */
const GIT_LIMIT = 512 * 1024 * 1024
const COPY_LIMIT = 64 * 1024 * 1024

/** In bytes: what is held at once. */
const AT_ONCE = 32 * 1024 * 1024

export interface Contents {
  /** Keeps what files hold. */
  readonly keep: (
    scratch: string,
    files: ReadonlyMap<string, Stat>,
    repositories: ReadonlyArray<Repository>
  ) => Effect.Effect<ReadonlyMap<string, ContentId>, Unaffordable>
  /** Makes versions of the session of what is kept, and gives their hashes. What is gone has none. */
  readonly store: (
    scratch: string,
    sizes: ReadonlyMap<string, number>,
    repositories: ReadonlyArray<Repository>
  ) => Effect.Effect<ReadonlyMap<string, string>, Unaffordable>
}

/** Parts of a list that hold about so many bytes. */
const portions = (sizes: Iterable<readonly [id: string, size: number]>): ReadonlyArray<ReadonlyArray<string>> => {
  const parts: Array<Array<string>> = []
  let filled = 0
  for (const [id, size] of sizes) {
    if (parts.length === 0 || filled + size > AT_ONCE) {
      parts.push([])
      filled = 0
    }
    filled += size
    parts.at(-1)?.push(id)
  }
  return parts
}

export const makeContents = (fs: FileSystem.FileSystem, paths: Path.Path, blobs: Blobs, git: Git): Contents => {
  const storeOf = (scratch: string, repositories: ReadonlyArray<Repository>) => {
    const format = repositories[0]?.format ?? "sha1"
    return {
      folder: paths.join(blobs.folder(scratch), `git-${format}`),
      repositories: repositories.filter((repository) => repository.format === format)
    }
  }

  const keepBlob = (scratch: string, bytes: Uint8Array) =>
    Effect.map(
      Effect.mapError(blobs.keep(scratch, bytes), (error) => new Unaffordable({ message: systemText(error) })),
      (hash) => `blob:${hash}`
    )

  const copy = Effect.fnUntraced(function* (scratch: string, path: string, stat: Stat) {
    const read = typeOf(stat) === "link" ? readTarget(path) : fs.readFile(path)
    const bytes = yield* Effect.option(read)
    return Option.isNone(bytes) ? undefined : yield* keepBlob(scratch, bytes.value)
  })

  /** Git gives up at the first file that it cannot read, such as one that went meanwhile. */
  const keepInGit = Effect.fnUntraced(function* (objects: ObjectStore, files: ReadonlyArray<string>) {
    const keepAll = (all: ReadonlyArray<string>) =>
      Effect.map(git.keep(objects, all), (names) => all.map((path, index) => [path, names[index]] as const))
    return yield* Effect.catch(keepAll(files), (problem) =>
      Effect.filter(files, (path) => Effect.isSuccess(fs.access(path, { readable: true })), { concurrency: 16 }).pipe(
        Effect.flatMap((readable) => (readable.length === files.length ? Effect.fail(problem) : keepAll(readable)))
      )
    )
  })

  const keep: Contents["keep"] = Effect.fnUntraced(function* (scratch, files, repositories) {
    const ids = new Map<string, ContentId>()
    const inGit: Array<string> = []
    const limit = repositories.length === 0 ? COPY_LIMIT : GIT_LIMIT
    let total = 0
    for (const [path, stat] of files) {
      const type = typeOf(stat)
      // Whoever opens a pipe waits for its other end, and has a thread of few wait with it.
      if (type === "other" || (type === "file" && stat.size > FILE_LIMIT)) continue
      total += stat.size
      if (total > limit) {
        const what = repositories.length === 0 ? "and is in no git repository" : "of files that git does not know yet"
        return yield* new Unaffordable({ message: `it holds more than ${limit / 1024 / 1024} MB ${what}` })
      }
      if (repositories.length > 0 && type === "file") inGit.push(path)
      else ids.set(path, yield* copy(scratch, path, stat))
    }
    for (const [path, name] of yield* keepInGit(storeOf(scratch, repositories), inGit)) ids.set(path, `git:${name}`)
    return ids
  })

  const store: Contents["store"] = Effect.fnUntraced(function* (scratch, sizes, repositories) {
    const hashes = new Map<string, string>()
    const inGit: Array<readonly [string, number]> = []
    for (const [id, size] of sizes) {
      if (id.startsWith("git:")) inGit.push([id, size])
      else hashes.set(id, id.slice("blob:".length))
    }
    for (const part of portions(inGit)) {
      const names = part.map((id) => id.slice("git:".length))
      const objects = yield* git.read(storeOf(scratch, repositories), names)
      for (const [index, id] of part.entries()) {
        const bytes = objects[index]
        if (bytes === undefined || !(yield* blobs.hasRoom(scratch, bytes.length))) continue
        hashes.set(id, (yield* keepBlob(scratch, bytes)).slice("blob:".length))
      }
    }
    return hashes
  })

  return { keep, store }
}
