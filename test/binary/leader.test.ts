import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Schema from "effect/Schema"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { dirname, join } from "node:path"
import { version } from "../../src/domain/Version.ts"
import type { ScriptStep } from "../../src/services/models/script/Script.ts"
import { outputOf } from "../support/Calls.ts"
import * as Client from "../support/Client.ts"
import { makeSession } from "../support/ClientSession.ts"
import { calls, hangs, says, yolo } from "../support/Harness.ts"
import { isAlive, until } from "../support/Processes.ts"
import { ended, folder, run, start } from "../support/Program.ts"
import { at } from "../support/Schema.ts"
import { bridge, leader, leaderPlace, prepareHome } from "../support/transports/Leader.ts"

/** A home, and the place of a leader of its own. */
const setUp = Effect.fnUntraced(function* (steps: ReadonlyArray<ScriptStep> = [], config?: string) {
  const home = join(yield* folder, "home")
  const cwd = yield* folder
  prepareHome({ home, script: { steps }, ...(config === undefined ? {} : { config }) })
  const place = yield* leaderPlace
  const env = { HOME: home, SUPERCHARGE_HOME: home, SUPERCHARGE_LEADER_SOCKET: place.socket }
  const editor = (flags: ReadonlyArray<string> = []) =>
    Effect.gen(function* () {
      const channel = yield* bridge(place, { home }, flags)
      const client = yield* Client.open({ ...leader, open: () => Effect.succeed(channel) }, { home })
      return { channel, client }
    })
  const open = Effect.fnUntraced(function* ({ client }: { readonly client: Client.Client }, meta: object = yolo) {
    yield* client.initialize()
    const opened = yield* client.request("session/new", { cwd, mcpServers: [], _meta: { ...meta } })
    return makeSession(client, "", cwd, opened.sessionId, opened)
  })
  return {
    home,
    cwd,
    place,
    env,
    editor,
    open,
    /** A command about the leader. */
    command: (...args: ReadonlyArray<string>) => run(["leader", ...args], { env }),
    /** A leader that was not started by an editor. */
    lead: Effect.fnUntraced(function* (...flags: ReadonlyArray<string>) {
      const child = yield* start(["agent", "leader", ...flags], { env })
      const ending = yield* Effect.forkScoped(ended(child), { startImmediately: true })
      return { pid: child.pid ?? 0, ended: Fiber.join(ending) }
    }),
    leading: until(() => place.pid() !== 0 && existsSync(place.socket))
  }
})

const notified = (client: Client.Client, method: string, since = 0) =>
  client.transcript.find(
    ({ from, message }) => (from === "agent" && message.method === method ? message : undefined),
    since
  )

/** Greets a leader by hand; its reply. */
const greet = (socket: string, hello: object): Effect.Effect<Record<string, Schema.Json>> =>
  Effect.callback((resume) => {
    const client = connect(socket, () => client.write(`${JSON.stringify({ pid: process.pid, ...hello })}\n`))
    client.setEncoding("utf8")
    client.once("data", (text: string) => {
      client.destroy()
      resume(Effect.succeed(JSON.parse(text)))
    })
  })

/** The processes that lead there, or want to. */
const leadersAt = (socket: string): ReadonlyArray<number> =>
  readdirSync("/proc").flatMap((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
      return words.includes(socket) && words.includes("agent") && isAlive(Number(pid)) ? [Number(pid)] : []
    } catch {
      return []
    }
  })

const modeOf = (path: string): number => statSync(path).mode & 0o777

