/** Starts the leader: this program once more, apart from the terminal and the editor that this one belongs to. */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { closeSync, openSync, readFileSync, renameSync, statSync } from "node:fs"
import { parse } from "node:path"
import { LeaderFailed } from "./LeaderFailed.ts"
import { codeOf, type Place } from "./Place.ts"
import { clip } from "../../domain/text/Clip.ts"

/** Bytes of log; a longer one is put aside, in the place of the one before it. */
const longestLog = 1024 * 1024

/** A leader on its way. */
export interface Launched {
  /** What it ended with, when it ended: 0 means that another one serves. */
  readonly ended: () => number | undefined
}

const openLog = (log: string): number => {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size > longestLog) renameSync(log, `${log}.old`)
  return openSync(log, "a", 0o600)
}

/** The last that it said before it ended. */
export const lastWords = ({ log }: Place): Effect.Effect<string> =>
  Effect.try(() => readFileSync(log, "utf8").trimEnd().split("\n").at(-1) ?? "").pipe(
    Effect.orElseSucceed(() => ""),
    Effect.map((line) => (line === "" ? `see ${log}` : `${clip(line, 500)} (from ${log})`))
  )

/** `args` are those of the command line. The leader has the environment of this process, and none of its folders. */
export const launch = (place: Place, args: ReadonlyArray<string>): Effect.Effect<Launched, LeaderFailed> =>
  Effect.try({
    try: () => {
      const log = openLog(place.log)
      const program = process.argv[1] ?? ""
      const child = spawn(process.execPath, [...process.execArgv, program, ...args], {
        cwd: parse(place.socket).root,
        detached: true,
        stdio: ["ignore", "ignore", log],
        windowsHide: true
      })
      closeSync(log)
      let code: number | undefined
      child.once("error", () => (code = -1))
      child.once("exit", (status) => (code = status ?? -1))
      child.unref()
      return { ended: () => code }
    },
    catch: (error) =>
      new LeaderFailed({
        message: `The leader cannot be started (${codeOf(error)}): see whether ${place.log} can be written`
      })
  })
