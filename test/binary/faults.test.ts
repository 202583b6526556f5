/** What may happen to a server and to the ways to it, over each of them: nothing is lost, and nobody else notices. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { realpathSync } from "node:fs"
import { join } from "node:path"
import type { ScriptPart, ScriptStep } from "../../src/services/models/script/Script.ts"
import * as Client from "../support/Client.ts"
import { makeSession } from "../support/ClientSession.ts"
import { residentMiB } from "../support/Processes.ts"
import { folder } from "../support/Program.ts"
import { at } from "../support/Schema.ts"
import { joins, kindOf, lastEntry, updateIn } from "../support/Shared.ts"
import { http1, http2 } from "../support/transports/Http.ts"
import { leader } from "../support/transports/Leader.ts"
import { relay, stopRelay } from "../support/transports/Relay.ts"
import { webSocket } from "../support/transports/WebSocket.ts"
import type { AgentOptions, Channel } from "../support/Transports.ts"

type Json = Schema.Json

afterAll(stopRelay)

interface Piece {
  readonly text: string
  /** When it came, in milliseconds. */
  readonly at: number
}

const textIn = (params: Json | undefined): string =>
  at(params, "update", "sessionUpdate") === "agent_message_chunk"
    ? String(at(params, "update", "content", "text") ?? "")
    : ""

/** A client that notes when it hears the words of the agent. */
const timed = Effect.fnUntraced(function* (channel: Channel) {
  const pieces: Array<Piece> = []
  const note = (line: string) =>
    Effect.sync(() => {
      const text = textIn(JSON.parse(line).params)
      if (text !== "") pieces.push({ text, at: performance.now() })
    })
  const client = yield* Client.join({ ...channel, lines: Stream.tap(channel.lines, note) })
  yield* client.initialize()
  return { client, pieces }
})

/** Everything that one test has: an agent with a script, and a folder. */
const setUp = Effect.fnUntraced(function* (steps: ReadonlyArray<ScriptStep>) {
  const home = join(realpathSync(yield* folder), ".supercharge")
  const cwd = realpathSync(yield* folder)
  const options: AgentOptions = { home, script: { steps } }
  const place = { cwd, mcpServers: [] }
  /** As the tests of conformance see a client. */
  const asTest = (client: Client.Client) => ({
    client,
    folder: cwd,
    session: (id: string, opened: object = {}) => makeSession(client, "", cwd, id, opened)
  })
  return { options, place, asTest }
})

const isClean = ({ transcript }: Client.Client) => assert.deepStrictEqual(transcript.problems, [])

/** A further client of the same agent, which leaves in order. */
const another = Effect.fnUntraced(function* (channel: Channel): Effect.fn.Return<Client.Client, never, Scope.Scope> {
  if (channel.another === undefined) return yield* Effect.die("one connection only")
  const client = yield* Client.join(yield* channel.another, true)
  yield* Effect.addFinalizer(() => Effect.sync(() => isClean(client)))
  yield* Effect.orDie(client.initialize())
  return client
})

const chunks = (words: number): ReadonlyArray<ScriptPart> =>
  Array.from({ length: words }, (_, index): ReadonlyArray<ScriptPart> => [
    { text: `${index} 漢字 ` },
    { delayMs: 2 }
  ]).flat()

/** What may be lost in a kill (in milliseconds of text), and how late a busy machine may be with it. */
const UNSTORED = 250
const LATE = 250

