/** What a relay and an agent that calls one promise, shown on the built program. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Schema from "effect/Schema"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { version } from "../../src/domain/Version.ts"
import { gone, isAlive, until } from "../support/Processes.ts"
import { folder, run } from "../support/Program.ts"
import { startProxy } from "../support/proxy.ts"
import { at } from "../support/Schema.ts"
import { makeToken, startHeadless, startRelay } from "../support/transports/Relay.ts"
import { connect, type Socket } from "../transports/relay/sockets.ts"

type Json = Schema.Json
type Message = { readonly [key: string]: Json }

/** A client that speaks by hand. What it hears and asked for stays in order. */
const speaker = (socket: Socket) => {
  let count = 0
  const heard: Array<Message> = []
  const next = Effect.map(socket.next, (text): Message => {
    const message: Message = JSON.parse(text.toString())
    heard.push(message)
    return message
  })
  const ask = (method: string, params: object) =>
    Effect.suspend(() => {
      const id = count++
      return Effect.as(socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params })), id)
    })
  const hear = (fits: (message: Message) => boolean): Effect.Effect<Message> =>
    Effect.filterOrElse(next, fits, () => hear(fits))
  const answer = (id: number) => hear((message) => message["id"] === id && message["method"] === undefined)
  return {
    ask,
    answer,
    hear,
    heard,
    request: (method: string, params: object) => Effect.flatMap(ask(method, params), answer),
    /** All text of the agent that was heard. */
    text: (since = 0) =>
      heard
        .slice(since)
        .filter((message) => at(message["params"], "update", "sessionUpdate") === "agent_message_chunk")
        .map((message) => at(message["params"], "update", "content", "text"))
        .join(""),
    /** How far the log was told. */
    entry: () => heard.findLast((message) => at(message["params"], "_meta", "superPi", "entry") !== undefined)
  }
}

const initialize = { protocolVersion: 1, clientCapabilities: {} }
const says = (text: string) => (message: Message) => {
  const update = at(message["params"], "update")
  return at(update, "sessionUpdate") === "agent_message_chunk" && at(update, "content", "text") === text
}

/** A relay, an agent at it, and clients. */
const meet = Effect.fnUntraced(function* (
  script: { readonly steps: ReadonlyArray<object> } = { steps: [{ again: true, parts: [{ echo: true }] }] },
  flags: ReadonlyArray<string> = []
) {
  const home = join(yield* folder, ".supercharge")
  const cwd = yield* folder
  const relay = yield* startRelay(home)
  const token = makeToken()
  const options = {
    home,
    script: script as never,
    url: relay.url,
    flags,
    environment: { SUPERCHARGE_RELAY_TOKEN: token }
  }
  const agent = yield* startHeadless(options)
  const client = Effect.gen(function* () {
    const socket = yield* connect(`${relay.url}/ws?token=${token}`)
    const speaking = speaker(socket)
    yield* speaking.request("initialize", initialize)
    return { ...socket, ...speaking }
  })
  const create = (speaking: Effect.Success<typeof client>, meta = {}) =>
    Effect.map(speaking.request("session/new", { cwd, mcpServers: [], _meta: meta }), ({ result }) =>
      String(at(result, "sessionId"))
    )
  return { home, cwd, relay, token, agent, client, create, again: startHeadless(options) }
})

const prompt = (sessionId: string, text: string) => ({ sessionId, prompt: [{ type: "text", text }] })

/** Says "one", waits for a file, says "two". */
const gated = {
  steps: [
    {
      parts: [
        { text: "one " },
        {
          tool: {
            name: "bash",
            input: {
              command: "echo pid $$; until [ -e go -o ! -e $PWD ]; do sleep 0.02; done",
              unsandboxed: true,
              reason: "watched"
            }
          }
        }
      ]
    },
    { parts: [{ text: "two" }] },
    { again: true, parts: [{ text: "later" }] }
  ]
}

