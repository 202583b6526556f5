/** The file of `--agent-profile`, looked at before anything is served. Loaded with the flag. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { makeAgentFiles } from "../../services/agents/AgentFiles.ts"

/** Sessions would begin without what they were to be, and stderr says why. */
export class ProfileUnusable extends Schema.TaggedError<ProfileUnusable>()("ProfileUnusable", {}) {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
}

/** Its absolute path. */
export const checkProfile = Effect.fnUntraced(function* (
  given: string
): Effect.fn.Return<string, ProfileUnusable, FileSystem.FileSystem | Path.Path> {
  const paths = yield* Path.Path
  const path = paths.resolve(given)
  const { reading } = yield* makeAgentFiles(yield* FileSystem.FileSystem, paths).read(path)
  if (Result.isFailure(reading)) {
    yield* Console.error(`error: --agent-profile: ${reading.failure}`)
    return yield* new ProfileUnusable()
  }
  for (const problem of reading.success.problems) yield* Console.error(`warning: --agent-profile: ${problem}`)
  return path
})
