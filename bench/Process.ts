/** A program under measure: how it is started and ended, and what it takes of the machine. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"

/** Milliseconds of the machine's monotonic clock, which is the same in every process. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

/** No answer may take longer. */
const PATIENCE = 60_000

export const within = async <A>(work: Promise<A>, what: string, limit = PATIENCE): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limit} ms`)), limit)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

export interface Command {
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const start = ({ args, cwd, env }: Command) =>
  spawn(process.execPath, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] })

const alive = new Set<ReturnType<typeof start>>()
process.on("exit", () => alive.forEach((child) => child.kill("SIGKILL")))

export class Process {
  readonly startedAt = now()
  readonly stdin
  readonly stdout
  readonly gone: Promise<void>
  readonly #child
  #complaints = ""

  constructor(command: Command) {
    const child = start(command)
    alive.add(child)
    this.#child = child
    this.stdin = child.stdin.on("error", () => {})
    this.stdout = child.stdout
    this.gone = once(child, "exit").then(() => void alive.delete(child))
    child.stderr.on("data", (text: Buffer) => (this.#complaints += text.toString()))
  }

  /** What it said on stderr. */
  complaints(): string {
    return this.#complaints
  }

  /** Waits until the pattern finds something on stderr. */
  async said(pattern: RegExp): Promise<string> {
    const found = new Promise<string>((resolve, reject) => {
      const look = () => {
        const [, match] = pattern.exec(this.#complaints) ?? []
        if (match === undefined) return
        this.#child.stderr.off("data", look)
        resolve(match)
      }
      this.#child.stderr.on("data", look)
      void this.gone.then(() => reject(new Error(`the program ended: ${this.#complaints}`)))
      look()
    })
    return within(found, `${pattern} on stderr`)
  }

  #status(field: string): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8")
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
  }

  /** MiB of memory at its peak. */
  peakMemory(): number {
    return this.#status("VmHWM")
  }

  /** MiB of memory now. */
  memory(): number {
    return this.#status("VmRSS")
  }

  /** Milliseconds of processor time that all its threads have used. */
  processorTime(): number {
    const folder = `/proc/${this.#child.pid}/task`
    const used = readdirSync(folder).map((task) => readFileSync(`${folder}/${task}/schedstat`, "utf8").split(" ")[0])
    return used.reduce((sum, nanos) => sum + Number(nanos) / 1e6, 0)
  }

  /** Ends its input and, if it goes on without one, tells it to end. Gives the milliseconds until it is gone. */
  async end(signal?: NodeJS.Signals): Promise<number> {
    const endedAt = now()
    this.stdin.end()
    if (signal !== undefined) this.#child.kill(signal)
    try {
      await within(this.gone, "the end of the process", 5_000)
    } finally {
      this.#child.kill("SIGKILL")
    }
    return now() - endedAt
  }
}