describe("agent headless", () => {
  for (const [line, env, complaint] of [
    [
      "",
      {},
      /^error: No relay is configured\. Say which one by --relay-url wss:.*, by SUPERCHARGE_WS_URL, or by url below/
    ],
    ["--relay-url https://example.org", {}, /^error: --relay-url must be an address such as wss:/],
    ["", { SUPERCHARGE_WS_URL: "relay" }, /^error: SUPERCHARGE_WS_URL or relay\.url must be an address such as wss:/],
    ["--relay-url ws://127.0.0.1:1 --relay-token-file nowhere", {}, /^error: The token file nowhere cannot be read/],
    [
      "--relay-url ws://127.0.0.1:1 --relay-token-file .",
      {},
      /^error: The token file \. must be a plain file with one/
    ],
    [
      "--relay-url ws://127.0.0.1:1 --relay-origin here",
      {},
      /^error: --relay-origin, .* must be an origin such as https/
    ],
    ["--grok-ws-url nowhere", {}, /^error: --relay-url must be an address/]
  ] as const) {
    it.live(`"headless ${line}" with ${JSON.stringify(env)} says what to write, and ends with 1`, () =>
      Effect.gen(function* () {
        const { end, stderr, stdout } = yield* run(["agent", "headless", ...line.split(" ").filter(Boolean)], { env })
        assert.deepStrictEqual([end, stdout], [1, ""])
        assert.match(stderr, complaint)
      })
    )
  }

  it.live("says what it calls and what clients may do, and never the token", () =>
    Effect.gen(function* () {
      const { agent, client, create, relay, token } = yield* meet()
      yield* agent.told(/Connected to the relay/)
      const one = yield* client
      yield* one.request("session/prompt", prompt(yield* create(one), "hello"))
      assert.include(agent.log(), `super-pi ${version} calls the relay ${relay.url}/agent`)
      assert.notInclude(agent.log() + relay.log(), token)
      assert.match(agent.log(), /can choose to run anything without being asked/)
      yield* agent.stop("SIGTERM")
      assert.strictEqual(yield* agent.ended, 0)
      assert.notInclude(agent.log(), token)
    })
  )

  it.live("holds clients under the ceiling, and says when --always-approve lifts it", () =>
    Effect.gen(function* () {
      for (const [flags, sentence, modes] of [
        [[], /Sessions go up to the mode accept-edits/, ["plan", "ask", "accept-edits"]],
        [["--always-approve"], /Because of --always-approve, whoever knows the token can run anything/, undefined]
      ] as const) {
        const home = join(yield* folder, ".supercharge")
        const relay = yield* startRelay(home)
        const token = makeToken()
        const environment = { SUPERCHARGE_RELAY_TOKEN: token }
        const config = "[remote]\n"
        const script = { steps: [] }
        const agent = yield* startHeadless({ home, config, script, url: relay.url, flags, environment })
        yield* agent.told(sentence)
        const one = speaker(yield* connect(`${relay.url}/ws?token=${token}`))
        yield* one.request("initialize", initialize)
        const { result } = yield* one.request("session/new", { cwd: home, mcpServers: [] })
        const offered = at(result, "modes", "availableModes") as ReadonlyArray<{ readonly id: string }>
        const ids = offered.map(({ id }) => id)
        if (modes === undefined) assert.include(ids, "always-approve")
        else assert.deepStrictEqual(ids, [...modes])
      }
    })
  )

  it.live("serves several clients at once, each with ids of its own", () =>
    Effect.gen(function* () {
      const { client, create } = yield* meet()
      const clients = yield* Effect.all([client, client, client, client])
      const sessions = yield* Effect.forEach(clients, (one) => create(one), { concurrency: "unbounded" })
      yield* Effect.forEach(
        clients,
        (one, index) => one.request("session/prompt", prompt(sessions[index] ?? "", `I am client ${index}`)),
        { concurrency: "unbounded" }
      )
      for (const [index, one] of clients.entries()) assert.strictEqual(one.text(), `I am client ${index}`)
    })
  )

  it.live("lets two clients watch one session, each told everything", () =>
    Effect.gen(function* () {
      const { client, create, cwd } = yield* meet()
      const [first, second] = yield* Effect.all([client, client])
      const sessionId = yield* create(first)
      yield* second.request("session/load", { sessionId, cwd, mcpServers: [] })
      yield* first.request("session/prompt", prompt(sessionId, "for both"))
      yield* second.hear(says("for both"))
      assert.strictEqual(first.text(), "for both")
      assert.strictEqual(second.text(), "for both")
    })
  )

  it.live("goes on with a turn while its client is away, and loses nothing of it", () =>
    Effect.gen(function* () {
      const { client, create, cwd } = yield* meet(gated)
      const first = yield* client
      const sessionId = yield* create(first, { yoloMode: true })
      yield* first.ask("session/prompt", prompt(sessionId, "go"))
      yield* first.hear((message) => at(message["params"], "update", "status") === "in_progress")
      const seen = at(first.entry()?.["params"], "_meta", "superPi", "entry")
      first.raw.terminate()
      const second = yield* client
      writeFileSync(join(cwd, "go"), "")
      const place = { sessionId, cwd, mcpServers: [] }
      yield* second.request("session/load", { ...place, _meta: { superPi: { after: seen } } })
      if (second.text() !== "two") yield* second.hear(says("two"))
      assert.strictEqual(first.text() + second.text(), "one two")
      const third = yield* client
      yield* third.request("session/load", place)
      assert.strictEqual(third.text(), "one two")
    })
  )

  it.live("is called again by its clients after it was killed in mid-turn, and has what it said", () =>
    Effect.gen(function* () {
      const { again, agent, client, create, cwd } = yield* meet(gated)
      const first = yield* client
      const sessionId = yield* create(first, { yoloMode: true })
      yield* first.ask("session/prompt", prompt(sessionId, "go"))
      yield* first.hear((message) => at(message["params"], "update", "status") === "in_progress")
      yield* agent.stop("SIGKILL")
      assert.deepStrictEqual(yield* first.ended, {
        code: 1001,
        reason: "The agent is gone: connect again, and load the session"
      })
      const next = yield* again
      yield* next.told(/Connected to the relay/)
      const second = yield* client
      yield* second.request("session/load", { sessionId, cwd, mcpServers: [] })
      assert.strictEqual(second.text(), "one ")
      writeFileSync(join(cwd, "go"), "")
      const { result } = yield* second.request("session/prompt", prompt(sessionId, "and now"))
      assert.strictEqual(at(result, "stopReason"), "end_turn")
    })
  )

  it.live("comes back to a relay that was started anew in mid-turn", () =>
    Effect.gen(function* () {
      const { agent, client, create, cwd, home, relay, token } = yield* meet(gated)
      const first = yield* client
      const sessionId = yield* create(first, { yoloMode: true })
      yield* first.ask("session/prompt", prompt(sessionId, "go"))
      yield* first.hear((message) => at(message["params"], "update", "status") === "in_progress")
      yield* relay.stop("SIGKILL")
      yield* first.ended
      yield* relay.ended
      yield* agent.told(/The link to the relay is lost\. The next try is in 2 s/)
      writeFileSync(join(cwd, "go"), "")
      const next = yield* startRelay(home, new URL(relay.url).host)
      const second = speaker(yield* connect(`${next.url}/ws?token=${token}`))
      yield* second.request("initialize", initialize)
      yield* second.request("session/load", { sessionId, cwd, mcpServers: [] })
      if (!second.text().endsWith("two")) yield* second.hear(says("two"))
      assert.strictEqual(second.text(), "one two")
    })
  )

  it.live("ends in order on SIGTERM, with what it started", () =>
    Effect.gen(function* () {
      const { agent, client, create } = yield* meet(gated)
      const one = yield* client
      const sessionId = yield* create(one, { yoloMode: true })
      yield* one.ask("session/prompt", prompt(sessionId, "go"))
      const shown = yield* one.hear((message) => /pid \d+/.test(JSON.stringify(message)))
      const [, pid] = /pid (\d+)/.exec(JSON.stringify(shown)) ?? []
      assert.isTrue(isAlive(Number(pid)))
      yield* agent.stop("SIGTERM")
      assert.strictEqual(yield* agent.ended, 0)
      assert.strictEqual((yield* one.ended).code, 1001)
      yield* gone(Number(pid))
    })
  )

  it.live("reads a token that is refused again, and calls at once with the new one", () =>
    Effect.gen(function* () {
      const home = join(yield* folder, ".supercharge")
      const file = join(yield* folder, "token")
      writeFileSync(file, "the-token-of-yesterday\n")
      const shown: Array<string | undefined> = []
      const upgrades = yield* Queue.unbounded<string | undefined>()
      const server = createServer()
      server.on("upgrade", (request, socket: Duplex) => {
        shown.push(request.headers.authorization)
        Queue.offerUnsafe(upgrades, request.headers.authorization)
        writeFileSync(file, "the-token-of-today-123\n")
        socket.end("HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
      })
      const port = yield* Effect.acquireRelease(
        Effect.callback<number>((resume) => {
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            resume(Effect.succeed(address !== null && typeof address === "object" ? address.port : 0))
          })
        }),
        () => Effect.sync(() => server.close())
      )
      const url = `ws://127.0.0.1:${port}`
      const agent = yield* startHeadless({ home, url, arguments: ["--relay-token-file", file] })
      // One that ends says why.
      yield* agent.told(/calls the relay/)
      assert.strictEqual(yield* Queue.take(upgrades), "Bearer the-token-of-yesterday")
      assert.strictEqual(yield* Queue.take(upgrades), "Bearer the-token-of-today-123")
      // This one is refused, too, and has not changed: it waits.
      yield* agent.told(/The relay answered 401.*\. The next try is in 2 s/)
      assert.strictEqual(shown.length, 2)
      assert.notMatch(agent.log(), /token-of-(yesterday|today)/)
    })
  )

  it.live("reaches its relay through the proxy of the environment", () =>
    Effect.gen(function* () {
      const home = join(yield* folder, ".supercharge")
      const relay = yield* startRelay(home)
      const proxy = yield* startProxy()
      const token = makeToken()
      const environment = { SUPERCHARGE_RELAY_TOKEN: token, HTTP_PROXY: `http://127.0.0.1:${proxy.port}` }
      yield* startHeadless({ home, url: relay.url, environment })
      const one = speaker(yield* connect(`${relay.url}/ws?token=${token}`))
      const { result } = yield* one.request("initialize", initialize)
      assert.strictEqual(at(result, "protocolVersion"), 1)
      assert.include(
        proxy.asked.map(({ authority }) => authority),
        new URL(relay.url).host
      )
    })
  )

  it.live("keeps one link at a relay of another make, and goes on over the next one when it breaks", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const home = join(yield* folder, ".supercharge")
      const links = yield* Queue.unbounded<{ readonly raw: WebSocket; readonly next: Effect.Effect<Message> }>()
      const server = new WebSocketServer({ host: "127.0.0.1", port: 0 })
      const queues = yield* Effect.all([Queue.unbounded<Message>(), Queue.unbounded<Message>()])
      server.on("connection", (raw) => {
        const said = queues.shift()
        if (said === undefined) return raw.terminate()
        raw.on("message", (data: Buffer) => Queue.offerUnsafe(said, JSON.parse(data.toString())))
        Queue.offerUnsafe(links, { raw, next: Queue.take(said) })
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.on("listening", () => resume(Effect.void))),
        () =>
          Effect.sync(() => {
            for (const raw of server.clients) raw.terminate()
            server.close()
          })
      )
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      yield* startHeadless({ home, url: `ws://127.0.0.1:${port}`, script: gated })
      const first = yield* Queue.take(links)
      const say = (raw: WebSocket, id: number, method: string, params: object) =>
        Effect.sync(() => raw.send(JSON.stringify({ jsonrpc: "2.0", id, method, params })))
      const until = (link: typeof first, fits: (message: Message) => boolean): Effect.Effect<Message> =>
        Effect.filterOrElse(link.next, fits, () => until(link, fits))
      const answer = (link: typeof first, id: number) => until(link, (message) => message["id"] === id)
      yield* say(first.raw, 0, "initialize", initialize)
      yield* answer(first, 0)
      yield* say(first.raw, 1, "session/new", { cwd, mcpServers: [], _meta: { yoloMode: true } })
      const sessionId = String(at((yield* answer(first, 1))["result"], "sessionId"))
      yield* say(first.raw, 2, "session/prompt", prompt(sessionId, "go"))
      yield* until(first, (message) => at(message["params"], "update", "status") === "in_progress")
      first.raw.terminate()
      writeFileSync(join(cwd, "go"), "")
      const second = yield* Queue.take(links)
      // The client of that relay never noticed: the turn and its answer come over the next link.
      yield* until(second, says("two"))
      assert.strictEqual(at((yield* answer(second, 2))["result"], "stopReason"), "end_turn")
      yield* say(second.raw, 0, "initialize", initialize)
      assert.strictEqual(at((yield* answer(second, 0))["result"], "protocolVersion"), 1)
      yield* say(second.raw, 1, "session/load", { sessionId, cwd, mcpServers: [] })
      yield* until(second, says("two"))
      assert.strictEqual(server.clients.size, 1)
    })
  )

  it.live("is turned away while another agent has its room, and takes its place when that is gone", () =>
    Effect.gen(function* () {
      const { agent, again, client } = yield* meet()
      yield* client
      const second = yield* again
      yield* second.told(/The relay answered 409: Another agent is connected with this token\. The next try is in 2 s/)
      yield* agent.stop("SIGKILL")
      yield* second.told(/Connected to the relay/)
      yield* client
    })
  )
})

