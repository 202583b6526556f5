/** `agent daemon` as a person or a service starts it. */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { EventSource } from "undici"
import type { ScriptStep } from "../../src/services/models/script/Script.ts"
import { Browser, missing, visit, wireTo } from "../support/Browser.ts"
import { curl } from "../support/Curl.ts"
import { ask, type Ended, ended, folder, initialize, node, type Options, run, start } from "../support/Program.ts"
import { root } from "../support/Sources.ts"
import { client, firstOf, textOf, typesOf } from "../transports/inbox/support.ts"

const secret = "a-secret-of-the-daemon-tests"

interface Daemon {
  readonly origin: string
  readonly port: number
  readonly home: string
  readonly said: () => string
  readonly signal: (signal: NodeJS.Signals) => Effect.Effect<void>
  readonly ended: Effect.Effect<Ended>
  readonly pid: number
}

interface DaemonOptions {
  readonly args?: ReadonlyArray<string>
  readonly agent?: ReadonlyArray<string>
  readonly env?: Record<string, string>
  readonly home?: string
  readonly bind?: string
}

/** Waits until it serves something. */
const daemon = Effect.fnUntraced(function* (steps: ReadonlyArray<ScriptStep>, options: DaemonOptions = {}) {
  const { agent = [], args = [], bind = "127.0.0.1:0", env = {}, home = yield* folder } = options
  const script = join(home, "script.json")
  writeFileSync(script, JSON.stringify({ steps }))
  const child = yield* start(
    [
      "agent",
      "--model",
      `scripted/${script}`,
      ...agent,
      "daemon",
      "--bind",
      bind,
      "--cwd",
      home,
      "--grace",
      "1",
      ...args
    ],
    { env: { SUPERCHARGE_PASSWORD: secret, SUPERCHARGE_HOME: join(home, "agent"), ...env } }
  )
  let said = ""
  const serves = yield* Deferred.make<number>()
  const gone = yield* Deferred.make<Ended>()
  child.stderr.on("data", (text) => {
    said += text
    const port = / on \S+:(\d+)/.exec(said)?.[1]
    if (port !== undefined && /Sessions go up to|whoever knows/.test(said)) {
      Deferred.doneUnsafe(serves, Effect.succeed(Number(port)))
    }
  })
  const waiting = yield* Effect.forkScoped(ended(child), { startImmediately: true })
  waiting.addObserver((exit) => {
    Deferred.doneUnsafe(gone, exit)
    Deferred.doneUnsafe(serves, Effect.die(new Error(`it ended: ${said}`)))
  })
  const port = yield* Deferred.await(serves)
  const served: Daemon = {
    origin: `http://127.0.0.1:${port}`,
    port,
    home,
    said: () => said,
    signal: (signal) => Effect.sync(() => void child.kill(signal)),
    ended: Deferred.await(gone),
    pid: child.pid ?? 0
  }
  return served
})

const clientOf = ({ origin }: Daemon, token = secret) => client(origin, { authorization: `Bearer ${token}` })

const hello: ReadonlyArray<ScriptStep> = [
  { when: "hang", again: true, parts: [{ text: "Well" }, { hang: true }] },
  { when: "write", parts: [{ tool: { name: "bash", input: { command: "echo yes > result" } } }] },
  { when: "write", parts: [{ text: "Written." }] },
  { again: true, parts: [{ text: "You said " }, { echo: true }] }
]

const refusedStart = (args: ReadonlyArray<string>, env: Options["env"] = {}) =>
  run(["agent", "daemon", ...args], { env: { SUPERCHARGE_PASSWORD: "", ...env } })

