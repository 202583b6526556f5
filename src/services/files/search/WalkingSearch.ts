/** Search without ripgrep: the same files in the same order, line by line with JavaScript's regular expressions. Slower. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { fileGlob } from "../../../domain/files/FileGlob.ts"
import { searchExpression } from "../../../domain/text/SearchExpression.ts"
import { makeIgnoreRules } from "../IgnoreRules.ts"
import { makeLineMatcher } from "./LineMatcher.ts"
import {
  type Found,
  type GrepQuery,
  type Match,
  type Search,
  SearchFailed,
  type SearchScope,
  shorten
} from "./Search.ts"

/** In bytes. */
const CHUNK = 256 * 1024

/** Characters of a line that the expression sees. */
const LINE_LIMIT = 1024 * 1024

const compile = ({ ignoreCase, pattern }: GrepQuery): Result.Result<RegExp, SearchFailed> =>
  Result.try({
    try: () => {
      const { flags, source } = searchExpression(pattern, ignoreCase)
      return new RegExp(source, flags)
    },
    catch: (error) => new SearchFailed({ message: `regex parse error: ${String(error)}` })
  })

const take = Effect.fnUntraced(function* <A, E>(stream: Stream.Stream<A, E>, limit: number) {
  const items = yield* Stream.runCollect(Stream.take(stream, limit + 1))
  return { items: items.slice(0, limit), more: items.length > limit } satisfies Found<A>
})

/** Names in the order of their bytes, which is that of ripgrep. */
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

type Decoder = ReturnType<typeof decoderFor>

interface Reading {
  readonly decoder: Decoder | undefined
  /** A line that has not ended yet. */
  readonly open: string
}

const wide: Readonly<Record<string, string>> = { fffe: "utf-16le", feff: "utf-16be" }

/** By the mark at the beginning. Bytes that are no UTF-8 become replacement characters, as they do in ripgrep. */
const decoderFor = (bytes: Uint8Array) =>
  new TextDecoder(wide[Buffer.from(bytes.subarray(0, 2)).toString("hex")] ?? "utf-8")

const NOT_TEXT = "\0"

/** Lines of a file in batches; `NOT_TEXT` alone where the file is found to be binary. */
const linesFrom = (state: Reading, bytes: Uint8Array): readonly [Reading, ReadonlyArray<ReadonlyArray<string>>] => {
  const decoder = state.decoder ?? decoderFor(bytes)
  const text = decoder.decode(bytes, { stream: true })
  if (text.includes("\0")) return [{ decoder, open: "" }, [[NOT_TEXT]]]
  const parts = (state.open + text).split("\n")
  const open = (parts.pop() ?? "").slice(0, LINE_LIMIT)
  return [{ decoder, open }, [parts]]
}

export const makeWalkingSearch = (fs: FileSystem.FileSystem, paths: Path.Path): Search => {
  const walk = (
    folder: string,
    wanted: (path: string, isFolder: boolean) => Effect.Effect<boolean>
  ): Stream.Stream<string> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const entries = yield* Effect.orElseSucceed(fs.readDirectoryEntries(folder), () => [])
        const sorted = entries.toSorted((one, other) => byBytes(one.name, other.name))
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

  const linesIn = (path: string) =>
    fs.stream(path, { chunkSize: CHUNK }).pipe(
      Stream.mapAccum((): Reading => ({ decoder: undefined, open: "" }), linesFrom, {
        onHalt: ({ decoder, open }) => {
          const last = open + (decoder?.decode() ?? "")
          return last === "" ? [] : [[last]]
        }
      })
    )

  const makeFinder = (expression: RegExp, limit: number) => {
    const matching = makeLineMatcher(expression)
    return (path: string): Effect.Effect<ReadonlyArray<Match>, SearchFailed> =>
      linesIn(path).pipe(
        Stream.orElseSucceed(() => []),
        Stream.mapAccumEffect(
          () => ({ passed: 0, found: new Array<Match>(), isText: true }),
          ({ found, isText, passed }, batch) =>
            Effect.gen(function* () {
              const isStill = isText && batch[0] !== NOT_TEXT
              const lines = isStill ? batch.map((line) => line.replace(/\r+$/, "")) : []
              const indexes = yield* matching(lines)
              const fresh = indexes.map((index): Match => ({
                path,
                line: passed + index + 1,
                text: shorten(lines[index] ?? "")
              }))
              const next = { passed: passed + lines.length, found: [...found, ...fresh], isText: isStill }
              return [next, [next]] as const
            })
        ),
        Stream.takeUntil(({ found, isText }) => !isText || found.length > limit),
        Stream.runLast,
        Effect.map((last) => (Option.isSome(last) && last.value.isText ? last.value.found : []))
      )
  }

  return {
    grep: Effect.fnUntraced(function* (query) {
      const find = makeFinder(yield* Effect.fromResult(compile(query)), query.limit)
      const wanted = query.glob === undefined ? () => true : fileGlob(query.glob)
      const matches = filesUnder(query).pipe(
        Stream.filter((path) => {
          const relative = paths.relative(query.root, path)
          return (path === query.root || wanted(relative)) && query.shows(relative)
        }),
        Stream.mapEffect(find),
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