const residentMiB = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

describe("relay", () => {
  it.live("says where agents and clients connect", () =>
    Effect.gen(function* () {
      const relay = yield* startRelay(yield* folder)
      yield* relay.told(/TOKEN is a secret of your own/)
      const host = new URL(relay.url).host
      assert.strictEqual(
        relay.log(),
        [
          `super-pi relays on ${host}`,
          `  Agents   ws://${host}/agent`,
          `  Clients  ws://${host}/ws?token=TOKEN`,
          "TOKEN is a secret of your own, of 16 characters or more, the same for an agent and its clients",
          ""
        ].join("\n")
      )
    })
  )

  it.live("ends in order on SIGTERM", () =>
    Effect.gen(function* () {
      const { agent, client, relay } = yield* meet()
      const one = yield* client
      yield* relay.stop("SIGTERM")
      assert.strictEqual(yield* relay.ended, 0)
      assert.strictEqual((yield* one.ended).code, 1001)
      yield* agent.told(/The link to the relay is lost/)
    })
  )

  for (const [line, complaint] of [
    ["--bind 127.0.0.1:99999", /bind/],
    ["--bind nowhere.invalid", /^error: The name nowhere\.invalid stands for no address/],
    ["--bind 192.0.2.1:2420", /^error: This machine has no address 192\.0\.2\.1/],
    ["--tls-cert x", /tls-cert/]
  ] as const) {
    it.live(`"relay ${line}" is refused with a reason`, () =>
      Effect.gen(function* () {
        const { end, stderr } = yield* run(["relay", ...line.split(" ")])
        assert.include([1, 2], end)
        assert.match(stderr, complaint)
      })
    )
  }

  it.live("says that a port is in use", () =>
    Effect.gen(function* () {
      const relay = yield* startRelay(yield* folder)
      const { host } = new URL(relay.url)
      const { end, stderr } = yield* run(["relay", "--bind", host])
      assert.deepStrictEqual(
        [end, stderr],
        [1, `error: ${host} is in use by another program: stop that one, or choose another port\n`]
      )
    })
  )

  it.live("ends a client that sends too much at once, and no other", () =>
    Effect.gen(function* () {
      const { client, create } = yield* meet()
      const [first, second] = yield* Effect.all([client, client])
      first.raw.send("x".repeat(33 * 1024 * 1024))
      assert.strictEqual((yield* first.ended).code, 1009)
      yield* second.request("session/prompt", prompt(yield* create(second), "still here"))
      assert.strictEqual(second.text(), "still here")
    })
  )

  it.live("bears a flood of bad tokens, and serves who has a good one all the same", () =>
    Effect.gen(function* () {
      const { client, create, relay } = yield* meet()
      const one = yield* client
      const sessionId = yield* create(one)
      const before = residentMiB(relay.pid)
      const statuses = yield* Effect.forEach(
        Array.from({ length: 1_000 }, (_, index) => index),
        (index) =>
          connect(`${relay.url}/ws?token=bad${index}`).pipe(
            Effect.flip,
            Effect.map(({ status }) => status),
            Effect.scoped
          ),
        { concurrency: 50 }
      )
      assert.deepStrictEqual(new Set(statuses), new Set([401, 429]))
      assert.isBelow(statuses.filter((status) => status === 401).length, 80)
      yield* one.request("session/prompt", prompt(sessionId, "still here"))
      assert.strictEqual(one.text(), "still here")
      assert.isBelow(residentMiB(relay.pid) - before, 40)
    })
  )

  it.live("holds little for a client that does not read, while the turn of its agent goes on", () =>
    Effect.gen(function* () {
      const word = "word ".repeat(200)
      const script = {
        steps: [
          {
            parts: [{ repeat: 40_000, text: word }, { tool: { name: "bash", input: { command: "touch done" } } }]
          },
          { parts: [] }
        ]
      }
      /** MiB by which the relay grew in a turn that says 40 MB. */
      const growth = (reads: boolean) =>
        Effect.scoped(
          Effect.gen(function* () {
            const { client, create, cwd, relay } = yield* meet(script)
            const one = yield* client
            const sessionId = yield* create(one, { yoloMode: true })
            const before = residentMiB(relay.pid)
            yield* one.ask("session/prompt", prompt(sessionId, "go"))
            yield* one.hear((message) => JSON.stringify(message).includes(word))
            if (!reads) one.raw.pause()
            yield* until(() => existsSync(join(cwd, "done")))
            const grown = residentMiB(relay.pid) - before
            one.raw.terminate()
            return grown
          })
        )
      const relayed = yield* growth(true)
      assert.isBelow(yield* growth(false), relayed + 40)
    })
  )
})
