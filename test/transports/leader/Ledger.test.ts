import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ledger from "../../../src/transports/leader/Ledger.ts"
import { call, cancel, failure, note, result } from "../../support/Link.ts"

const Message = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.optionalKey(Schema.Unknown),
    method: Schema.optionalKey(Schema.String),
    params: Schema.optionalKey(Schema.Unknown),
    result: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(Schema.Struct({ code: Schema.Int, message: Schema.String }))
  })
)
type Message = typeof Message.Type
const read = Schema.decodeSync(Message)

/** A ledger between messages. */
const bookkeeping = () => {
  const ledger = Ledger.make()
  const messages = ({ toEditor, toLeader, warnings }: Ledger.Moves) => ({
    toEditor: toEditor.map((line): unknown => JSON.parse(line)),
    toLeader: toLeader.map((line): unknown => JSON.parse(line)),
    ...(warnings === undefined ? {} : { warnings })
  })
  return {
    ledger,
    editor: (message: unknown) => messages(ledger.fromEditor(JSON.stringify(message))),
    leader: (message: unknown) => messages(ledger.fromLeader(JSON.stringify(message))),
    connected: () => messages(ledger.connected()),
    lost: () => messages(ledger.lost()),
    tell: (line: string) => messages(ledger.tell(line))
  }
}

const place = { cwd: "/work", mcpServers: [{ name: "m", command: "m", args: [], env: [] }] }
const update = (entry: string, sessionUpdate = "agent_message_chunk", sessionId = "s-1") =>
  note("session/update", { sessionId, update: { sessionUpdate }, _meta: { superPi: { entry } } })

/** An editor that is initialized and has one session open. */
const opened = () => {
  const book = bookkeeping()
  book.connected()
  book.editor(call(0, "initialize", { protocolVersion: 1 }))
  book.leader(result(0, { protocolVersion: 1 }))
  book.editor(call(1, "session/new", { ...place, _meta: { yoloMode: true } }))
  book.leader(result(1, { sessionId: "s-1" }))
  return book
}

