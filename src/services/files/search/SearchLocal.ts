/** Search with ripgrep where there is one, else by the same rules without it. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Schema from "effect/Schema"
import { childEnvironment, type Environment } from "../../../domain/ChildEnvironment.ts"
import { findExecutable } from "../../sandbox/Executable.ts"
import { makeRipgrep } from "./Ripgrep.ts"
import { type Search, SearchFailed } from "./Search.ts"
import { makeWalkingSearch } from "./WalkingSearch.ts"

const PATIENCE = Duration.seconds(20)
const PROBE_PATIENCE = Duration.seconds(3)

const BundledRipgrep = Schema.Struct({ rgPath: Schema.String })

/** The binary of an optional package, which may not be installed. */
const bundledRipgrep = Effect.gen(function* () {
  const name: string = "@vscode/ripgrep"
  const module = yield* Effect.tryPromise(() => import(name))
  return (yield* Schema.decodeUnknownEffect(BundledRipgrep)(module)).rgPath
}).pipe(Effect.orElseSucceed(() => undefined))

const inTime = <A>(effect: Effect.Effect<A, SearchFailed>): Effect.Effect<A, SearchFailed> =>
  Effect.timeoutOrElse(effect, {
    duration: PATIENCE,
    orElse: () =>
      Effect.fail(
        new SearchFailed({
          message: `The search took longer than ${Duration.toSeconds(PATIENCE)} s: narrow path or glob`
        })
      )
  })

/** Whether a program runs and says that it is ripgrep. */
const isRipgrep = (spawner: ChildProcessSpawner["Service"], program: string, environment: Record<string, string>) =>
  spawner.string(ChildProcess.make(program, ["--version"], { env: environment, stdin: "ignore" })).pipe(
    Effect.timeout(PROBE_PATIENCE),
    Effect.map((said) => said.startsWith("ripgrep ")),
    Effect.orElseSucceed(() => false)
  )

/** Looks for ripgrep at the first search. `environment` says where programs are. */
export const makeSearch = Effect.fnUntraced(function* (environment: Environment) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const spawner = yield* ChildProcessSpawner
  const isInRepository = Effect.fnUntraced(function* (path: string) {
    for (let folder = path; ; folder = paths.dirname(folder)) {
      if (yield* Effect.orElseSucceed(fs.exists(paths.join(folder, ".git")), () => false)) return true
      if (folder === paths.dirname(folder)) return false
    }
  })
  const chosen = yield* Effect.cached(
    Effect.gen(function* () {
      const child = childEnvironment(environment, [])
      for (const find of [findExecutable(fs, paths, environment, "rg"), bundledRipgrep]) {
        const program = yield* find
        if (program !== undefined && (yield* isRipgrep(spawner, program, child))) {
          return makeRipgrep(spawner, paths, program, child, isInRepository)
        }
      }
      return makeWalkingSearch(fs, paths)
    })
  )
  return {
    grep: (query) => inTime(Effect.flatMap(chosen, (search) => search.grep(query))),
    files: (scope, matches, limit) => inTime(Effect.flatMap(chosen, (search) => search.files(scope, matches, limit)))
  } satisfies Search
})
