import { client as sdkClient } from "@agentclientprotocol/sdk"
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { once } from "node:events"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import { join } from "node:path"
import { certificate } from "../support/Certificate.ts"
import { curl } from "../support/Curl.ts"
import { gone, isAlive, until } from "../support/Processes.ts"
import { folder, run, start } from "../support/Program.ts"
import * as RawHttp from "../support/RawHttp.ts"
import { at } from "../support/Schema.ts"
import { chunkOf, client, connect, opened, prompt, secret, serve } from "../support/ServeProcess.ts"

const bearer = ["-H", `Authorization: Bearer ${secret}`]
const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1 } }
const withKey = `server-key=${secret}`

const handshake = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
].flatMap((header) => ["-H", header])

/** A turn that goes on until the file is there, and then says what it found. */
const waitsFor = (file: string) => [
  {
    parts: [
      { text: "Waiting. " },
      { tool: { name: "bash", input: { command: `until [ -e ${file} ]; do sleep 0.02; done; echo found` } } }
    ]
  },
  { parts: [{ text: "It is there." }] }
]

const yolo = { agentFlags: ["--always-approve"] }

const rss = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])

const working = (place: string) => Effect.map(curl([`${place}/health`]), ({ body }): number => JSON.parse(body).working)

describe("what it says on start", () => {
  it.live("is on stderr, with a fresh secret of 192 bits in a line that works as it is", () =>
    Effect.gen(function* () {
      const keys: Array<string> = []
      for (let again = 0; again < 2; again++) {
        const server = yield* serve({ env: { SUPERCHARGE_AGENT_SECRET: "" } })
        const [url = "", key = ""] = /ws:\/\/127\.0\.0\.1:\d+\/ws\?server-key=(\S+)/.exec(server.stderr()) ?? []
        assert.strictEqual(Buffer.from(key, "base64url").length, 24)
        assert.include(server.stderr(), "This secret is new and ends with the server: set SUPERCHARGE_AGENT_SECRET")
        assert.include(server.stderr(), "Sessions go up to the mode accept-edits")
        const socket = new globalThis.WebSocket(url)
        yield* Effect.promise(() => once(socket, "open").then(() => undefined))
        socket.close()
        keys.push(key)
        const { end, stdout } = yield* server.stop()
        assert.deepStrictEqual([end, stdout], [0, ""])
      }
      assert.notStrictEqual(keys[0], keys[1])
    })
  )

  for (const [name, options] of [
    ["the variable", {}],
    [
      "the flag, which wins",
      { flags: ["--secret", secret], env: { SUPERCHARGE_AGENT_SECRET: "another-secret-altogether" } }
    ]
  ] as const) {
    it.live(`shows no secret that was given by ${name}, then or later`, () =>
      Effect.gen(function* () {
        const server = yield* serve({ ...options, env: { ...options.env, SUPER_PI_LOG_STDERR: "trace" } })
        const bodies: Array<unknown> = []
        const wrong = ["-H", `Authorization: Bearer ${secret}x`]
        const post = ["-X", "POST", "-H", "Content-Type: application/json", "-d", JSON.stringify(initialize)]
        for (const args of [
          [`${server.http}/ws?${withKey}`],
          [...handshake, `${server.http}/ws?server-key=${secret}x`],
          [...bearer, `${server.http}/nowhere?${withKey}`],
          [...wrong, `${server.http}/acp`],
          [...bearer, ...post, `${server.http}/acp`],
          [...post, `${server.http}/acp?${withKey}`],
          [...bearer, "-H", "Origin: https://evil.example", `${server.http}/acp?${withKey}`]
        ]) {
          bodies.push(yield* curl(args))
        }
        const bare = yield* connect(`${server.ws}/ws?${withKey}`)
        bodies.push(yield* bare.request("initialize", { protocolVersion: 1 }))
        bodies.push(yield* bare.request("session/new", {}), yield* server.stop())
        const told = JSON.stringify(bodies)
        assert.include(told, "protocolVersion")
        assert.notInclude(told, secret)
        assert.include(server.stderr(), "?server-key=YOUR_SECRET")
      })
    )
  }

  it.live("says in words that --always-approve lifts the ceiling, and that a configured ceiling holds it down", () =>
    Effect.gen(function* () {
      const free = yield* serve({ ...yolo, steps: [] })
      assert.include(free.stderr(), "Because of --always-approve, whoever knows the secret can run anything")
      const held = yield* serve({ ...yolo, steps: [], config: '[remote]\nexecution_mode_ceiling = "ask"\n' })
      assert.include(held.stderr(), "Sessions go up to the mode ask; --always-approve does not go beyond")
      const plain = yield* serve({ steps: [] })
      const modes: Array<unknown> = []
      for (const server of [free, held, plain]) {
        const answer = yield* (yield* client(server)).request("session/new", { cwd: yield* folder, mcpServers: [] })
        const available = at(answer, "result", "modes", "availableModes")
        const ids = Array.isArray(available) ? available.map((mode) => at(mode, "id")) : [answer]
        // Which depends on the sandbox of the machine.
        modes.push(ids.filter((id) => id !== "auto"))
      }
      assert.deepStrictEqual(modes, [
        ["plan", "ask", "accept-edits", "always-approve"],
        ["plan", "ask"],
        ["plan", "ask", "accept-edits"]
      ])
    })
  )

  it.live("warns of a weak secret on loopback", () =>
    Effect.gen(function* () {
      const { stderr } = yield* serve({ flags: ["--secret", "hunter2"] })
      assert.match(
        stderr(),
        /^warning: the secret can be guessed, it has 7 characters, and 16 are the least: set SUPER/
      )
    })
  )
})

