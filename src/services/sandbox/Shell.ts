/** How a line is given to a shell so that its output, its end and its last words come through. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import type { ChildProcessHandle } from "effect/process/ChildProcessSpawner"
import * as Stream from "effect/Stream"
import { systemText } from "../files/SystemText.ts"
import type { CommandResult } from "../SandboxRunner.ts"
import type { Cage } from "./ProcessCage.ts"
import type { Invocation } from "./Mechanism.ts"

/**
 * The pipe by which the outer shell tells how the command ended, even while something still holds the output. Before the
 * command it writes an empty line, which fails if the agent was killed before the command was tied to its life.
 */
export const EXIT_PIPE = 3

// Node's pipes are sockets, which /dev/stderr cannot open. A cat between gives the command real pipes, and one pipe for
// both streams keeps their order. It outlives TERM, so that the last words of a dying command still come through, and
// the outer shell outlives both, so that no zombie is left where nobody reaps orphans.
const bashWrapper = `trap : TERM INT HUP
exec 2>/dev/null
echo >&3 || exit
ulimit -u "$2"
exec 4> >(trap "" TERM INT HUP; exec cat 3>&-)
"$BASH" -c "$1" >&4 2>&1 3>&- 4>&-
code=$?
echo $code >&3
exec 3>&- 4>&-
wait $!
exit $code`
const shWrapper = `echo >&3 || exit; exec /bin/sh -c "$1" 3>&- 2>&1`

/**
 * `bash` is its path, undefined where there is none. `processes` is a limit that the system holds where each sandbox counts
 * its own; elsewhere it would count what else the person runs.
 */
export const invocationOf = (bash: string | undefined, command: string, processes: number | "unlimited"): Invocation =>
  bash === undefined
    ? ["/bin/sh", "-c", shWrapper, "/bin/sh", command]
    : [bash, "-c", bashWrapper, bash, command, String(processes)]

// A group that cannot be entered is no reason not to run: the limit is watched all the same.
const ENTER = 'echo $$ 2>/dev/null >"$0"; exec "$@"'

/** The invocation in a group of processes. */
export const caged = (cage: Cage | undefined, invocation: Invocation): Invocation =>
  cage === undefined ? invocation : ["/bin/sh", "-c", ENTER, cage.entrance, ...invocation]

/** How a shell spells death by a signal. 129 is left out: git means something else by it. */
const signals: ReadonlyMap<number, string> = new Map([
  [130, "SIGINT"],
  [131, "SIGQUIT"],
  [132, "SIGILL"],
  [134, "SIGABRT"],
  [135, "SIGBUS"],
  [136, "SIGFPE"],
  [137, "SIGKILL"],
  [139, "SIGSEGV"],
  [141, "SIGPIPE"],
  [143, "SIGTERM"]
])

type CommandExit = CommandResult["exit"]

export const killed: CommandExit = { _tag: "Signal", signal: "SIGKILL" }

const signalIn = (error: PlatformError): string | undefined => /'(SIG[A-Z0-9]+)'/.exec(systemText(error))?.[1]

const exitFrom = (code: number): CommandExit => {
  const signal = signals.get(code)
  return signal === undefined ? { _tag: "Code", code } : { _tag: "Signal", signal }
}

/** What the outer shell told, or else how it ended itself. */
export const exitOf = (handle: ChildProcessHandle): Effect.Effect<CommandExit> =>
  handle.getOutputFd(EXIT_PIPE).pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.filter((line) => line !== ""),
    Stream.runHead,
    Effect.flatMap(Option.match({ onNone: () => handle.exitCode, onSome: (line) => Effect.succeed(Number(line)) })),
    Effect.map(exitFrom),
    Effect.catch((error) => Effect.succeed<CommandExit>({ _tag: "Signal", signal: signalIn(error) ?? "SIGKILL" }))
  )
