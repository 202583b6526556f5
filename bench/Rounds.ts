/** What is done with each program in each round, and the figures that it gives. */
import { setTimeout as pause } from "node:timers/promises"
import type { DialectName } from "./Dialects.ts"
import { Editor, type Turn } from "./Editor.ts"
import { stdio } from "./Links.ts"
import type { Model } from "./Model.ts"
import { type Command, Process } from "./Process.ts"
import type { ProgramName } from "./Report.ts"

/** Every figure has the unit that its name ends with. */
export type Figure =
  | "initialize ms"
  | "initialize cpu ms"
  | "after initialize MiB"
  | "end of input ms"
  | "first session ms"
  | "first token ms"
  | "first token cpu ms"
  | "later session ms"
  | "later first chunk ms"
  | "later answer ms"
  | "first request bytes"
  | "result to request ms"
  | "call to request ms"
  | "cancel ms"
  | "stream deltas/s"
  | "stream cpu ms"
  | "stream chunks"
  | "longest chunk characters"
  | "after streams MiB"
  | "idle session MiB"
  | "twenty sessions ms"
  | "twenty warm sessions ms"
  | "load ms"
  | "fifty sessions ms"
  | "fifty warm sessions ms"
  | "fifty sessions cpu ms"
  | "fifty sessions MiB"
  | "idle connections MiB"
  | `${DialectName} deltas/s`

export interface Program {
  readonly name: ProgramName
  readonly command: Command
  readonly asksModel: boolean
}

export type Put = (figure: Figure, value: number) => void

const DELTAS = 5_000
const SESSIONS = 20
const IDLE_SESSIONS = 50
const WARM_TURNS = 6
/** Milliseconds in which a process comes to rest. */
export const REST = 500

let prompts = 0
export const nextId = (): string => `p${prompts++}`

const expected = Array.from({ length: DELTAS }, (_, index) => `word${String(index).padStart(5, "0")} `).join("")

export const stream = async (editor: Editor, session: string): Promise<Turn> => {
  const turn = await editor.prompt(session, `stream ${DELTAS} #${nextId()}`)
  if (turn.text !== expected || turn.stopReason !== "end_turn")
    throw new Error("the streamed text is not what was sent")
  return turn
}

export const rateOf = ({ endedAt, sentAt }: Turn): number => (DELTAS * 1000) / (endedAt - sentAt)

const using = async (program: Program, work: (editor: Editor, agent: Process) => Promise<void>): Promise<number> => {
  const agent = new Process(program.command)
  try {
    await work(new Editor(stdio(agent), program.command.cwd), agent)
  } catch (error) {
    await agent.end().catch(() => 0)
    throw new Error(`${program.name}: ${agent.complaints()}`, { cause: error })
  }
  return agent.end()
}

/** Start, rest, end. */
export const start = async (program: Program, put: Put): Promise<void> => {
  const ended = await using(program, async (editor, agent) => {
    put("initialize ms", (await editor.initialize()) - agent.startedAt)
    put("initialize cpu ms", agent.processorTime())
    await pause(REST)
    put("after initialize MiB", agent.peakMemory())
  })
  put("end of input ms", ended)
}

const readFiles = async (editor: Editor, model: Model, files: ReadonlyArray<string>, put: Put): Promise<void> => {
  const session = await editor.open()
  for (const file of files) {
    const id = nextId()
    const { toolAt } = await editor.prompt(session.id, `read ${file} #${id}`)
    const [first, second] = await model.requests(id, 2)
    if (first === undefined || second === undefined) throw new Error("the tool was not called")
    put("result to request ms", second.at - toolAt)
    put("call to request ms", second.at - first.endedAt)
  }
}