for (const transport of [webSocket, http1, http2, relay, leader]) {
  describe(`over ${transport.name}`, () => {
    for (const [name, words] of [
      ["right at the beginning of its text", 1],
      ["in the middle of its text", 300]
    ] as const) {
      it.live(`a server that is killed in mid-turn, ${name}, has kept all but the last 250 ms`, () =>
        Effect.gen(function* () {
          const { asTest, options, place } = yield* setUp([
            { when: "go", parts: [{ tool: { name: "read", input: { path: "none.txt" } } }] },
            { when: "go", parts: [...chunks(1_000), { hang: true }] },
            { when: "then", parts: [{ text: "And on." }] }
          ])
          const { client, pieces } = yield* timed(yield* transport.open(options))
          const { sessionId } = yield* client.request("session/new", place)
          const turn = yield* asTest(client).session(sessionId).prompt("go")
          yield* turn.told("agent_message_chunk", () => turn.text().includes(`${words} `))
          const killedAt = performance.now()
          yield* client.cut("kill")
          const after = lastEntry(client, sessionId)

          const channel = yield* transport.open(options)
          const second = yield* another(channel)
          const back = yield* joins(asTest(second), sessionId, "session/load", after)
          assert.isFalse(back.working)
          assert.notInclude(back.told.map(kindOf), "agent_message_chunk")
          const whole = yield* joins(asTest(yield* another(channel)), sessionId)
          const kept = whole.told.map(textIn).join("")
          const heard = pieces.map(({ text }) => text).join("")
          assert.strictEqual(kept !== "", words > 1 || kept !== "")
          assert.isTrue(heard.startsWith(kept), `${heard}\n---\n${kept}`)
          let length = 0
          const lost = pieces.find(({ text }) => (length += text.length) > kept.length)
          assert.isAtLeast(lost?.at ?? killedAt, killedAt - UNSTORED - LATE)
          const next = yield* back.session.run("then")
          assert.deepStrictEqual([next.response.stopReason, next.text()], ["end_turn", "And on."])
        })
      )
    }

    it.live("a server that is killed while a call runs tells who comes back that it has failed, once", () =>
      Effect.gen(function* () {
        const { asTest, options, place } = yield* setUp([
          { parts: [{ text: "I look. " }, { tool: { name: "bash", input: { command: "cat pipe || sleep 100" } } }] }
        ])
        const { client } = yield* timed(yield* transport.open(options))
        const { sessionId } = yield* client.request("session/new", { ...place, _meta: { yoloMode: true } })
        const turn = yield* asTest(client).session(sessionId).prompt("go")
        yield* turn.told("tool_call_update", ({ status }) => status === "in_progress")
        yield* client.cut("kill")
        const second = asTest(yield* another(yield* transport.open(options)))
        const back = yield* joins(second, sessionId, "session/load", lastEntry(client, sessionId))
        assert.isFalse(back.working)
        assert.deepStrictEqual(
          back.told.map((params) => [kindOf(params), updateIn(params)["status"]]),
          [
            ["tool_call_update", "failed"],
            ["available_commands_update", undefined]
          ]
        )
      })
    )

    it.live("50 turns run at once, each with its own words and its own end", () =>
      Effect.gen(function* () {
        const { asTest, options, place } = yield* setUp([
          { when: "hold", again: true, parts: [{ text: "Holding. " }, { hang: true }] },
          { when: "say", again: true, parts: [{ echo: true, chunk: 3 }] }
        ])
        const channel = yield* transport.open(options)
        const sessions = yield* Effect.forEach(
          Array.from({ length: 5 }),
          Effect.fnUntraced(function* () {
            const client = yield* another(channel)
            return yield* Effect.forEach(Array.from({ length: 10 }), () =>
              Effect.map(client.request("session/new", place), ({ sessionId }) => asTest(client).session(sessionId))
            )
          }),
          { concurrency: "unbounded" }
        )
        const all = sessions.flat()
        const turns = yield* Effect.forEach(all, (session) => session.prompt("hold"))
        yield* Effect.forEach(turns, (turn) => turn.told("agent_message_chunk"))
        yield* Effect.forEach(all, ({ cancel }) => cancel)
        const ends = yield* Effect.forEach(turns, ({ answer }) => answer)
        assert.deepStrictEqual(new Set(ends.map(({ stopReason }) => stopReason)), new Set(["cancelled"]))
        const said = yield* Effect.forEach(all, (session, index) => session.run(`say ${index}`), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          said.map((turn) => [turn.response.stopReason, turn.text()]),
          all.map((_, index) => ["end_turn", `say ${index} `])
        )
      })
    )

    // A connection of a bridge is a process; see below for its leader.
    if (transport === leader) return

    it.live("200 clients are connected at once, at less than 40 MiB beyond the first", () =>
      Effect.gen(function* () {
        const { options } = yield* setUp([])
        // What can be collected is, so that only what is held counts.
        const environment = { NODE_OPTIONS: "--max-semi-space-size=1" }
        const channel = yield* transport.open({ ...options, environment })
        const pid = channel.agentPid?.() ?? 0
        yield* another(channel)
        const before = residentMiB(pid)
        const clients = yield* Effect.forEach(Array.from({ length: 200 }), () => another(channel), { concurrency: 10 })
        const grown = residentMiB(pid) - before
        assert.isBelow(grown, 40)
        const lists = yield* Effect.forEach(clients, (client) => client.request("session/list", {}), {
          concurrency: "unbounded"
        })
        assert.lengthOf(lists, 200)
      })
    )
  })
}
