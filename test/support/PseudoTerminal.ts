/** The built program at a pseudo-terminal, as a person has it, with somebody who types. */
import * as Effect from "effect/Effect"
import { spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { bin, folder, node } from "./Program.ts"

/** What is typed as soon as the text was shown; a control character such as `\u0003` is that key. */
export type Typing = readonly [shown: string, typed: string]

export interface TerminalOptions {
  readonly typing?: ReadonlyArray<Typing>
  readonly columns?: number
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Another program than the built one, by its absolute path. */
  readonly command?: string
  /** Standard output goes to a file and not to the terminal. */
  readonly redirected?: boolean
}

export interface Seen {
  readonly end: number
  /** What the terminal showed, its own line ends left out. */
  readonly screen: string
  /** What went to the file. */
  readonly stdout: string
}

/** Starts the command on a terminal, types, and prints what was shown and the exit code. It is killed when it takes too long. */
const script = `
import fcntl, json, os, pty, select, signal, struct, sys, termios, time
spec = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    time.sleep(0.05)
    if spec["output"]:
        os.dup2(os.open(spec["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.chdir(spec["cwd"])
    os.execve(spec["command"][0], spec["command"], spec["env"])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, spec["columns"], 0, 0))
shown, from_here, typing, deadline = "", 0, spec["typing"], time.time() + 30
while True:
    if time.time() > deadline:
        os.kill(pid, signal.SIGKILL)
    ready, _, _ = select.select([terminal], [], [], 1)
    if not ready:
        continue
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    shown += piece.decode("utf-8", "replace")
    while typing and typing[0][0] in shown[from_here:]:
        from_here = shown.index(typing[0][0], from_here) + len(typing[0][0])
        os.write(terminal, typing.pop(0)[1].encode())
_, status = os.waitpid(pid, 0)
print(json.dumps({"end": os.waitstatus_to_exitcode(status), "screen": shown.replace("\\r\\n", "\\n")}))
`

export const hasPython = spawnSync("python3", ["-c", "import pty"]).status === 0

export const inTerminal = Effect.fnUntraced(function* (args: ReadonlyArray<string>, options: TerminalOptions = {}) {
  const home = yield* folder
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const output = options.redirected === true ? join(home, "stdout") : ""
  const spec = {
    command: options.command === undefined ? [node, bin, ...args] : [options.command, ...args],
    typing: options.typing ?? [],
    columns: options.columns ?? 80,
    cwd: options.cwd ?? home,
    env: { ...inherited, HOME: home, SUPERCHARGE_HOME: join(home, ".supercharge"), TERM: "xterm", ...options.env },
    output
  }
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn("python3", ["-c", script, JSON.stringify(spec)], { stdio: ["ignore", "pipe", "pipe"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const said = yield* Effect.callback<string>((resume) => {
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text))
    child.on("close", () => resume(Effect.succeed(stdout === "" ? stderr : stdout)))
  })
  const seen: Omit<Seen, "stdout"> = JSON.parse(said)
  return { ...seen, stdout: output === "" ? "" : readFileSync(output, "utf8") } satisfies Seen
}, Effect.scoped)