describe("agent daemon", () => {
  it.live("refuses to listen for others without a strong secret, and says how to go on", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, Record<string, string>, RegExp]> = [
        [[], {}, /0\.0\.0\.0 can be reached .* there is none.* SUPERCHARGE_PASSWORD .*--bind 127\.0\.0\.1/s],
        [["--secret", "short"], {}, /5 characters, and 16 are the least/],
        [[], { SUPERCHARGE_PASSWORD: "short" }, /5 characters, and 16 are the least/],
        [["--secret", "aaaaaaaaaaaaaaaaaaaa"], {}, /few different characters/],
        [["--bind", "0.0.0.0:0"], {}, /there is none/],
        [[], { SUPERAGENT_BIND: "[::]:0" }, /:: can be reached/]
      ]
      for (const [args, env, words] of cases) {
        const { end, stderr, stdout } = yield* refusedStart(args, env)
        assert.strictEqual(end, 1, stderr)
        assert.match(stderr, words)
        assert.strictEqual(stdout, "")
      }
    })
  )

  it.live("explains a wrong command line with exit code 2", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
        [["--bind", "nowhere:x"], /--bind: "nowhere:x"/],
        [["--cwd", "/no-such-folder"], /does not exist: \/no-such-folder/],
        [["--always-approve"], /stands after the transport's name/]
      ]
      for (const [args, words] of cases) {
        const { end, stderr } = yield* refusedStart(args)
        assert.strictEqual(end, 2, stderr)
        assert.match(stderr, words)
      }
      const both = yield* refusedStart(["--acp", "--companion", "--bind", "127.0.0.1:0"])
      assert.strictEqual(both.end, 1)
      assert.include(both.stderr, "--acp and --companion")
    })
  )

  it.live("makes a secret on the loopback and shows a line for curl that works as it is", () =>
    Effect.gen(function* () {
      const served = yield* daemon(hello, { env: { SUPERCHARGE_PASSWORD: "" } })
      assert.include(served.said(), `serves its HTTP inbox, not ACP, on 127.0.0.1:${served.port}`)
      assert.include(served.said(), "set SUPERCHARGE_PASSWORD to keep one")
      assert.include(served.said(), "Sessions go up to the mode accept-edits")
      const line = /^ {2}(curl .*)$/m.exec(served.said())?.[1] ?? ""
      const { stdout } = yield* shell(line)
      assert.match(stdout, /"type":"text","role":"assistant","text":"You said Hello"/)
      assert.match(stdout, /"type":"done","stopReason":"end_turn"/)
    })
  )

  it.live("takes its address and its secret from the environment, and shows no secret that was given", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const script = join(home, "script.json")
      writeFileSync(script, JSON.stringify({ steps: hello }))
      const child = yield* start(["agent", "--model", `scripted/${script}`, "daemon"], {
        env: { SUPERCHARGE_PASSWORD: secret, SUPERAGENT_BIND: "127.0.0.1:0" }
      })
      let said = ""
      const port = yield* Effect.callback<string>((resume) => {
        child.stderr.on("data", (text) => {
          said += text
          const found = / on 127\.0\.0\.1:(\d+)/.exec(said)?.[1]
          if (found !== undefined && said.includes("Sessions go")) resume(Effect.succeed(found))
        })
      })
      assert.notInclude(said, secret)
      const answer = yield* curl([`http://127.0.0.1:${port}/v1/chat/sessions`, "-H", `authorization: Bearer ${secret}`])
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.body, '{"sessions":[]}')
    })
  )

  it.live("keeps its conversations where ACP clients find them, and takes theirs", () =>
    Effect.gen(function* () {
      const served = yield* daemon(hello)
      const { get, post, say } = clientOf(served)
      const events = yield* (yield* say("Hello")).all
      const { sessionId } = firstOf(events)
      const editor = yield* start(["acp", "--model", `scripted/${join(served.home, "script.json")}`], {
        env: { SUPERCHARGE_HOME: join(served.home, "agent") }
      })
      const heard: Array<string> = []
      editor.stdout.on("data", (text) => heard.push(String(text)))
      yield* ask(editor, initialize)
      const listed = yield* ask(editor, request(1, "session/list", {}))
      assert.deepNestedPropertyVal(listed, "result.sessions[0].sessionId", sessionId)
      const loaded = yield* ask(editor, request(2, "session/load", { sessionId, cwd: served.home, mcpServers: [] }))
      assert.property(loaded, "result")
      assert.include(heard.join(""), "You said Hello")
      const made = yield* ask(editor, request(3, "session/new", { cwd: served.home, mcpServers: [] }))
      const other = String(made.result?.["sessionId"])
      const prompt = [{ type: "text", text: "From the editor" }]
      yield* ask(editor, request(4, "session/prompt", { sessionId: other, prompt }))
      editor.stdin.end()
      yield* ended(editor)
      const { body } = yield* get("/v1/chat/sessions")
      const { sessions } = body as { sessions: ReadonlyArray<{ sessionId: string; title: string }> }
      assert.deepStrictEqual(
        sessions.map(({ sessionId }) => sessionId),
        [other, sessionId]
      )
      const more = yield* post("/v1/chat", { message: "And here", sessionId: other, stream: false })
      assert.deepOwnInclude(more.body, { sessionId: other, text: "You said And here" })
    })
  )

  it.live("goes on where an editor in another process left off, while somebody reads along", () =>
    Effect.gen(function* () {
      const served = yield* daemon(hello)
      const { follow, post, say } = clientOf(served)
      const { id, sessionId } = firstOf((yield* (yield* say("Hello")).all).toReversed())
      const reader = yield* follow(sessionId, id)
      const editor = yield* start(["acp", "--model", `scripted/${join(served.home, "script.json")}`], {
        env: { SUPERCHARGE_HOME: join(served.home, "agent") }
      })
      yield* ask(editor, initialize)
      yield* ask(editor, request(2, "session/load", { sessionId, cwd: served.home, mcpServers: [] }))
      const prompt = [{ type: "text", text: "From the editor" }]
      yield* ask(editor, request(3, "session/prompt", { sessionId, prompt }))
      editor.stdin.end()
      yield* ended(editor)
      // What this process knew of the conversation is out of date, and it does not write over what the other one did.
      const refused = yield* post("/v1/chat", { message: "And here", sessionId, stream: false })
      assert.strictEqual(refused.status, 409)
      assert.include(JSON.stringify(refused.body), "was continued elsewhere")
      const more = yield* post("/v1/chat", { message: "And now", sessionId, stream: false })
      assert.deepOwnInclude(more.body, { text: "You said And now", stopReason: "end_turn" })
      const told = yield* reader.until((event) => event.type === "text" && event.text.includes("And now"))
      assert.include(JSON.stringify(told), "You said From the editor")
    })
  )

  it.live("asks before it runs a command, and not with --always-approve, which it says", () =>
    Effect.gen(function* () {
      const careful = yield* daemon(hello)
      const { post, say } = clientOf(careful)
      const reader = yield* say("write")
      const asked = (yield* reader.until(({ type }) => type === "permission")).at(-1)
      const path = `/v1/chat/permissions/${encodeURIComponent(asked?.id ?? "")}`
      assert.deepStrictEqual((yield* post(path, { optionId: "allow-once" })).body, { ok: true })
      assert.include(typesOf(yield* reader.all), "permission_closed")
      assert.strictEqual(readFileSync(join(careful.home, "result"), "utf8"), "yes\n")
      const trusting = yield* daemon(hello, { agent: ["--always-approve"] })
      assert.include(trusting.said(), "Because of --always-approve, whoever knows the secret can run anything")
      const events = yield* (yield* clientOf(trusting).say("write")).all
      assert.notInclude(typesOf(events), "permission")
      assert.strictEqual(readFileSync(join(trusting.home, "result"), "utf8"), "yes\n")
    })
  )

  it.live("refuses a folder that is not there", () =>
    Effect.gen(function* () {
      const answered = yield* clientOf(yield* daemon(hello)).post("/v1/chat", { message: "Hi", cwd: "/no-such-folder" })
      assert.strictEqual(answered.status, 400)
      assert.include(JSON.stringify(answered.body), "/no-such-folder is not a folder")
    })
  )

  it.live("ends in order on SIGTERM: streams end, a turn is cut off and kept, code 0", () =>
    Effect.gen(function* () {
      const served = yield* daemon(hello)
      const { follow, post, say } = clientOf(served)
      const reader = yield* say("hang")
      const { id, sessionId } = firstOf(yield* reader.until(({ type }) => type === "text"))
      const watching = yield* follow(sessionId, id)
      yield* watching.take(2)
      yield* served.signal("SIGTERM")
      yield* Effect.all([reader.all, watching.all])
      const { end, stdout } = yield* served.ended
      assert.strictEqual(end, 0)
      assert.strictEqual(stdout, "")
      const again = clientOf(yield* daemon(hello, { home: served.home }))
      // The reader goes on in the new process where it was in the old one.
      const rest = yield* (yield* again.follow(sessionId, id)).until(({ type }) => type === "done")
      assert.deepStrictEqual(typesOf(rest), ["text", "done"])
      const more = yield* again.post("/v1/chat", { message: "Again", sessionId, stream: false })
      assert.deepOwnInclude(more.body, { text: "You said Again", stopReason: "end_turn" })
      assert.strictEqual(
        (yield* post("/v1/chat", {}).pipe(Effect.catchDefect(() => Effect.succeed({ status: 0 })))).status,
        0
      )
    })
  )

  it.live("loses nothing of a turn to a reader that comes back by itself, as browsers do", () =>
    Effect.gen(function* () {
      const parts = Array.from({ length: 30 }, (_, index) => [{ text: `${index} ` }, { delayMs: 15 }]).flat()
      const served = yield* daemon([{ parts: [{ text: "Ready" }] }, { parts }])
      const { post } = clientOf(served)
      const wire = yield* wireTo(served.port)
      const { body } = yield* post("/v1/chat", { message: "Hello", stream: false })
      const { sessionId } = body as { sessionId: string }
      const source = yield* Effect.acquireRelease(
        Effect.sync(
          () => new EventSource(`http://127.0.0.1:${wire.port}/v1/chat/events?sessionId=${sessionId}&token=${secret}`)
        ),
        (source) => Effect.sync(() => source.close())
      )
      let text = ""
      let wanted: { readonly fits: () => boolean; readonly found: () => void } | undefined
      const users: Array<string> = []
      source.addEventListener("message", ({ data }) => {
        const event = JSON.parse(data) as { type: string; text: string }
        if (event.type === "text") text += event.text
        if (event.type === "user") users.push(event.text)
        if (wanted?.fits() === true) wanted.found()
      })
      const until = (fits: () => boolean) =>
        Effect.callback<void>((resume) => {
          const found = () => resume(Effect.void)
          if (fits()) found()
          else wanted = { fits, found }
        })
      yield* until(() => text === "Ready")
      yield* Effect.forkScoped(post("/v1/chat", { message: "Go", sessionId, stream: false }))
      for (const number of [3, 9]) {
        yield* until(() => text.includes(` ${number} `))
        yield* wire.cut
        yield* wire.mend()
      }
      yield* until(() => text.endsWith(" 29 "))
      assert.strictEqual(text, `Ready${Array.from({ length: 30 }, (_, index) => `${index} `).join("")}`)
      assert.deepStrictEqual(users, ["Hello", "Go"])
    })
  )

  it.live("holds readers that do not read at a bounded cost", () =>
    Effect.gen(function* () {
      const turns = 12
      const piece = `${"x".repeat(800)} `
      const steps = [{ when: "flood", again: true, parts: [{ text: piece, repeat: 2_000 }] }, ...hello]
      // What can be collected is, so that only what is held counts: about 100 MB, while the collector keeps up.
      const served = yield* daemon(steps, { env: { NODE_OPTIONS: "--max-old-space-size=192" } })
      const { follow, post } = clientOf(served)
      const { body } = yield* post("/v1/chat", { message: "Hello", stream: false })
      const { sessionId } = body as { sessionId: string }
      const flood = post("/v1/chat", { message: "flood", sessionId, stream: false })
      const status = () => readFileSync(`/proc/${served.pid}/status`, "utf8")
      const megabytes = () => Number(/VmRSS:\s+(\d+)/.exec(status())?.[1]) / 1024
      const [reader] = yield* Effect.forEach(Array.from({ length: 20 }), () => follow(sessionId))
      for (let turn = 0; turn < turns; turn++) yield* flood
      // Had anything waited for the readers, it would be 380 MB of bytes alone, more than there is room for.
      assert.isBelow(megabytes(), 450)
      yield* post("/v1/chat", { message: "The end", sessionId, stream: false })
      const told = yield* (
        reader?.until((event) => event.type === "text" && event.text.includes("The end")) ?? assert.fail("no reader")
      )
      assert.strictEqual(textOf(told), `You said Hello${piece.repeat(turns * 2_000)}You said The end`)
    })
  )

  it.live("serves ACP in its place when that is asked for, and says so", () =>
    Effect.gen(function* () {
      const asked = yield* daemon(hello, { args: ["--acp"] })
      assert.include(asked.said(), "serves ACP on 127.0.0.1")
      assert.include(asked.said(), "/ws?server-key=YOUR_SECRET")
      assert.strictEqual((yield* curl([`${asked.origin}/v1/chat`])).status, 404)
      const opened = yield* socket(`ws://127.0.0.1:${asked.port}/ws?server-key=${secret}`)
      assert.nestedPropertyVal(opened, "result.protocolVersion", 1)
      const inbox = yield* daemon(hello)
      const upgrade = yield* curl([
        "--http1.1",
        `${inbox.origin}/ws?server-key=${secret}`,
        "-H",
        "connection: upgrade",
        "-H",
        "upgrade: websocket",
        "-H",
        "sec-websocket-version: 13",
        "-H",
        "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA=="
      ])
      assert.strictEqual(upgrade.status, 404)
      assert.include(
        upgrade.body,
        "The inbox speaks HTTP and not ACP: start the agent with daemon --acp, or with serve"
      )
    })
  )

  it.live("runs the companion that is wanted, and serves ACP where it is missing", () =>
    Effect.gen(function* () {
      const missing = yield* daemon(hello, { args: ["--companion"] })
      assert.match(
        missing.said(),
        /^supercharge-superagent-server is missing: serving ACP over WebSocket instead\nsuper-pi \S+ serves ACP on /
      )
      const place = yield* folder
      const program = join(place, "supercharge-superagent-server")
      mkdirSync(place, { recursive: true })
      writeFileSync(program, '#!/bin/sh\necho "$SUPERAGENT_BIND $SUPERCHARGE_PASSWORD $#"\nexit 7\n')
      chmodSync(program, 0o755)
      const { end, stderr, stdout } = yield* run(["agent", "daemon", "--companion", "--bind", "127.0.0.1:8791"], {
        env: { SUPERCHARGE_PASSWORD: secret, PATH: `${place}:${process.env["PATH"]}` }
      })
      assert.strictEqual(end, 7)
      assert.strictEqual(stdout, `127.0.0.1:8791 ${secret} 0\n`)
      assert.strictEqual(stderr, `Running ${program}, which serves its own HTTP inbox on 127.0.0.1:8791\n`)
    })
  )
})