describe("a leader", () => {
  it.live("is started once for editors that start at once, and is theirs alone", () =>
    Effect.gen(function* () {
      const { command, editor, place } = yield* setUp()
      const editors = yield* Effect.all([editor(), editor(), editor()], { concurrency: "unbounded" })
      yield* Effect.forEach(editors, ({ client }) => client.initialize(), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        [dirname(place.socket), place.socket, place.socket.replace(".sock", ".log")].map(modeOf),
        [0o700, 0o600, 0o600]
      )
      assert.isTrue(statSync(place.socket).isSocket())
      const listed: ReadonlyArray<Schema.Json> = JSON.parse((yield* command("list", "--json")).stdout)
      assert.sameMembers(
        listed.map((client) => at(client, "pid")),
        editors.map(({ channel }) => channel.pid)
      )
      for (const client of listed) {
        assert.deepInclude(client, { kind: "acp", version, working: [] })
        assert.match(String(at(client, "since")), /^\d{4}-\d\d-\d\dT/)
      }
      const text = (yield* command("list")).stdout
      assert.strictEqual(text.trim().split("\n").length, 3)
      assert.include(text, `acp\tpid ${editors[0].channel.pid}\tversion ${version}\tsince `)
      const about = JSON.parse((yield* command("info", "--json")).stdout)
      assert.deepInclude(about, {
        pid: place.pid(),
        version,
        protocol: 1,
        socket: place.socket,
        clients: 3,
        working: []
      })
      assert.isAtLeast(about.uptimeSeconds, 0)
      const { stdout } = yield* command("info")
      for (const line of [`pid\t${place.pid()}`, `socket\t${place.socket}`, "clients\t3", "turns\tidle"]) {
        assert.include(stdout, line)
      }
    })
  )

  it.live("is one however often editors race for it, also over what a killed one left", () =>
    Effect.gen(function* () {
      const { editor, place } = yield* setUp()
      for (let round = 0; round < 10; round++) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const editors = yield* Effect.all([editor(), editor(), editor()], { concurrency: "unbounded" })
            yield* Effect.forEach(editors, ({ client }) => client.initialize(), { concurrency: "unbounded" })
            // One that came second may still be on its way out.
            yield* until(() => leadersAt(place.socket).length === 1)
            assert.deepStrictEqual(leadersAt(place.socket), [place.pid()])
          })
        )
        yield* place.kill
        assert.isTrue(existsSync(place.socket))
      }
    })
  )

  it.live("refuses a folder that others may enter, with the remedy, and answers what was asked", () =>
    Effect.gen(function* () {
      const { editor, place } = yield* setUp()
      chmodSync(dirname(place.socket), 0o755)
      const { channel, client } = yield* editor()
      const error = yield* Effect.flip(client.initialize())
      assert.strictEqual(error.code, -32603)
      assert.include(error.message, "is open to others (mode 755): run chmod 700")
      assert.strictEqual(yield* channel.ended, 1)
      assert.include(channel.log(), "With --no-leader the editor gets an agent of its own")
    })
  )

  it.live("refuses to be where something else is, and a path that is too long", () =>
    Effect.gen(function* () {
      const { env, place } = yield* setUp()
      writeFileSync(place.socket, "precious")
      const { end, stderr } = yield* run(["agent", "leader"], { env })
      assert.strictEqual(end, 1)
      assert.include(stderr, `${place.socket} is there and is no socket: remove it, or choose another`)
      const long = `/tmp/${"x".repeat(120)}/leader.sock`
      const refused = yield* run(["acp", "--leader", "--leader-socket", long], { env })
      assert.strictEqual(refused.end, 1)
      assert.match(
        refused.stderr,
        /has 137 bytes, and a Unix socket takes 103: choose a shorter one with --leader-socket/
      )
    })
  )

  it.live("is used where the configuration says so, and not with --no-leader", () =>
    Effect.gen(function* () {
      const { env, home, place } = yield* setUp()
      writeFileSync(join(home, "config.toml"), "[cli]\nuse_leader = true\n")
      const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1 } }
      const say = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const child = yield* start(args, { env })
        child.stdin.end(`${JSON.stringify(initialize)}\n`)
        return yield* ended(child)
      })
      const own = yield* say("acp", "--no-leader")
      assert.deepStrictEqual([own.end, JSON.parse(own.stdout).id, place.pid()], [0, 0, 0])
      for (const line of [["acp"], ["agent", "stdio"], ["agent", "--leader", "stdio"]]) {
        const { end, stdout } = yield* say(...line)
        assert.deepStrictEqual([end, JSON.parse(stdout).id], [0, 0])
        assert.isAbove(place.pid(), 0)
      }
    })
  )

  it.live("says so when there is none", () =>
    Effect.gen(function* () {
      const { command, place } = yield* setUp()
      for (const name of ["list", "info", "stop"]) {
        const { end, stderr, stdout } = yield* command(name)
        assert.deepStrictEqual([end, stdout], [1, ""])
        assert.include(stderr, `error: There is no leader at ${place.socket}`)
      }
    })
  )
})

