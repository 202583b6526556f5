/** The demonstration: the real program over stdio, the official client, a real repository, and a look at the result. */
import { methods, ndJsonStream } from "@agentclientprotocol/sdk"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"
import { makeEditor, type Seen } from "./Editor.ts"
import { type Repository, withRepository } from "./Repository.ts"
import { makeScreen, type Screen } from "./Screen.ts"
import { faultyFile, files, repaired, request, script } from "./Story.ts"

export interface DemoOptions {
  /** The program of the agent, and the model that plays. */
  readonly program?: string
  readonly model?: typeof script
  readonly write: (line: string) => void
  readonly colours: boolean
  /** Ends the demonstration early. */
  readonly signal: AbortSignal
}

const program = join(import.meta.dirname, "..", "..", "bin", "super-pi")

/** How long the agent may take to end after its input did; it promises two seconds. */
const PATIENCE = 3_000

/** What must be seen, as pairs of what is and what should be. */
const compare = async (seen: Seen, stopReason: string, { git, path }: Repository): Promise<void> => {
  const cards = [...seen.cards.values()].filter(({ kind }) => kind !== "think")
  const facts: Readonly<Record<string, readonly [unknown, unknown]>> = {
    "the reason for the end of the turn": [stopReason, "end_turn"],
    "the kinds of the tool calls": [cards.map(({ kind }) => kind), ["search", "read", "execute", "edit", "execute"]],
    "how the tool calls ended": [
      cards.map(({ statuses }) => statuses.at(-1)),
      ["completed", "completed", "failed", "completed", "completed"]
    ],
    "the questions and their answers": [seen.questions, ["execute allow_always", "edit allow_once"]],
    "the plan at the end": [seen.plan, ["completed", "completed", "completed", "completed"]],
    "whether there is an answer": [seen.answer !== "", true],
    "whether all places are in the repository": [
      cards.flatMap(({ locations }) => locations).every((location) => location.path.startsWith(`${path}/`)),
      true
    ],
    "the repaired file": [await readFile(join(path, faultyFile), "utf8"), repaired],
    "what changed in the repository": [await git("status", "--porcelain"), ` M ${faultyFile}\n`]
  }
  for (const [name, [actual, expected]] of Object.entries(facts)) {
    if (isDeepStrictEqual(actual, expected)) continue
    throw new Error(`${name} should be ${JSON.stringify(expected)} and is ${JSON.stringify(actual)}`)
  }
}

interface Agent {
  readonly child: ChildProcessWithoutNullStreams
  /** It has ended and all that it said was read. */
  readonly closed: Promise<unknown>
}

/** Lets the agent end by the end of its input, as an editor does; kills it if it does not. */
const end = async ({ child, closed }: Agent): Promise<number | null> => {
  child.stdin.end()
  const ended = await Promise.race([closed.then(() => true), sleep(PATIENCE, false, { ref: false })])
  if (!ended) child.kill("SIGKILL")
  await closed
  return child.exitCode
}

const play = async (options: DemoOptions, repository: Repository, screen: Screen): Promise<void> => {
  const { git, home, path } = repository
  const model = join(home, "model.json")
  await writeFile(model, JSON.stringify(options.model ?? script))
  const child = spawn(options.program ?? program, ["acp", "--model", `scripted/${model}`], {
    env: { ...process.env, HOME: home, SUPERCHARGE_HOME: join(home, ".supercharge") },
    signal: options.signal
  })
  const agent: Agent = { child, closed: new Promise((resolve) => child.on("close", resolve)) }
  let complaints = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text))
  child.stdin.on("error", () => {})
  const failed = new Promise<never>((_, reject) => {
    child.on("error", (error) =>
      reject(options.signal.aborted ? options.signal.reason : new Error(`the program cannot run: ${error.message}`))
    )
  })
  const { app, seen } = makeEditor(screen)
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout))
  try {
    const turn = app.connectWith(stream, async (connection) => {
      const { agentInfo, protocolVersion } = await connection.request(methods.agent.initialize, {
        protocolVersion: 1,
        clientCapabilities: {},
        clientInfo: { name: "demo-editor", version: "1.0.0" }
      })
      screen.tell(`connected to ${agentInfo?.title} ${agentInfo?.version}, protocol version ${protocolVersion}`)
      const { modes, sessionId } = await connection.request(methods.agent.session.new, { cwd: path, mcpServers: [] })
      screen.tell(`session opened in ${path}, mode "${modes?.currentModeId}"`)
      screen.quote(request)
      const answer = await connection.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: "text", text: request }]
      })
      return answer.stopReason
    })
    const stopReason = await Promise.race([turn, failed])
    screen.answer(seen.answer)
    screen.tell(`turn ended: ${stopReason}`)
    const code = await end(agent)
    screen.tell(`agent ended with code ${code}`)
    if (code !== 0) throw new Error(`the agent ended with code ${code} when its input had ended`)
    screen.title("\ngit diff")
    screen.patch(await git("diff"))
    await compare(seen, stopReason, repository)
  } catch (error) {
    if (child.pid !== undefined) await end(agent)
    if (options.signal.aborted) throw options.signal.reason
    if (complaints !== "") options.write(`\nThe agent said on stderr:\n${complaints.trimEnd()}`)
    throw error
  }
}

/** Rejects with an error that says what was not as it should be. Leaves nothing behind. */
export const demo = (options: DemoOptions): Promise<void> =>
  withRepository(files, (repository) => {
    const screen = makeScreen({ write: options.write, colours: options.colours, root: repository.path })
    screen.title("Super-Pi, as an editor sees it")
    screen.text(
      "The program, its tools and the client are the real ones; the model plays a script. It needs no key and no network.\n"
    )
    return play(options, repository, screen)
  })