const request = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params })

/** Runs a line as a person would. */
const shell = (line: string): Effect.Effect<{ readonly stdout: string }> =>
  Effect.callback((resume) => {
    const child = spawn("sh", ["-c", line])
    let stdout = ""
    child.stdout.on("data", (text) => (stdout += text))
    child.on("close", () => resume(Effect.succeed({ stdout })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** What an ACP agent at a WebSocket answers to the first request. */
const socket = (url: string): Effect.Effect<object> =>
  Effect.callback((resume) => {
    const socket = new WebSocket(url)
    socket.addEventListener("open", () => socket.send(JSON.stringify(initialize)))
    socket.addEventListener("message", ({ data }) => {
      resume(Effect.succeed(JSON.parse(String(data))))
      socket.close()
    })
    socket.addEventListener("error", () => resume(Effect.die(new Error("no WebSocket"))))
  })

/** The port of the page, as a person serves it. */
const servePage = Effect.gen(function* () {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(node, [join(root, "examples/inbox/main.ts"), "--port", "0"], { cwd: root })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  return yield* Effect.callback<string>((resume) => {
    child.stdout.on("data", (text) => resume(Effect.succeed(/:(\d+)\//.exec(String(text))?.[1] ?? "")))
  })
})

describe.skipIf(missing !== undefined)(missing ?? "in a browser", () => {
  layer(Browser.layer, { excludeTestServices: true, timeout: "40 seconds" })("the page of the inbox", (it) => {
    it.effect("shows a turn, asks, and goes on after a cut", () =>
      Effect.gen(function* () {
        const served = yield* daemon([
          {
            parts: [{ text: "I <b>write</b> it." }, { tool: { name: "bash", input: { command: "echo yes > result" } } }]
          },
          { parts: [{ text: "It is done." }] },
          { parts: [{ text: "Once more." }] }
        ])
        const wire = yield* wireTo(served.port)
        const page = yield* visit(`http://127.0.0.1:${yield* servePage}/`)
        const sees = (text: string) => Effect.promise(() => page.getByText(text).first().waitFor())
        const send = (text: string) =>
          Effect.promise(async () => {
            await page.getByRole("textbox", { name: "Message" }).fill(text)
            await page.getByRole("button", { name: "Send" }).click()
          })
        yield* Effect.promise(async () => {
          await page.getByLabel("Address").fill(`http://127.0.0.1:${wire.port}`)
          await page.getByLabel("Password").fill("wrong")
          await page.getByRole("button", { name: "Connect" }).click()
        })
        yield* sees("Invalid or missing authorization token")
        yield* Effect.promise(async () => {
          await page.getByLabel("Password").fill(secret)
          await page.getByRole("button", { name: "Connect" }).click()
        })
        yield* sees("Connected")
        yield* send("Write it")
        yield* sees("I <b>write</b> it.")
        yield* wire.cut
        yield* sees("The connection is lost")
        yield* wire.mend()
        yield* Effect.promise(() => page.getByRole("button", { name: "Allow once" }).click())
        yield* sees("It is done.")
        assert.strictEqual(readFileSync(join(served.home, "result"), "utf8"), "yes\n")
        yield* send("Again")
        yield* sees("Once more.")
        const lines = yield* Effect.promise(() => page.locator("#log p").allTextContents())
        assert.deepStrictEqual(lines, [
          "Write it",
          "I <b>write</b> it.",
          "echo yes > result: completed",
          "It is done.",
          "Again",
          "Once more."
        ])
        assert.strictEqual(yield* Effect.promise(() => page.locator("#questions fieldset").count()), 0)
      })
    )
  })
})