describe("Ledger", () => {
  it("passes lines on as they are, white space and unknown keys included", () => {
    const { ledger } = bookkeeping()
    ledger.connected()
    const odd = '{ "jsonrpc":"2.0", "id":9007199254740993, "method":"initialize", "x":1.0 }'
    assert.deepStrictEqual(ledger.fromEditor(odd).toLeader, [odd])
    const answer = '{"id": 9007199254740993, "jsonrpc":"2.0", "result":{"a":1e2}}'
    assert.deepStrictEqual(ledger.fromLeader(answer).toEditor, [answer])
    for (const line of ["no json", "[]", '{"jsonrpc":"2.0","method":"$/x"}', '{"jsonrpc":"2.0"}']) {
      assert.deepStrictEqual(ledger.fromEditor(line).toLeader, [line])
    }
    const refusal = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}'
    assert.deepStrictEqual(ledger.fromLeader(refusal).toEditor, [refusal])
  })

  it("refuses an id that is in use, which a leader would have to do otherwise", () => {
    const { editor } = opened()
    editor(call("a", "session/list", {}))
    const { toEditor, toLeader } = editor(call("a", "session/list", {}))
    assert.deepStrictEqual(toLeader, [])
    assert.nestedInclude(toEditor[0], { id: "a", "error.code": -32600 })
  })

  it("answers what waits when the leader goes, and says of a prompt that it may have run", () => {
    const { editor, leader, lost } = opened()
    editor(call(2, "session/prompt", { sessionId: "s-1", prompt: [] }))
    editor(call(3, "session/list", {}))
    leader(call(0, "session/request_permission", { sessionId: "s-1" }))
    const [withdrawn, prompt, list] = lost().toEditor
    assert.deepStrictEqual(withdrawn, cancel(0))
    assert.nestedInclude(prompt, { id: 2, "error.code": -32603 })
    assert.match(JSON.stringify(prompt), /the prompt may have run in part/)
    assert.nestedInclude(list, { id: 3, "error.code": -32603 })
    assert.match(JSON.stringify(list), /send it again/)
  })

  it("asks the next leader for what the editor has open, from where the editor was told", () => {
    const { connected, editor, leader, ledger, lost } = opened()
    leader(update("7.12"))
    editor(call(2, "session/prompt", { sessionId: "s-1", prompt: [] }))
    lost()
    assert.isFalse(ledger.isUp())
    const [initialize] = connected().toLeader
    assert.deepInclude(initialize, { method: "initialize", params: { protocolVersion: 1 } })
    const idOf = (message: unknown) => (message as Message).id
    const [load] = leader(result(idOf(initialize), { protocolVersion: 1 })).toLeader
    // The wishes of its beginning are in its log; asked again, they would undo what was chosen since.
    assert.deepInclude(load, {
      method: "session/load",
      params: { sessionId: "s-1", ...place, _meta: { superPi: { after: "7.12" } } }
    })
    // Its own prompt is no news to the editor, all else is.
    assert.deepStrictEqual(leader(update("8", "user_message_chunk")).toEditor, [])
    assert.deepStrictEqual(leader(update("9")).toEditor, [update("9")])
    assert.deepStrictEqual(leader(result(idOf(load), {})).toEditor, [
      note("x.ai/leader_reconnected", { sessionId: "s-1" })
    ])
    assert.isTrue(ledger.isUp())
    assert.deepStrictEqual(leader(update("10", "user_message_chunk")).toEditor, [update("10", "user_message_chunk")])
    lost()
    const again = connected().toLeader[0]
    const [reload] = leader(result(idOf(again), {})).toLeader
    assert.nestedInclude(reload, { "params._meta.superPi.after": "10" })
  })

  it("resumes what the editor was never told of, signs in again, and forgets what is closed or gone", () => {
    const { connected, editor, leader, ledger, lost } = opened()
    const reply = (message: unknown, value: object = {}) => leader(result((message as Message).id, value))
    editor(call(2, "session/load", { sessionId: "s-2", cwd: "/b", mcpServers: [] }))
    leader(result(2, {}))
    editor(call(3, "session/close", { sessionId: "s-2" }))
    leader(result(3, {}))
    editor(call(4, "_superpi/session/fork", { sessionId: "s-1", cwd: "/c" }))
    leader(result(4, { sessionId: "s-3" }))
    editor(call(5, "authenticate", { methodId: "gateway-token" }))
    leader(result(5, {}))
    lost()
    const initialize = connected().toLeader[0]
    const authenticate = reply(initialize).toLeader[0]
    assert.deepInclude(authenticate, { method: "authenticate", params: { methodId: "gateway-token" } })
    const first = reply(authenticate).toLeader[0]
    assert.deepInclude(first, { method: "session/resume", params: { sessionId: "s-1", ...place } })
    const gone = leader(failure((first as Message).id, -32002, "Session s-1 does not exist"))
    assert.deepStrictEqual(gone.warnings, ["Session s-1 could not be opened again: Session s-1 does not exist"])
    const second = gone.toLeader[0]
    assert.deepInclude(second, { method: "session/resume", params: { sessionId: "s-3", cwd: "/c" } })
    assert.deepStrictEqual(reply(second).toEditor, [note("x.ai/leader_reconnected", { sessionId: "s-3" })])
    assert.isTrue(ledger.isUp())
  })

  it("asks a next leader what the first one was asked and never answered, initialize, in the editor's name", () => {
    const { connected, editor, leader, ledger, lost } = bookkeeping()
    connected()
    editor(call("i", "initialize", { protocolVersion: 1 }))
    assert.deepStrictEqual(lost().toEditor, [])
    assert.deepStrictEqual(connected().toLeader, [call("i", "initialize", { protocolVersion: 1 })])
    assert.isTrue(ledger.isUp())
    assert.deepStrictEqual(leader(result("i", {})).toEditor, [result("i", {})])
  })

  it("tells an editor that has nothing open of the next leader, too", () => {
    const { connected, editor, leader, lost } = bookkeeping()
    connected()
    editor(call(0, "initialize", {}))
    leader(result(0, {}))
    lost()
    const [again] = connected().toLeader
    assert.deepStrictEqual(leader(result((again as Message).id, {})).toEditor, [note("x.ai/leader_reconnected", {})])
  })

  it("holds back what it has to tell until the editor is initialized", () => {
    const { connected, editor, leader, tell } = bookkeeping()
    connected()
    const news = note("x.ai/leader/version_mismatch", {})
    assert.deepStrictEqual(tell(JSON.stringify(news)).toEditor, [])
    editor(call(0, "initialize", {}))
    assert.deepStrictEqual(leader(result(0, {})).toEditor, [result(0, {}), news])
  })
})

const kinds = ["ask", "note", "answer", "respond", "question", "takeBack", "lose", "connect"] as const
const methods = ["session/new", "session/prompt", "session/load", "session/close", "authenticate", "logout", "x"]
const Step = Schema.Struct({ kind: Schema.Literals(kinds), n: Schema.Natural, ok: Schema.Boolean })
const Steps = Schema.Array(Step).check(Schema.isMinLength(20), Schema.isMaxLength(80))

/** Takes one of those that wait, if any. */
const take = <A>(waiting: Array<A>, n: number): A | undefined => waiting.splice(n % Math.max(waiting.length, 1), 1)[0]