describe("what it refuses to start with", () => {
  const strong = { SUPERCHARGE_AGENT_SECRET: secret }
  for (const [line, env, code, reason] of [
    [
      "--bind 0.0.0.0:0",
      { SUPERCHARGE_AGENT_SECRET: "" },
      1,
      "a strong secret: there is none. Either set SUPERCHARGE_AGENT_SECRET"
    ],
    ["--bind [::]:0", { SUPERCHARGE_AGENT_SECRET: "password" }, 1, "it has 8 characters"],
    ["--bind 0.0.0.0:0 --secret aaaaaaaaaaaaaaaaaaaaaaa", strong, 1, "few different characters"],
    ["--bind 203.0.113.7:0", strong, 1, "This machine has no address 203.0.113.7"],
    ["--bind :2419", strong, 2, "an address before the port: 127.0.0.1:2419 for this machine only, or 0.0.0.0:2419"],
    ["--bind ::1", strong, 2, "brackets around an IPv6 address, such as [::1]:2419"],
    ["--bind localhost:http", strong, 2, "a port from 0 to 65535"],
    ["--bind ws://localhost:1", strong, 2, "no URL, but 127.0.0.1:2419"],
    ["--grace soon", strong, 2, "--grace"],
    ["--grace -1", strong, 2, "a number of seconds from 0 to 3600"],
    ["--tls-cert package.json", strong, 2, "--tls-cert"],
    ["--yolo", strong, 2, "--yolo stands after the transport's name"]
  ] as const) {
    it.live(`"agent serve ${line}": code ${code}`, () =>
      Effect.gen(function* () {
        const { end, stderr, stdout } = yield* run(["agent", "serve", ...line.split(" ")], { env })
        assert.deepStrictEqual([end, stdout], [code, ""])
        assert.include(stderr, reason)
        assert.notInclude(stderr, "    at ")
      })
    )
  }

  it.live("a port in use, half a certificate, and one that is none", () =>
    Effect.gen(function* () {
      const { port } = yield* serve()
      const { files } = yield* certificate
      for (const [flags, reason] of [
        [["--bind", `127.0.0.1:${port}`], `127.0.0.1:${port} is in use by another program: stop that one, or choose`],
        [["--bind", "0", "--tls-cert", files.cert], "--tls-cert and --tls-key belong together: give both"],
        [["--bind", "0", "--tls-cert", files.key, "--tls-key", files.key], "must be PEM files that belong together"]
      ] as const) {
        const { end, stderr } = yield* run(["agent", "serve", ...flags], { env: strong })
        assert.strictEqual(end, 1)
        assert.include(stderr, reason)
      }
    })
  )

  for (const [bind, host] of [
    ["0", "127.0.0.1"],
    ["localhost:0", "localhost"],
    ["[::1]:0", "[::1]"]
  ] as const) {
    it.live(`but "--bind ${bind}" listens on ${host}`, () =>
      Effect.gen(function* () {
        const server = yield* serve({ flags: ["--bind", bind] })
        assert.strictEqual(server.host, host)
        assert.strictEqual((yield* curl([`http://${host}:${server.port}/health`])).status, 200)
      })
    )
  }
})