const cancels = async (editor: Editor, times: number, put: Put): Promise<void> => {
  const session = await editor.open()
  for (let time = 0; time < times; time++) {
    let cancelledAt = 0
    const turn = await editor.prompt(session.id, `drip #${nextId()}`, (chunks) => {
      if (chunks !== 5) return
      cancelledAt = Number(process.hrtime.bigint()) / 1e6
      editor.cancel(session.id)
    })
    if (turn.stopReason !== "cancelled") throw new Error(`a cancelled prompt ended with ${turn.stopReason}`)
    put("cancel ms", turn.endedAt - cancelledAt)
  }
}

/** What a person does: opens the agent, types at once, and goes on. */
export const work = async (program: Program, model: Model, files: ReadonlyArray<string>, put: Put): Promise<void> => {
  await using(program, async (editor, agent) => {
    await editor.initialize()
    const session = await editor.open()
    put("first session ms", session.ms)
    const id = nextId()
    const first = await editor.prompt(session.id, `say #${id}`)
    put("first token ms", first.firstAt - agent.startedAt)
    put("first token cpu ms", agent.processorTime())
    for (const request of program.asksModel ? await model.requests(id, 1) : [])
      put("first request bytes", request.bytes)
    for (let turn = 0; turn < WARM_TURNS; turn++) {
      const { endedAt, firstAt, sentAt } = await editor.prompt(session.id, `say #${nextId()}`)
      put("later first chunk ms", firstAt - sentAt)
      put("later answer ms", endedAt - sentAt)
    }
    for (let opened = 0; opened < 3; opened++) put("later session ms", (await editor.open()).ms)
    if (program.asksModel) {
      if (files.length > 0) await readFiles(editor, model, files, put)
      await cancels(editor, 3, put)
    }
    const streamed = await editor.open()
    for (let time = 0; time < 3; time++) {
      const before = agent.processorTime()
      const turn = await stream(editor, streamed.id)
      put("stream cpu ms", agent.processorTime() - before)
      put("stream deltas/s", rateOf(turn))
      put("stream chunks", turn.chunks)
      put("longest chunk characters", turn.longest)
    }
    put("after streams MiB", agent.peakMemory())
  })
}

const together = async (editor: Editor, sessions: ReadonlyArray<string>): Promise<number> => {
  const turns = await Promise.all(sessions.map((session) => editor.prompt(session, `stream 50 #${nextId()}`)))
  return Math.max(...turns.map(({ endedAt }) => endedAt)) - Math.min(...turns.map(({ sentAt }) => sentAt))
}

/** Many sessions at rest, and twenty of them asked at once; then once more. */
export const crowd = async (program: Program, put: Put): Promise<void> => {
  await using(program, async (editor, agent) => {
    await editor.initialize()
    const sessions = [(await editor.open()).id]
    await pause(REST)
    const before = agent.peakMemory()
    for (let opened = 0; opened < IDLE_SESSIONS; opened++) sessions.push((await editor.open()).id)
    await pause(REST)
    put("idle session MiB", (agent.peakMemory() - before) / IDLE_SESSIONS)
    put("twenty sessions ms", await together(editor, sessions.slice(0, SESSIONS)))
    put("twenty warm sessions ms", await together(editor, sessions.slice(0, SESSIONS)))
  })
}

/** A long answer through the package of each provider. */
export const streams = async (program: Program, models: ReadonlyMap<DialectName, string>, put: Put): Promise<void> => {
  await using(program, async (editor) => {
    await editor.initialize()
    for (const [dialect, model] of models) {
      const session = await editor.open(model)
      for (let time = 0; time < 3; time++) put(`${dialect} deltas/s`, rateOf(await stream(editor, session.id)))
    }
  })
}

/** Writes a session of so many messages, and gives its id. */
export const converse = async (program: Program, messages: number): Promise<string> => {
  let id = ""
  await using(program, async (editor) => {
    await editor.initialize()
    id = (await editor.open()).id
    for (let message = 0; message < messages; message += 2) await editor.prompt(id, `say #${nextId()}`)
  })
  return id
}

export const load = async (program: Program, session: string, put: Put): Promise<void> => {
  await using(program, async (editor) => {
    await editor.initialize()
    put("load ms", await editor.load(session))
  })
}