const keepsTheBooks = (steps: ReadonlyArray<typeof Step.Type>) =>
  Effect.sync(() => {
    const ledger = Ledger.make()
    /** What the editor has to say while no leader takes it. */
    const held: Array<string> = []
    const asked = new Map<string, number>()
    const answered = new Map<string, number>()
    const questions: Array<Message> = []
    /** Every question that the editor was ever asked: an answer of it may still be held when the question is withdrawn. */
    const known = new Set<unknown>()
    let atLeader: Array<Message> = []
    let open = new Map<unknown, string>()
    let generation = 0
    let counted = 0
    let connected = false
    let said = 0

    const count = (counts: Map<string, number>, id: unknown) =>
      counts.set(JSON.stringify(id), (counts.get(JSON.stringify(id)) ?? 0) + 1)

    const apply = ({ toEditor, toLeader }: Ledger.Moves): void => {
      for (const message of toEditor.map((line) => read(line))) {
        if (message.method === undefined) count(answered, message.id)
        else if (message.id !== undefined) {
          questions.push(message)
          known.add(message.id)
        } else if (message.method === "$/cancel_request") {
          const id = (message.params as { readonly requestId: unknown }).requestId
          const index = questions.findIndex((question) => question.id === id)
          assert.isTrue(known.has(id) || connected, "a question that nobody asked is taken back")
          // Now and then the editor answers all the same.
          if (index !== -1 && said++ % 2 === 0) questions.splice(index, 1)
        }
      }
      for (const message of toLeader.map((line) => read(line))) {
        assert.isTrue(connected)
        if (message.method !== undefined && message.id !== undefined) atLeader.push(message)
        if (message.method !== undefined) continue
        const token = open.get(message.id)
        assert.isDefined(token, "an answer to what this leader did not ask")
        assert.deepStrictEqual(message.result, { token })
        open.delete(message.id)
      }
    }

    const say = (message: object): void => {
      held.push(JSON.stringify(message))
      pass()
    }
    const pass = (): void => {
      while (ledger.isUp() && held.length > 0) apply(ledger.fromEditor(held.shift() ?? ""))
    }
    const respond = (n: number, ok: boolean): void => {
      const request = take(atLeader, n)
      if (request === undefined) return
      const { id } = request
      const value = { sessionId: `s-${n % 3}` }
      apply(ledger.fromLeader(JSON.stringify(ok ? result(id, value) : failure(id, -32603, "no"))))
      pass()
    }
    const connect = (): void => {
      connected = true
      generation++
      counted = 0
      open = new Map()
      apply(ledger.connected())
      pass()
    }

    for (const { kind, n, ok } of steps) {
      switch (kind) {
        case "ask": {
          const method = asked.size === 0 ? "initialize" : methods[n % methods.length]
          const id = n % 7
          count(asked, id)
          say(call(id, method ?? "x", { sessionId: `s-${n % 3}`, cwd: "/", mcpServers: [] }))
          break
        }
        case "note":
          say(note("session/cancel", { sessionId: "s-1" }))
          break
        case "answer": {
          const question = take(questions, n)
          if (question !== undefined) say(result(question.id, question.params))
          break
        }
        case "respond":
          if (connected) respond(n, ok)
          break
        case "question":
          if (connected) {
            const token = `${generation}:${counted}`
            open.set(counted, token)
            apply(ledger.fromLeader(JSON.stringify(call(counted++, "session/request_permission", { token }))))
          }
          break
        case "takeBack": {
          const [id] = open.keys()
          // The leader drops an answer that comes all the same, so no line of it may reach a question of that id.
          if (connected && id !== undefined) {
            apply(ledger.fromLeader(JSON.stringify(cancel(id))))
            open.delete(id)
          }
          break
        }
        case "lose":
          if (connected) {
            connected = false
            atLeader = []
            apply(ledger.lost())
          }
          break
        case "connect":
          if (!connected) connect()
      }
    }
    if (!connected) connect()
    while (atLeader.length > 0) respond(0, true)
    assert.deepStrictEqual(held, [])
    assert.strictEqual(ledger.open(), 0)
    assert.deepStrictEqual(Object.fromEntries(answered), Object.fromEntries(asked))
  })

describe("Ledger, in any order of events", () => {
  it.effect.prop(
    "each request of the editor gets one answer, and each answer of the editor reaches its own question or none",
    [Steps],
    ([steps]) => keepsTheBooks(steps),
    { arbitrary: { runs: 500 } }
  )

  it.effect("an answer that is held while its question is withdrawn reaches nobody", () =>
    keepsTheBooks(
      [
        ["connect"],
        ["ask"],
        ["question"],
        ["respond", 0, true],
        ["lose"],
        ["connect"],
        ["question"],
        ["ask"],
        ["question"],
        ["answer", 3],
        ["takeBack"],
        ["lose"],
        ["answer"]
      ].map(([kind, n, ok]) => Schema.decodeUnknownSync(Step)({ kind, n: n ?? 0, ok: ok ?? false }))
    )
  )
})
