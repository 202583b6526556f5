/** `/diff`: what a session changed in files, for a person. */
import { showPath } from "../../domain/files/Paths.ts"
import { fenced } from "../../domain/text/Fence.ts"
import type { DiffResult } from "../Changes.ts"

export const describeDiff = ({ diff, files, truncated }: DiffResult, cwd: string): string =>
  files.length === 0
    ? "This session changed no file."
    : [
        ...files.map(
          ({ added, path, removed, status }) => `- ${status} ${showPath(cwd, path)} (+${added} −${removed})`
        ),
        ...(diff === "" ? [] : ["", fenced(diff, "diff")]),
        ...(truncated ? ["", "Some of it is left out for its size."] : [])
      ].join("\n")
