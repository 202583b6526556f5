/**
 * Search without ripgrep: the same files in the same order, line by line with JavaScript's regular expressions. Slower,
 * and a line counts with its first characters only.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { fileGlob } from "../../domain/files/FileGlob.ts"
import { decode } from "../../domain/text/Encoding.ts"
import { makeIgnoreRules } from "./IgnoreRules.ts"
import { makeLineMatcher } from "./LineMatcher.ts"
import {
  type Found,
  type GrepQuery,
  LINE_WIDTH,
  type Match,
  type Search,
  SearchFailed,
  type SearchScope
} from "./Search.ts"
import { readUnsized } from "./UnsizedFile.ts"

/** In bytes: larger files are not searched. */
const FILE_LIMIT = 20 * 1024 * 1024

/** Characters of a line that the expression sees. */
const MATCH_WIDTH = 2_000

const compile = ({ ignoreCase, pattern }: GrepQuery): Result.Result<RegExp, SearchFailed> =>
  Result.try({
    try: () => new RegExp(pattern, ignoreCase ? "iu" : "u"),
    catch: (error) => new SearchFailed({ message: `regex parse error: ${String(error)}` })
  })

const shorten = (line: string): string =>
  line.length > LINE_WIDTH ? `${line.slice(0, LINE_WIDTH)} [... omitted end of long line]` : line

const linesOf = (text: string): ReadonlyArray<string> =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))

const take = Effect.fnUntraced(function* <A, E>(stream: Stream.Stream<A, E>, limit: number) {
  const items = yield* Stream.runCollect(Stream.take(stream, limit + 1))
  return { items: items.slice(0, limit), more: items.length > limit } satisfies Found<A>
})

export const makeWalkingSearch = (fs: FileSystem.FileSystem, paths: Path.Path): Search => {
  const walk = (
    folder: string,
    wanted: (path: string, isFolder: boolean) => Effect.Effect<boolean>
  ): Stream.Stream<string> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const entries = yield* Effect.orElseSucceed(fs.readDirectoryEntries(folder), () => [])
        const sorted = entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))
        return Stream.flatMap(Stream.fromIterable(sorted), (entry) => {
          const path = paths.join(folder, entry.name)
          const isFolder = entry.type === "Directory"
          if (entry.name === ".git" || (!isFolder && entry.type !== "File")) return Stream.empty
          return Stream.unwrap(
            Effect.map(wanted(path, isFolder), (yes) =>
              !yes ? Stream.empty : isFolder ? walk(path, wanted) : Stream.make(path)
            )
          )
        })
      })
    )

  /** A file that is named itself is always searched. */
  const filesUnder = ({ includeIgnored, root }: SearchScope): Stream.Stream<string> =>
    Stream.unwrap(
      Effect.map(Effect.option(fs.stat(root)), (info) => {
        if (Option.isSome(info) && info.value.type === "File") return Stream.make(root)
        const { ignores } = makeIgnoreRules(fs, paths)
        return walk(root, (path, isFolder) =>
          includeIgnored ? Effect.succeed(true) : Effect.map(ignores(path, isFolder), (ignored) => !ignored)
        )
      })
    )

  const textOf = Effect.fnUntraced(
    function* (path: string) {
      const { size } = yield* fs.stat(path)
      if (size > FILE_LIMIT) return Option.none()
      const bytes = size > 0 ? Option.some(yield* fs.readFile(path)) : yield* readUnsized(fs, path, FILE_LIMIT)
      return Option.flatMap(bytes, decode)
    },
    Effect.orElseSucceed(() => Option.none())
  )

  return {
    grep: Effect.fnUntraced(function* (query) {
      const expression = yield* Effect.fromResult(compile(query))
      const matching = makeLineMatcher(expression)
      const wanted = query.glob === undefined ? () => true : fileGlob(query.glob)

      const matchesIn = Effect.fnUntraced(function* (path: string) {
        const text = yield* textOf(path)
        if (Option.isNone(text)) return []
        const lines = linesOf(text.value.text)
        const found = yield* matching(lines.map((line) => line.slice(0, MATCH_WIDTH)))
        return found.map((index): Match => ({ path, line: index + 1, text: shorten(lines[index] ?? "") }))
      })

      const matches = filesUnder(query).pipe(
        Stream.filter((path) => {
          const relative = paths.relative(query.root, path)
          return (path === query.root || wanted(relative)) && query.shows(relative)
        }),
        Stream.mapEffect(matchesIn),
        Stream.flattenIterable
      )
      return yield* take(matches, query.limit)
    }),
    files: (scope, matches, limit) =>
      take(
        Stream.filter(filesUnder(scope), (path) => matches(paths.relative(scope.root, path))),
        limit
      )
  }
}
