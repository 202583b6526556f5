/** The same work over stdio and over each transport of a network, one after the other on the same machine. */
import { setTimeout as pause } from "node:timers/promises"
import { Editor } from "./Editor.ts"
import { http, type Link, type Server, stdio, webSocket } from "./Links.ts"
import { type Command, Process } from "./Process.ts"
import type { ProgramName } from "./Report.ts"
import { nextId, type Program, type Put, rateOf, REST, stream } from "./Rounds.ts"

/** A program as it is reached over one transport. */
export interface Reached extends Program {
  /** How another editor comes to it. */
  readonly connect: (agent: Process) => Promise<Link>
  /** How it is told to end, beside the end of its input. */
  readonly signal?: NodeJS.Signals
}

const SECRET = "the secret of the bench, which is long enough"

/** One link: the process has a single input. */
export const overStdio = (name: ProgramName, command: Command): Reached => ({
  name,
  command,
  asksModel: true,
  connect: async (agent) => stdio(agent)
})

/** `command` starts a server on any port that is free. */
const overNetwork = (name: ProgramName, command: Command, link: (server: Server) => Link | Promise<Link>): Reached => ({
  name,
  command: { ...command, env: { ...command.env, SUPERCHARGE_AGENT_SECRET: SECRET } },
  asksModel: true,
  connect: async (agent) => link({ port: await agent.said(/127\.0\.0\.1:(\d+)/), secret: SECRET }),
  signal: "SIGTERM"
})

export const overWebSocket = (name: ProgramName, command: Command) => overNetwork(name, command, webSocket)
export const overHttp = (name: ProgramName, command: Command) => overNetwork(name, command, http)

type Connect = () => Promise<Editor>

const reaching = async (program: Reached, work: (connect: Connect, agent: Process) => Promise<void>): Promise<void> => {
  const agent = new Process(program.command)
  const editors: Array<Editor> = []
  const connect = async () => {
    const editor = new Editor(await program.connect(agent), program.command.cwd)
    editors.push(editor)
    await editor.initialize()
    return editor
  }
  try {
    await work(connect, agent)
    for (const editor of editors) editor.close()
  } catch (error) {
    throw new Error(`${program.name}: ${agent.complaints()}`, { cause: error })
  } finally {
    await agent.end(program.signal)
  }
}

/** One editor for each program, all at the same time. */
const reachingAll = async (
  programs: ReadonlyArray<Reached>,
  work: (editors: ReadonlyMap<Reached, Editor>) => Promise<void>,
  editors: ReadonlyMap<Reached, Editor> = new Map()
): Promise<void> => {
  const [program, ...rest] = programs
  if (program === undefined) return work(editors)
  await reaching(program, async (connect) => reachingAll(rest, work, new Map([...editors, [program, await connect()]])))
}

const WARM_UP = 3
const TURNS = 20
const LONG_TURNS = 5
const LOADS = 5

/**
 * What one editor does when all is warm: short answers, long answers, and a session of many messages. The programs take
 * turns, so that whatever else the machine does is the same for each.
 */
export const carry = async (
  programs: ReadonlyArray<Reached>,
  session: string,
  putFor: (name: ProgramName) => Put
): Promise<void> => {
  await reachingAll(programs, async (editors) => {
    const inTurn = async (times: number, work: (editor: Editor, session: string, put: Put) => Promise<void>) => {
      const opened = new Map<Reached, string>()
      for (const [program, editor] of editors) opened.set(program, (await editor.open()).id)
      for (let time = -WARM_UP; time < times; time++) {
        for (const [program, editor] of editors) {
          await work(editor, opened.get(program) ?? "", time < 0 ? () => {} : putFor(program.name))
        }
      }
    }
    await inTurn(TURNS, async (editor, session, put) => {
      const { endedAt, firstAt, sentAt } = await editor.prompt(session, `say #${nextId()}`)
      put("later first chunk ms", firstAt - sentAt)
      put("later answer ms", endedAt - sentAt)
    })
    await inTurn(LONG_TURNS, async (editor, session, put) =>
      put("stream deltas/s", rateOf(await stream(editor, session)))
    )
    await inTurn(LOADS, async (editor, _, put) => put("load ms", await editor.load(session)))
  })
}

const SESSIONS = 50

/** Fifty sessions that are asked at once; over a network, each is an editor of its own. Then once more. */
export const fifty = async (program: Reached, put: Put): Promise<void> => {
  await reaching(program, async (connect, agent) => {
    const first = await connect()
    const sessions: Array<{ readonly editor: Editor; readonly id: string }> = []
    for (let opened = 0; opened < SESSIONS; opened++) {
      const editor = program.signal === undefined ? first : await connect()
      sessions.push({ editor, id: (await editor.open()).id })
    }
    for (const figure of ["fifty sessions ms", "fifty warm sessions ms"] as const) {
      const before = agent.processorTime()
      const turns = await Promise.all(sessions.map(({ editor, id }) => editor.prompt(id, `stream 50 #${nextId()}`)))
      put(figure, Math.max(...turns.map(({ endedAt }) => endedAt)) - Math.min(...turns.map(({ sentAt }) => sentAt)))
      put("fifty sessions cpu ms", agent.processorTime() - before)
    }
    put("fifty sessions MiB", agent.peakMemory())
  })
}

const IDLE = 200

/** What further clients cost that are connected and ask for nothing. */
export const idle = async (program: Reached, put: Put): Promise<void> => {
  await reaching(program, async (connect, agent) => {
    await connect()
    await pause(REST)
    const before = agent.memory()
    for (let connected = 0; connected < IDLE; connected++) await connect()
    await pause(REST)
    put("idle connections MiB", agent.memory() - before)
  })
}
