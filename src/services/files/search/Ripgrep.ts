/** Search through the `rg` program: started with a list of arguments, never through a shell, and ended at the limit. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { fileGlob, nameGlob } from "../../../domain/files/FileGlob.ts"
import { spawn } from "../../sandbox/Spawn.ts"
import {
  type Found,
  type GrepQuery,
  LINE_WIDTH,
  type Match,
  type Search,
  SearchFailed,
  type SearchScope,
  shorten
} from "./Search.ts"
import { systemText } from "../SystemText.ts"
import { whole } from "../../../domain/text/Clip.ts"

const KILL_AFTER = Duration.millis(500)

/** Matches of one file that wait for its end; of a file with more the first ones are given at once. */
const OPEN_LIMIT = 500

/** Characters of an error text that are kept. */
const ERROR_LIMIT = 2_000

/**
 * Columns that are asked for: a line of so many bytes has at least as many characters as are shown, so that the rest can
 * be cut off here, in the same way for all lines.
 */
const COLUMNS = LINE_WIDTH * 4

/**
 * The settings of the user must not change what an answer looks like. Outside of a repository `.gitignore` counts, too;
 * inside of one it ends there.
 */
const scopeArguments = ({ includeIgnored }: SearchScope, inRepository: boolean): ReadonlyArray<string> => [
  "--no-config",
  "--no-messages",
  "--color=never",
  "--hidden",
  "--no-ignore-global",
  ...(inRepository ? [] : ["--no-require-git"]),
  "--glob=!.git",
  "--sort=path",
  ...(includeIgnored ? ["--no-ignore"] : [])
]

// rg's own globs would bring back ignored files. A type does not, but knows names only: the rest is filtered here.
const nameArguments = ({ glob }: GrepQuery): ReadonlyArray<string> => {
  const name = glob === undefined ? undefined : nameGlob(glob)
  return name === undefined ? [] : [`--type-add=wanted:${name}`, "--type=wanted"]
}

const grepArguments = (query: GrepQuery, inRepository: boolean): ReadonlyArray<string> => [
  ...scopeArguments(query, inRepository),
  "--null",
  "--no-heading",
  "--with-filename",
  "--line-number",
  "--crlf",
  `--max-columns=${COLUMNS}`,
  "--max-columns-preview",
  ...(query.ignoreCase ? ["--ignore-case"] : []),
  ...nameArguments(query),
  `--regexp=${query.pattern}`,
  "--",
  query.root
]

const parseMatch = (line: string): Match | undefined => {
  const match = /^([^\0]*)\0(\d+):(.*)$/s.exec(line)
  return match === null
    ? undefined
    : { path: match[1] ?? "", line: Number(match[2]), text: shorten((match[3] ?? "").replace(/\r+$/, "")) }
}

/** What is said of a file that turns out to be no text: what was found in it so far does not count. */
const takesBack = /(?:WARNING: stopped searching binary file after match|: binary file matches) \(found /

/** Matches of one file, until it is known that it is text. */
const byFile = (
  open: ReadonlyArray<Match>,
  line: string
): readonly [open: ReadonlyArray<Match>, done: ReadonlyArray<Match>] => {
  const match = parseMatch(line)
  if (match === undefined) return takesBack.test(line) ? [[], []] : [open, []]
  const isSame = open[0]?.path === match.path && open.length < OPEN_LIMIT
  return isSame ? [[...open, match], []] : [[match], open]
}

/** Parts that end with the separator. `Stream.splitLines` would also split at `\r`, which a line may hold. */
const splitAt = <E>(bytes: Stream.Stream<Uint8Array, E>, separator: string): Stream.Stream<string, E> =>
  Stream.mapAccum(
    Stream.decodeText(bytes),
    () => "",
    (open, piece) => {
      const parts = (open + piece).split(separator)
      return [parts.at(-1) ?? "", parts.slice(0, -1)]
    }
  )

const firstPart = (stream: Stream.Stream<string, unknown>): Effect.Effect<string> =>
  stream.pipe(
    Stream.runFold(
      () => "",
      (kept, piece) => (kept + piece).slice(0, ERROR_LIMIT)
    ),
    Effect.map(whole),
    Effect.orElseSucceed(() => "")
  )

const explain = (text: string): string =>
  text.includes("E2BIG")
    ? '"pattern" or "glob" is too long to be searched for: write a shorter one'
    : `The search could not run: ${text}`

export const makeRipgrep = (
  spawner: ChildProcessSpawner["Service"],
  paths: Path.Path,
  program: string,
  environment: Readonly<Record<string, string>>,
  isInRepository: (path: string) => Effect.Effect<boolean>
): Search => {
  const run = Effect.fnUntraced(
    function* <A>(
      args: ReadonlyArray<string>,
      separator: string,
      parse: (parts: Stream.Stream<string, PlatformError>) => Stream.Stream<A, PlatformError>,
      limit: number
    ): Effect.fn.Return<Found<A>, SearchFailed | PlatformError, Scope.Scope> {
      const handle = yield* spawn(
        spawner,
        ChildProcess.make(program, args, { env: environment, stdin: "ignore", forceKillAfter: KILL_AFTER })
      )
      const complaint = yield* Effect.forkScoped(firstPart(Stream.decodeText(handle.stderr)))
      const items = yield* parse(splitAt(handle.stdout, separator)).pipe(
        // One more than is wanted, to know whether there is more.
        Stream.take(limit + 1),
        Stream.runCollect
      )
      if (items.length > limit) return { items: items.slice(0, limit), more: true }
      const code = yield* handle.exitCode
      const text = (yield* Fiber.join(complaint)).trim()
      // Code 2 without a word is a file that could not be read: the rest of the answer holds.
      if (code > 1 && items.length === 0 && text !== "") return yield* new SearchFailed({ message: text })
      return { items, more: false }
    },
    Effect.scoped,
    Effect.catchTag("PlatformError", (error) => Effect.fail(new SearchFailed({ message: explain(systemText(error)) })))
  )

  return {
    grep: Effect.fnUntraced(function* (query) {
      const wanted = query.glob === undefined ? () => true : fileGlob(query.glob)
      const isWanted = ({ path }: Match) => {
        const relative = paths.relative(query.root, path)
        return (path === query.root || wanted(relative)) && query.shows(relative)
      }
      return yield* run(
        grepArguments(query, yield* isInRepository(query.root)),
        "\n",
        (lines) =>
          lines.pipe(
            Stream.mapAccum((): ReadonlyArray<Match> => [], byFile, { onHalt: (open) => open }),
            Stream.filter(isWanted)
          ),
        query.limit
      )
    }),
    files: Effect.fnUntraced(function* (scope, matches, limit) {
      return yield* run(
        [...scopeArguments(scope, yield* isInRepository(scope.root)), "--files", "--null", "--", scope.root],
        "\0",
        (names) => Stream.filter(names, (path) => matches(paths.relative(scope.root, path))),
        limit
      )
    })
  }
}
