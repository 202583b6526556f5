/** An editor, as far as the bench needs one: starts an agent, talks to it, and notes when each line came. */
import { type ChildProcess, spawn } from "node:child_process"
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

interface Update {
  readonly sessionUpdate: string
  readonly status?: string
  readonly content?: { readonly text?: string }
}
interface Line {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly sessionId: string; readonly path: string; readonly update: Update }
  readonly result?: Answer
  readonly error?: { readonly message: string }
}
interface Answer {
  readonly sessionId: string
  readonly stopReason: string
}
interface Answered extends Line {
  readonly at: number
}

/** A prompt as it was answered. Times are those of `now`. */
export interface Turn {
  readonly sentAt: number
  readonly endedAt: number
  readonly firstAt: number
  /** When a tool's result was told. */
  readonly toolAt: number
  readonly chunks: number
  readonly longest: number
  readonly text: string
  readonly stopReason: string
}

interface Watch {
  firstAt: number
  toolAt: number
  chunks: number
  longest: number
  texts: Array<string>
  onChunk: ((chunks: number) => void) | undefined
}

export interface Command {
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const alive = new Set<ChildProcess>()
process.on("exit", () => alive.forEach((child) => child.kill("SIGKILL")))

export class Editor {
  readonly startedAt = now()
  readonly #cwd: string
  readonly #child
  readonly #gone
  readonly #pending = new Map<number, (line: Answered) => void>()
  readonly #watches = new Map<string, Watch>()
  #asked = 0
  #rest = ""
  #complaints = ""

  constructor({ args, cwd, env }: Command) {
    this.#cwd = cwd
    this.#child = spawn(process.execPath, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] })
    alive.add(this.#child)
    this.#gone = once(this.#child, "exit").then(() => alive.delete(this.#child))
    this.#child.stdin.on("error", () => {})
    this.#child.stderr.on("data", (text: Buffer) => (this.#complaints += text.toString()))
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const at = now()
      const lines = (this.#rest + text).split("\n")
      this.#rest = lines.pop() ?? ""
      for (const line of lines) this.#take(JSON.parse(line) as Line, at)
    })
  }

  #take(line: Line, at: number): void {
    const { id, method, params } = line
    if (method === undefined) {
      const resume = this.#pending.get(id ?? -1)
      this.#pending.delete(id ?? -1)
      resume?.({ ...line, at })
    } else if (method === "session/update" && params !== undefined) {
      const watch = this.#watches.get(params.sessionId)
      if (watch !== undefined) this.#note(watch, params.update, at)
    } else if (method === "fs/read_text_file" && params !== undefined) {
      this.#send({ id, result: { content: readFileSync(params.path, "utf8") } })
    } else if (id !== undefined) {
      this.#send({ id, error: { code: -32_601, message: "Method not found" } })
    }
  }

  #note(watch: Watch, { content, sessionUpdate, status }: Update, at: number): void {
    if (status === "completed") watch.toolAt = at
    if (sessionUpdate !== "agent_message_chunk") return
    const text = content?.text ?? ""
    watch.firstAt ||= at
    watch.chunks += 1
    watch.longest = Math.max(watch.longest, text.length)
    watch.texts.push(text)
    watch.onChunk?.(watch.chunks)
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  }

  async #request(method: string, params: object): Promise<{ readonly result: Answer; readonly at: number }> {
    const id = this.#asked++
    const answered = new Promise<Answered>((resolve) => this.#pending.set(id, resolve))
    this.#send({ id, method, params })
    const line = await within(Promise.race([answered, this.#gone]), method)
    if (typeof line === "boolean") throw new Error(`the agent ended: ${this.#complaints}`)
    if (line.result === undefined) throw new Error(`${method}: ${line.error?.message}`)
    return { result: line.result, at: line.at }
  }

  /** Milliseconds from the start of the process to the answer. */
  async initialize(): Promise<number> {
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: false }, terminal: false }
    const { at } = await this.#request("initialize", { protocolVersion: 1, clientCapabilities })
    return at - this.startedAt
  }

  /** `model` is chosen for it; without one it has the default. */
  async open(model?: string): Promise<{ readonly id: string; readonly ms: number }> {
    const sentAt = now()
    const { at, result } = await this.#request("session/new", { cwd: this.#cwd, mcpServers: [] })
    if (model !== undefined) {
      const option = { sessionId: result.sessionId, configId: "model", value: model }
      await this.#request("session/set_config_option", option)
    }
    return { id: result.sessionId, ms: at - sentAt }
  }

  /** Milliseconds until the whole session was told again. */
  async load(sessionId: string): Promise<number> {
    const sentAt = now()
    const { at } = await this.#request("session/load", { sessionId, cwd: this.#cwd, mcpServers: [] })
    return at - sentAt
  }

  async prompt(sessionId: string, text: string, onChunk?: (chunks: number) => void): Promise<Turn> {
    const watch: Watch = { firstAt: 0, toolAt: 0, chunks: 0, longest: 0, texts: [], onChunk }
    this.#watches.set(sessionId, watch)
    const sentAt = now()
    const { at, result } = await this.#request("session/prompt", { sessionId, prompt: [{ type: "text", text }] })
    const { chunks, firstAt, longest, texts, toolAt } = watch
    return {
      sentAt,
      endedAt: at,
      firstAt,
      toolAt,
      chunks,
      longest,
      text: texts.join(""),
      stopReason: result.stopReason
    }
  }

  cancel(sessionId: string): void {
    this.#send({ method: "session/cancel", params: { sessionId } })
  }

  /** MiB of memory at its peak. */
  peakMemory(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8")
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
  }

  /** Milliseconds of processor time that all its threads have used. */
  processorTime(): number {
    const folder = `/proc/${this.#child.pid}/task`
    const used = readdirSync(folder).map((task) => readFileSync(`${folder}/${task}/schedstat`, "utf8").split(" ")[0])
    return used.reduce((sum, nanos) => sum + Number(nanos) / 1e6, 0)
  }

  /** Ends the input, and gives the milliseconds until the process is gone. */
  async end(): Promise<number> {
    const endedAt = now()
    this.#child.stdin.end()
    try {
      await within(this.#gone, "the end of the process", 5_000)
    } finally {
      this.#child.kill("SIGKILL")
    }
    return now() - endedAt
  }
}
