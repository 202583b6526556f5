/** An editor, as far as the bench needs one: talks to an agent, and notes when each message came. */
import { readFileSync } from "node:fs"
import type { Link } from "./Links.ts"
import { now, within } from "./Process.ts"

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

export class Editor {
  readonly #cwd: string
  readonly #link: Link
  readonly #gone: Promise<true>
  readonly #pending = new Map<number, (line: Answered) => void>()
  readonly #watches = new Map<string, Watch>()
  #asked = 0

  /** Sessions work in the folder. */
  constructor(link: Link, cwd: string) {
    this.#cwd = cwd
    this.#link = link
    this.#gone = link.closed.then(() => true)
    link.take = (text) => {
      const at = now()
      this.#take(JSON.parse(text) as Line, at)
    }
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
    this.#link.send(JSON.stringify({ jsonrpc: "2.0", ...message }))
  }

  async #request(method: string, params: object): Promise<{ readonly result: Answer; readonly at: number }> {
    const id = this.#asked++
    const answered = new Promise<Answered>((resolve) => this.#pending.set(id, resolve))
    this.#send({ id, method, params })
    const line = await within(Promise.race([answered, this.#gone]), method)
    if (line === true) throw new Error(`the connection ended before ${method} was answered`)
    if (line.result === undefined) throw new Error(`${method}: ${line.error?.message}`)
    return { result: line.result, at: line.at }
  }

  /** Gives the time of the answer. */
  async initialize(): Promise<number> {
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: false }, terminal: false }
    const { at } = await this.#request("initialize", { protocolVersion: 1, clientCapabilities })
    return at
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

  close(): void {
    this.#link.close()
  }
}