describe("who comes in", () => {
  it.live("paths, secrets, pages and names, as curl sees them, over HTTP/1.1 and HTTP/2", () =>
    Effect.gen(function* () {
      const { http } = yield* serve({ flags: ["--allow-origin", "https://ok.example"] })
      const origin = (value: string) => ["-H", `Origin: ${value}`]
      const missing = "Invalid or missing authorization token"
      for (const [args, status, words] of [
        [[`${http}/health`], 200, '{"status":"ok","version":"'],
        [["-X", "POST", `${http}/health`], 405, "GET"],
        [[http], 404, "/ws"],
        [[`${http}/wss`], 404, "/acp"],
        [[`${http}/ws`], 426, "WebSocket"],
        [[`${http}/acp`], 401, missing],
        [["-X", "POST", ...bearer, `${http}/acp`], 415, "application/json"],
        [["-X", "PATCH", ...bearer, `${http}/acp`], 405, ""],
        [
          [...bearer, ...origin("https://evil.example"), `${http}/acp`],
          403,
          "The Origin of the request is not allowed"
        ],
        [[...bearer, "-H", "Host: evil.example", `${http}/acp`], 403, "The Host of the request is not allowed"],
        [[...bearer, ...origin("https://ok.example"), "-H", "Host: ok.example", `${http}/acp`], 406, ""]
      ] as const) {
        for (const version of ["--http1.1", "--http2-prior-knowledge"]) {
          const answer = yield* curl([version, ...args])
          assert.strictEqual(answer.status, status, args.join(" "))
          assert.include(answer.body, words)
        }
      }
      for (const [args, status, words] of [
        [[`${http}/ws`], 401, missing],
        [[`${http}/ws?server-key=wrong`], 401, missing],
        [["-H", "Authorization: Bearer wrong", `${http}/ws?${withKey}`], 401, missing],
        [[`${http}/nowhere?${withKey}`], 404, "/ws"],
        [[...origin("https://evil.example"), `${http}/ws?${withKey}`], 403, "Origin"],
        [[...origin("null"), `${http}/ws?${withKey}`], 403, "Origin"],
        [["-H", "Host: evil.example:80", `${http}/ws?${withKey}`], 403, "Host"]
      ] as const) {
        const answer = yield* curl([...handshake, ...args])
        assert.strictEqual(answer.status, status, args.join(" "))
        assert.include(answer.body, words)
      }
      for (const args of [
        [`${http}/ws?${withKey}`],
        [...bearer, `${http}/acp`],
        [...origin("http://localhost:5173"), `${http}/ws?${withKey}`],
        [...origin("https://ok.example"), `${http}/ws?${withKey}`]
      ]) {
        const { head, status } = yield* curl(["--max-time", "0.3", ...handshake, ...args])
        assert.strictEqual(status, 101, args.join(" "))
        assert.match(head, /acp-connection-id: \S{20}/)
      }
    })
  )

  it.live("a page that may come in can read the answers, and no other can", () =>
    Effect.gen(function* () {
      const { http } = yield* serve()
      const ask = (origin: string, ...args: ReadonlyArray<string>) =>
        curl(["-H", `Origin: ${origin}`, ...args, `${http}/acp`])
      const before = yield* ask("http://localhost:5173", "-X", "OPTIONS", "-H", "Access-Control-Request-Method: POST")
      assert.strictEqual(before.status, 204)
      assert.include(before.head, "access-control-allow-origin: http://localhost:5173")
      assert.match(before.head, /access-control-allow-headers: .*authorization.*acp-session-id/)
      const post = [...bearer, "-H", "Content-Type: application/json", "-d", JSON.stringify(initialize)]
      const after = yield* ask("http://localhost:5173", ...post)
      assert.strictEqual(after.status, 200)
      assert.match(after.head, /access-control-expose-headers: .*acp-connection-id/)
      const foreign = yield* ask("https://evil.example", "-X", "OPTIONS")
      assert.strictEqual(foreign.status, 403)
      assert.notInclude(foreign.head, "access-control")
    })
  )

  it.live("a flood of bad secrets is told to wait, costs no memory, and keeps out nobody else", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const watcher = yield* client(server)
      const agent = new http.Agent({ keepAlive: true, maxSockets: 20 })
      const knock = (options: http.RequestOptions) =>
        Effect.promise(
          () =>
            new Promise<{ readonly status: number; readonly wait: string }>((resolve, reject) => {
              http
                .get(`${server.http}/acp`, { agent, ...options }, (response) => {
                  response.resume()
                  response.on("end", () =>
                    resolve({ status: response.statusCode ?? 0, wait: String(response.headers["retry-after"]) })
                  )
                })
                .on("error", reject)
            })
        )
      const flood = (count: number) =>
        Effect.forEach(
          Array.from({ length: count }),
          (_, index) => knock({ headers: { authorization: `Bearer ${"guess".repeat(500)}${index}` } }),
          { concurrency: 20 }
        )
      const first = yield* flood(2_000)
      const before = rss(server.pid)
      const all = [...first, ...(yield* flood(8_000))]
      const after = rss(server.pid)
      agent.destroy()
      const count = (status: number) => all.filter((answer) => answer.status === status).length
      assert.strictEqual(count(401) + count(429), all.length)
      assert.isBelow(count(401), 20)
      assert.match(all.at(-1)?.wait ?? "", /^[1-6]$/)
      assert.isBelow(after - before, 30_000, `${before} kB before, ${after} kB after`)
      // Another address, and a connection that was there before.
      assert.strictEqual(
        (yield* knock({ localAddress: "127.0.0.2", headers: { authorization: `Bearer ${secret}` } })).status,
        406
      )
      assert.isObject(at(yield* watcher.request("session/list"), "result"))
      assert.strictEqual(server.stderr().split("Too many wrong secrets came from 127.0.0.1").length, 2)
    })
  )
})

