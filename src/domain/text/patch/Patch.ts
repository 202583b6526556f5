/** A patch in any form that models and people send, as a list of files. */
import * as Result from "effect/Result"
import { isEnvelope, parseEnvelope } from "./Envelope.ts"
import { type FilePatch, PatchFailed } from "./FilePatch.ts"
import { parseUnifiedDiff } from "./UnifiedDiff.ts"

/** At least one file. */
export const parsePatch = (text: string): Result.Result<ReadonlyArray<FilePatch>, PatchFailed> =>
  Result.filterOrFail(
    isEnvelope(text) ? parseEnvelope(text) : parseUnifiedDiff(text),
    (files) => files.length > 0,
    () =>
      new PatchFailed({
        message: "The patch names no file: begin each one with a line such as --- a/path and a line such as +++ b/path"
      })
  )