describe("the end of a leader", () => {
  it.live("comes when the last editor is gone, unless it is told to stay", () =>
    Effect.gen(function* () {
      const { command, editor, lead, leading, place } = yield* setUp()
      const first = yield* lead("--idle-seconds", "0", "--no-exit-on-disconnect")
      yield* leading
      const one = yield* editor()
      yield* one.client.initialize()
      assert.strictEqual(yield* one.client.end, 0)
      assert.strictEqual(JSON.parse((yield* command("list", "--json")).stdout).length, 0)
      assert.isTrue(isAlive(place.pid()))
      assert.include((yield* command("stop")).stdout, `The leader (pid ${first.pid}) has ended`)
      assert.strictEqual((yield* first.ended).end, 0)
      assert.isFalse(existsSync(place.socket))
    })
  )

  it.live("waits for a turn that a killed editor left behind, and for nothing else", () =>
    Effect.gen(function* () {
      const command = "until [ -e go ]; do sleep 0.02; done; echo gone on"
      const { cwd, editor, lead, leading, open, place } = yield* setUp([
        calls(["bash", { command }]),
        says("Finished alone")
      ])
      const child = yield* lead("--idle-seconds", "1")
      yield* leading
      const one = yield* editor()
      const session = yield* open(one)
      const turn = yield* session.prompt()
      yield* turn.told("tool_call_update", ({ status }) => status === "in_progress")
      yield* one.channel.kill
      yield* one.channel.ended
      assert.isTrue(isAlive(place.pid()))
      writeFileSync(join(cwd, "go"), "")
      assert.strictEqual((yield* child.ended).end, 0)
      const next = yield* editor()
      yield* next.client.initialize()
      const asked = yield* next.client.ask("session/load", { sessionId: session.id, cwd, mcpServers: [] })
      yield* asked.answer
      const said = JSON.stringify(makeSession(next.client, "", cwd, session.id, {}).updates(asked.at))
      for (const words of ["gone on", "Finished alone"]) assert.include(said, words)
    })
  )

  it.live("comes in mid-turn when it is stopped: turns finish, or are cancelled after the grace", () =>
    Effect.gen(function* () {
      const { command, cwd, editor, lead, leading, open, place } = yield* setUp([
        { ...calls(["bash", { command: "touch begun; until [ -e go ]; do sleep 0.02; done" }]), when: "finish" },
        { ...says("Finished in time"), when: "finish" },
        { ...hangs, when: "hang" }
      ])
      const child = yield* lead("--grace", "1")
      yield* leading
      const one = yield* editor()
      const finishing = yield* open(one)
      const hanging = yield* one.client.request("session/new", { cwd, mcpServers: [], _meta: yolo })
      const finished = yield* finishing.prompt("finish")
      const hung = yield* makeSession(one.client, "", cwd, hanging.sessionId, hanging).prompt("hang")
      yield* until(() => existsSync(join(cwd, "begun")))
      const [stopped] = yield* Effect.all(
        [
          command("stop", "--json"),
          Effect.gen(function* () {
            yield* until(() => !existsSync(place.socket))
            writeFileSync(join(cwd, "go"), "")
            assert.strictEqual((yield* finished.answer).stopReason, "end_turn")
            assert.strictEqual(finished.text(), "Finished in time")
            assert.strictEqual((yield* hung.answer).stopReason, "cancelled")
          })
        ],
        { concurrency: 2 }
      )
      assert.deepStrictEqual(JSON.parse(stopped.stdout), { stopped: child.pid })
      assert.strictEqual((yield* child.ended).end, 0)
    })
  )

  it.live("is in order on SIGTERM, too", () =>
    Effect.gen(function* () {
      const { editor, lead, leading, open, place } = yield* setUp([{ parts: [{ text: "Begun" }, { hang: true }] }])
      const child = yield* lead("--grace", "0")
      yield* leading
      const one = yield* editor()
      const turn = yield* (yield* open(one)).prompt()
      yield* turn.told("agent_message_chunk")
      process.kill(place.pid(), "SIGTERM")
      assert.strictEqual((yield* turn.answer).stopReason, "cancelled")
      assert.strictEqual((yield* child.ended).end, 0)
      assert.isFalse(existsSync(place.socket))
    })
  )
})