describe("WebSockets", () => {
  it.live("the SDK's client with the global class: a session from the first line to the last, at both paths", () =>
    Effect.gen(function* () {
      const server = yield* serve({ steps: [{ again: true, parts: [{ text: "Hello there" }] }] })
      for (const path of ["/ws", "/acp"]) {
        const cwd = yield* folder
        const stream = createWebSocketStream(`${server.ws}${path}?${withKey}`)
        const text = yield* Effect.promise(() =>
          sdkClient({ name: "test" })
            .onNotification("session/update", () => {})
            .connectWith(stream, async (agent) => {
              await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} })
              const session = await agent.buildSession(cwd).start()
              await session.prompt("hello")
              return session.readText()
            })
        )
        assert.strictEqual(text, "Hello there")
      }
    })
  )

  it.live("a browser says the secret in a subprotocol, and gets the other one back", () =>
    Effect.gen(function* () {
      const { ws } = yield* serve()
      const encoded = Buffer.from(secret).toString("base64url")
      const socket = new globalThis.WebSocket(`${ws}/ws`, ["acp", `super-pi.secret.${encoded}`])
      yield* Effect.promise(() => once(socket, "open").then(() => undefined))
      assert.strictEqual(socket.protocol, "acp")
      socket.close()
    })
  )

  it.live("at /acp the first message is initialize with an id, or the end comes with 1002 (WS-01)", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      for (const message of [
        { jsonrpc: "2.0", id: 1, method: "session/list", params: {} },
        { jsonrpc: "2.0", method: "initialize", params: { protocolVersion: 1 } },
        { ...initialize, id: null },
        { jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "x" } }
      ]) {
        const bare = yield* connect(`${server.ws}/acp?${withKey}`)
        yield* bare.send(message)
        assert.match((yield* bare.closed).join(" "), /^1002 .*initialize/)
        assert.deepStrictEqual(bare.messages, [])
      }
    })
  )

  it.live("at /acp binary frames are nothing, what is no message is an error, and initialize comes once", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const bare = yield* connect(`${server.ws}/acp?${withKey}`)
      for (const text of ["ping", "", "no json", "[]", "5"]) yield* bare.send(text)
      yield* bare.send(Buffer.from(JSON.stringify({ ...initialize, id: "binary" })))
      assert.isObject(at(yield* bare.request("initialize", { protocolVersion: 1 }), "result"))
      assert.strictEqual(at(yield* bare.request("initialize", { protocolVersion: 1 }), "error", "code"), -32600)
      const codes = bare.messages
        .filter((message) => at(message, "id") === null)
        .map((message) => at(message, "error", "code"))
      assert.deepStrictEqual(codes, [-32700, -32600, -32600])
      assert.isFalse(bare.messages.some((message) => at(message, "id") === "binary"))
    })
  )

  it.live("at /ws binary frames of UTF-8 are messages, and a request before initialize is answered", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const bare = yield* connect(`${server.ws}/ws?${withKey}`)
      assert.strictEqual(at(yield* bare.request("session/list"), "error", "code"), -32600)
      yield* bare.send(Buffer.from(JSON.stringify({ ...initialize, id: "binary" })))
      yield* bare.find((message) => at(message, "id") === "binary")
    })
  )

  it.live("a message in a thousand fragments is one; one over 32 MiB ends its connection with 1009, and no other", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const steady = yield* client(server)
      const text = JSON.stringify({ ...initialize, params: { protocolVersion: 1, filler: "ü".repeat(20_000) } })
      const bytes = Buffer.from(text)
      const bare = yield* connect(`${server.ws}/ws?${withKey}`)
      for (let from = 0; from < bytes.length; from += 40) {
        const part = bytes.subarray(from, from + 40)
        bare.socket.send(part, { binary: false, fin: from + 40 >= bytes.length })
      }
      yield* bare.find((message) => at(message, "id") === 0)
      yield* bare.send("x".repeat(33 * 1024 * 1024))
      assert.strictEqual((yield* bare.closed)[0], 1009)
      assert.isObject(at(yield* steady.request("session/list"), "result"))
    })
  )

  it.live("200 at a time are served; those beyond 1024 are turned away, and the log says so once", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      yield* client(server)
      const before = rss(server.pid)
      const clients = yield* Effect.forEach(Array.from({ length: 200 }), () => client(server), { concurrency: 20 })
      const answers = yield* Effect.forEach(clients, (bare) => bare.request("session/list"), {
        concurrency: "unbounded"
      })
      assert.isTrue(answers.every((answer) => at(answer, "result") !== undefined))
      const each = (rss(server.pid) - before) / 200
      assert.isBelow(each, 400, `${Math.round(each)} kB a connection`)
      yield* Effect.forEach(Array.from({ length: 823 }), () => client(server), { concurrency: 20 })
      assert.notStrictEqual((yield* curl([`${server.http}/health`])).code, 0)
      yield* server.said("1024 are open, and no more are allowed")
    })
  )

  it.live("a connection that is cut in mid-frame leaves its turn at work, and the next one finds what it did", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const file = join(place, "go")
      const server = yield* serve({ ...yolo, steps: waitsFor(file) })
      const first = yield* client(server)
      const id = yield* opened(first, place)
      yield* first.send(prompt(id))
      yield* first.find((message) => chunkOf(message) === "Waiting. ")
      first.socket.send('{"jsonrpc":"2.0",', { fin: false })
      first.socket.terminate()
      assert.strictEqual(yield* working(server.http), 1)
      writeFileSync(file, "")
      yield* Effect.repeat(working(server.http), { until: (count) => count === 0 })
      const second = yield* client(server)
      yield* second.request("session/load", { sessionId: id, cwd: place, mcpServers: [] })
      assert.isTrue(second.messages.some((message) => chunkOf(message) === "It is there."))
    })
  )

  it.live("everything over TLS: HTTP/2 and HTTP/1.1 for curl, WebSockets for who trusts the certificate", () =>
    Effect.gen(function* () {
      const { cert, files } = yield* certificate
      const server = yield* serve({ flags: ["--tls-cert", files.cert, "--tls-key", files.key] })
      assert.include(server.stderr(), `wss://127.0.0.1:${server.port}/ws?server-key=YOUR_SECRET`)
      for (const [version, line] of [
        ["--http2", "http/2 200"],
        ["--http1.1", "http/1.1 200"]
      ] as const) {
        assert.include((yield* curl([version, "--cacert", files.cert, `${server.http}/health`])).head, line)
      }
      assert.strictEqual((yield* curl([`${server.http}/health`])).code, 60)
      const bare = yield* connect(`${server.ws}/ws?${withKey}`, { ca: cert })
      assert.isObject(at(yield* bare.request("initialize", { protocolVersion: 1 }), "result"))
    })
  )
})