describe("a bridge", () => {
  it.live("outlives its leader in mid-turn, and has the session open again in the next one", () =>
    Effect.gen(function* () {
      const { cwd, editor, open, place } = yield* setUp([
        { parts: [{ text: "Half an ans" }, { tool: { name: "bash", input: { command: "sleep 60" } } }], when: "first" },
        { ...says("All of it"), when: "second", again: true }
      ])
      const one = yield* editor()
      const session = yield* open(one)
      const first = yield* session.prompt("first")
      yield* first.told("tool_call_update", ({ status }) => status === "in_progress")
      // A fork is made of what is on the disk, so now all of this is.
      yield* one.client.raw("_superpi/session/fork", { sessionId: session.id, cwd, mcpServers: [] })
      const before = place.pid()
      yield* place.kill
      const error = yield* Effect.flip(first.answer)
      assert.strictEqual(error.code, -32603)
      assert.include(error.message, "the prompt may have run in part")
      const lost = yield* first.answeredAt
      const back = yield* notified(one.client, "x.ai/leader_reconnected", lost)
      assert.deepStrictEqual(back.params, { sessionId: session.id })
      assert.notStrictEqual(place.pid(), before)
      // What the editor had not seen: the call that the crash left open has failed. Its own prompt is nothing new.
      const told = session.updates(lost)
      assert.deepStrictEqual(
        told.flatMap((update) => (update.sessionUpdate === "tool_call_update" ? [update.status] : [])),
        ["failed"]
      )
      const kinds = told.map(({ sessionUpdate }) => sessionUpdate)
      assert.notInclude(kinds, "user_message_chunk")
      assert.notInclude(kinds, "agent_message_chunk")
      const second = yield* session.run("second")
      assert.deepStrictEqual([second.response.stopReason, second.text()], ["end_turn", "All of it"])
      assert.deepStrictEqual((yield* one.client.request("session/list", { cwd })).sessions.length, 2)
      assert.strictEqual(yield* one.client.end, 0)
    })
  )

  it.live("takes back the questions of a leader that is gone, and gives their answers to no other", () =>
    Effect.gen(function* () {
      const { cwd, editor, open, place } = yield* setUp([
        { ...calls(["bash", { command: "touch first" }]), when: "first" },
        { ...calls(["bash", { command: "touch second" }]), when: "second" },
        { ...says("Done"), when: "second" }
      ])
      const one = yield* editor()
      const session = yield* open(one, {})
      const first = yield* session.prompt("first")
      const question = yield* session.asked("session/request_permission")
      yield* place.kill
      yield* question.withdrawn
      yield* Effect.flip(first.answer)
      yield* notified(one.client, "x.ai/leader_reconnected")
      const second = yield* session.prompt("second")
      const next = yield* session.asked("session/request_permission")
      assert.notStrictEqual(next.id, question.id)
      // An approval that was meant for the first leader must approve nothing here.
      yield* one.client.line(
        JSON.stringify({
          jsonrpc: "2.0",
          id: question.id,
          result: { outcome: { outcome: "selected", optionId: "allow-once" } }
        })
      )
      yield* one.client.barrier
      assert.isFalse(existsSync(join(cwd, "second")))
      yield* next.answer({ outcome: { outcome: "selected", optionId: "allow-once" } })
      assert.strictEqual((yield* second.answer).stopReason, "end_turn")
      assert.deepStrictEqual([existsSync(join(cwd, "first")), existsSync(join(cwd, "second"))], [false, true])
    })
  )

  it.live("is back after leader stop, with a leader of its own start", () =>
    Effect.gen(function* () {
      const { command, editor, open, place } = yield* setUp([{ ...says("Hello"), again: true }])
      const one = yield* editor()
      const session = yield* open(one)
      yield* session.run()
      const before = place.pid()
      assert.strictEqual((yield* command("stop")).end, 0)
      yield* notified(one.client, "x.ai/leader_reconnected")
      assert.notStrictEqual(place.pid(), before)
      assert.strictEqual((yield* session.run()).response.stopReason, "end_turn")
    })
  )

  it.live("ends the turns of its editor with the input, and leaves those of others alone", () =>
    Effect.gen(function* () {
      const { cwd, editor, open } = yield* setUp([
        {
          ...calls(["bash", { command: "echo pid $$; sleep 300", unsandboxed: true, reason: "watched by number" }]),
          when: "mine"
        },
        { ...calls(["bash", { command: "until [ -e go ]; do sleep 0.02; done" }]), when: "yours" },
        { ...says("Untouched"), when: "yours" }
      ])
      const mine = yield* editor()
      const yours = yield* editor()
      const one = yield* (yield* open(mine)).prompt("mine")
      const other = yield* (yield* open(yours)).prompt("yours")
      const shown = yield* one.told("tool_call_update", (update) => /pid \d+/.test(outputOf(update)))
      const pid = Number(/pid (\d+)/.exec(outputOf(shown))?.[1])
      assert.isTrue(isAlive(pid))
      assert.strictEqual(yield* mine.client.end, 0)
      assert.strictEqual((yield* Effect.flip(one.answer)).code, -32800)
      yield* until(() => !isAlive(pid))
      writeFileSync(join(cwd, "go"), "")
      assert.strictEqual((yield* other.answer).stopReason, "end_turn")
      assert.strictEqual(other.text(), "Untouched")
    })
  )

  it.live("gives new sessions the model and the mode of its own flags", () =>
    Effect.gen(function* () {
      const { editor, open } = yield* setUp([{ ...calls(["bash", { command: "echo ran" }]), again: true }], "")
      const bold = yield* editor(["--always-approve"])
      const careful = yield* editor()
      assert.strictEqual((yield* open(bold, {})).modes?.currentModeId, "always-approve")
      assert.strictEqual((yield* open(careful, {})).modes?.currentModeId, "ask")
      const planner = yield* open(yield* editor(["--always-approve"]), { harness: "super-pi-planner" })
      assert.strictEqual(planner.modes?.currentModeId, "plan")
      const unknown = yield* editor(["--model", "nobody/nothing"])
      const error = yield* Effect.flip(open(unknown, {}))
      assert.strictEqual(error.code, -32602)
      assert.include(error.message, "nobody/nothing")
    })
  )

  it.live("shares a session with another editor: updates in one order, one question, the first answer", () =>
    Effect.gen(function* () {
      const { cwd, editor, open } = yield* setUp([
        calls(["bash", { command: "touch approved" }]),
        { parts: Array.from({ length: 40 }, (_, index) => ({ text: `${index} ` })) }
      ])
      const one = yield* editor()
      const other = yield* editor()
      const session = yield* open(one, {})
      const turn = yield* session.prompt("go")
      const asked = yield* session.asked("session/request_permission")
      yield* other.client.initialize()
      const opened = yield* other.client.request("session/load", { sessionId: session.id, cwd, mcpServers: [] })
      const watched = makeSession(other.client, "", cwd, session.id, opened)
      const alsoAsked = yield* watched.asked("session/request_permission")
      yield* alsoAsked.answer({ outcome: { outcome: "selected", optionId: "allow-once" } })
      yield* asked.withdrawn
      assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
      assert.isTrue(existsSync(join(cwd, "approved")))
      yield* notified(other.client, "_superpi/session/activity")
      yield* other.client.barrier
      const textIn = (updates: ReturnType<typeof session.updates>) =>
        updates
          .flatMap((update) => (update.sessionUpdate === "agent_message_chunk" ? [at(update, "content", "text")] : []))
          .join("")
      const expected = Array.from({ length: 40 }, (_, index) => `${index} `).join("")
      assert.deepStrictEqual([textIn(session.updates()), textIn(watched.updates())], [expected, expected])
    })
  )
})