describe("the end", () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it.live(`${signal} tells who is connected, and ends an idle server at once with code 0`, () =>
      Effect.gen(function* () {
        const server = yield* serve()
        const bare = yield* client(server)
        const [time, { end, stdout }] = yield* Effect.timed(server.stop(signal))
        assert.deepStrictEqual([end, stdout], [0, ""])
        assert.deepStrictEqual(yield* bare.closed, [1001, "The server is shutting down"])
        assert.isBelow(Duration.toMillis(time), 1_500)
      })
    )
  }

  it.live("a turn that finishes in time is finished and kept, while nobody comes in any more", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const place = yield* folder
      const file = join(place, "go")
      const server = yield* serve({ ...yolo, home, flags: ["--grace", "20"], steps: waitsFor(file) })
      const bare = yield* client(server)
      const id = yield* opened(bare, place)
      yield* bare.send(prompt(id))
      yield* bare.find((message) => chunkOf(message) === "Waiting. ")
      const stopping = yield* Effect.forkChild(server.stop(), { startImmediately: true })
      assert.strictEqual((yield* bare.closed)[0], 1001)
      yield* server.said("1 session is at work: waiting up to 20s")
      assert.notStrictEqual((yield* curl([`${server.http}/health`])).code, 0)
      writeFileSync(file, "")
      assert.strictEqual((yield* Fiber.join(stopping)).end, 0)
      const next = yield* client(yield* serve({ home, steps: [] }))
      yield* next.request("session/load", { sessionId: id, cwd: place, mcpServers: [] })
      assert.isTrue(next.messages.some((message) => chunkOf(message) === "It is there."))
    })
  )

  it.live("a turn that does not is cancelled, with all that it started", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const place = yield* folder
      const pidFile = join(place, "pid")
      const command = `trap "" TERM HUP INT; echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; sleep 300 & wait`
      const input = { command, unsandboxed: true, reason: "watched by number" }
      const steps = [{ parts: [{ tool: { name: "bash", input } }] }]
      const server = yield* serve({ ...yolo, home, flags: ["--grace", "0.2"], steps })
      const bare = yield* client(server)
      const id = yield* opened(bare, place)
      yield* bare.send(prompt(id))
      yield* until(() => existsSync(pidFile))
      const pid = Number.parseInt(readFileSync(pidFile, "utf8"))
      assert.isTrue(isAlive(pid))
      const [time, { end, stderr }] = yield* Effect.timed(server.stop())
      assert.strictEqual(end, 0)
      assert.include(stderr, "1 session is still at work: that is cancelled now")
      assert.isBelow(Duration.toMillis(time), 4_000)
      yield* gone(pid)
      const next = yield* client(yield* serve({ home, steps: [] }))
      yield* next.request("session/load", { sessionId: id, cwd: place, mcpServers: [] })
      assert.isTrue(next.messages.some((message) => at(message, "params", "update", "status") === "failed"))
    })
  )

  it.live("a second signal does not wait for turns", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const server = yield* serve({ ...yolo, flags: ["--grace", "60"], steps: waitsFor(join(place, "never")) })
      const bare = yield* client(server)
      yield* bare.send(prompt(yield* opened(bare, place)))
      yield* bare.find((message) => chunkOf(message) === "Waiting. ")
      const stopping = yield* Effect.forkChild(server.stop(), { startImmediately: true })
      yield* server.said("waiting up to 1m")
      server.child.kill("SIGTERM")
      assert.strictEqual((yield* Fiber.join(stopping)).end, 143)
    })
  )

  it.live("streams of events over HTTP end in order", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const streams = yield* Effect.forEach([1, 2] as const, (version) =>
        Effect.gen(function* () {
          const raw = yield* RawHttp.connect(version, server.http)
          const authorization = `Bearer ${secret}`
          const { headers } = yield* raw.request({
            method: "POST",
            path: "/acp",
            headers: { authorization, "content-type": "application/json" },
            body: initialize
          })
          const connection = { authorization, "acp-connection-id": headers["acp-connection-id"] ?? "" }
          return yield* raw.events(connection, "/acp")
        })
      )
      assert.deepStrictEqual(
        streams.map(({ status }) => status),
        [200, 200]
      )
      assert.strictEqual((yield* server.stop()).end, 0)
      for (const stream of streams) assert.isTrue(yield* stream.ended)
    })
  )
})

describe("stdio", () => {
  it.live("still ends with the code of the signal", () =>
    Effect.gen(function* () {
      const child = yield* start(["agent", "stdio"])
      child.stdin.write(`${JSON.stringify(initialize)}\n`)
      yield* Effect.promise(() => once(child.stdout, "data").then(() => undefined))
      child.kill("SIGTERM")
      const [code] = yield* Effect.promise(() => once(child, "close"))
      assert.strictEqual(code, 143)
    })
  )
})