/** Something that greets like a leader of that version; `protocol` is what it speaks. */
const impostor = (socket: string, greeting: object) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      mkdirSync(dirname(socket), { recursive: true, mode: 0o700 })
      const server = createServer((client) => {
        client.on("error", () => {})
        client.setEncoding("utf8")
        let greeted = false
        client.on("data", (text: string) => {
          for (const line of text.trim().split("\n")) {
            const { id } = JSON.parse(line)
            if (!greeted) client.write(`${JSON.stringify(greeting)}\n`)
            else if (id !== undefined)
              client.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: 1 } })}\n`)
            greeted = true
          }
        })
      })
      server.listen(socket, () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  )

describe("another version", () => {
  for (const [age, leaderVersion] of [
    ["older", "0.0.9"],
    ["newer", "7.0.0"]
  ] as const) {
    it.live(`that is ${age} is used, and said on stderr and to the editor`, () =>
      Effect.gen(function* () {
        const { editor, place } = yield* setUp()
        yield* impostor(place.socket, { superPiLeader: 1, version: leaderVersion, pid: process.pid })
        const { channel, client } = yield* editor()
        yield* client.initialize()
        const { params } = yield* notified(client, "x.ai/leader/version_mismatch")
        assert.deepInclude(params, { clientVersion: version, leaderVersion })
        assert.match(
          String(at(params, "message")),
          age === "older" ? /run super-pi leader stop/ : /start the agent again/
        )
        assert.include(channel.log(), `The leader (pid ${process.pid}) is version ${leaderVersion}`)
        yield* channel.kill
      })
    )
  }

  it.live("of the leader's protocol is refused, with the remedy", () =>
    Effect.gen(function* () {
      const { editor, lead, leading, place } = yield* setUp()
      const other = { superPiLeader: 2, version: "7.0.0", pid: process.pid, refused: "run super-pi leader stop" }
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* impostor(place.socket, other)
          const { channel, client } = yield* editor()
          assert.include((yield* Effect.flip(client.initialize())).message, "run super-pi leader stop")
          assert.strictEqual(yield* channel.ended, 1)
        })
      )
      // The real one, in use, and a program of another protocol.
      yield* lead()
      yield* leading
      const { client } = yield* editor()
      yield* client.initialize()
      const reply = yield* greet(place.socket, { superPiLeader: 2, version: "7.0.0", role: "acp" })
      assert.deepInclude(reply, { superPiLeader: 1, version, pid: place.pid() })
      assert.match(
        String(at(reply, "refused")),
        /speaks leader protocol 1 .* and this program 2 .*: run super-pi leader stop/
      )
    })
  )

  it.live("that is newer takes the place of a leader that nobody uses, and of no other", () =>
    Effect.gen(function* () {
      const { editor, lead, leading, place } = yield* setUp()
      const child = yield* lead()
      yield* leading
      const one = yield* editor()
      yield* one.client.initialize()
      const newer = { superPiLeader: 1, version: "7.0.0", role: "acp" }
      assert.notProperty(yield* greet(place.socket, newer), "refused")
      assert.strictEqual(yield* one.client.end, 0)
      const retired = yield* greet(place.socket, newer)
      assert.propertyVal(retired, "retiring", true)
      assert.strictEqual((yield* child.ended).end, 0)
    })
  )
})
