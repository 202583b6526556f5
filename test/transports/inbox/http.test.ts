/** The inbox as a server: who gets in, what a request may be, and whether the document tells the truth. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import { agentLayer } from "../../support/agents.ts"
import { completed } from "../../support/fakeTools.ts"
import { type Answered, type Client, client, inbox, secret, textOf, typesOf } from "./support.ts"

const script = [
  { when: "hang", again: true, parts: [{ text: "Well" }, { hang: true }] },
  { when: "run", again: true, parts: [{ tool: { name: "bash", input: { value: "ls" } } }] },
  { when: "flood", parts: [{ text: `${"x".repeat(4_000)} `, repeat: 6_000 }] },
  { again: true, parts: [{ text: "Fine" }] }
] as const

const bash = {
  run: () => Effect.succeed(completed("ran")),
  access: { _tag: "Execute", command: "make", cwd: "/" }
} as const

const layer = () => agentLayer({ script, tools: { bash } })

const errorOf = ({ body }: Answered): string =>
  typeof body === "object" && body !== null && "error" in body && typeof body["error"] === "string"
    ? body["error"]
    : assert.fail(JSON.stringify(body))

const field = ({ body }: Answered, name: string): string => {
  const value =
    typeof body === "object" && body !== null && !Array.isArray(body)
      ? Object.entries(body).find(([key]) => key === name)?.[1]
      : undefined
  return typeof value === "string" ? value : assert.fail(JSON.stringify(body))
}

describe("who gets in", () => {
  it.live("has the secret in a header or in the address; everybody else gets 401 and JSON", () =>
    Effect.gen(function* () {
      const { get, origin } = yield* inbox()
      const anybody = client(origin, {})
      const path = "/v1/chat/sessions"
      assert.strictEqual((yield* get(path)).status, 200)
      for (const query of [`?token=${secret}`, `?server-key=${secret}`]) {
        assert.strictEqual((yield* anybody.get(`${path}${query}`)).status, 200, query)
        // A header decides alone.
        assert.strictEqual((yield* anybody.get(`${path}${query}`, { authorization: "Bearer wrong" })).status, 401)
      }
      for (const wrong of [path, `${path}?token=`, "/v1/chat/events", "/api/me", "/api/instances/local"]) {
        const refused = yield* anybody.get(wrong)
        assert.strictEqual(refused.status, 401, wrong)
        assert.strictEqual(errorOf(refused), "Invalid or missing authorization token")
        assert.include(refused.headers.get("content-type"), "application/json")
      }
      assert.strictEqual((yield* anybody.post("/v1/chat", { message: "Hi" })).status, 401)
      for (const open of ["/health", "/v1/health"]) {
        assert.deepStrictEqual((yield* anybody.get(open)).body, { ok: true, busy: false, agent: "Super-Pi" })
      }
    }).pipe(Effect.provide(layer()))
  )

  it.live("gets a token for the password, which is good in its place and is not the secret", () =>
    Effect.gen(function* () {
      const { origin } = yield* inbox()
      const anybody = client(origin, {})
      const login = yield* anybody.post("/api/auth/login", { password: secret })
      const token = field(login, "token")
      assert.deepOwnInclude(login.body, { user: { id: "local", email: "local@localhost" } })
      assert.notInclude(token, secret)
      const me = yield* anybody.get("/api/me", { authorization: `Bearer ${token}` })
      assert.deepStrictEqual(me.body, { id: "local", email: "local@localhost" })
      const reader = yield* anybody.follow(undefined, undefined, { authorization: `Bearer ${token}` })
      assert.strictEqual(reader.status, 200)
      assert.strictEqual((yield* anybody.get(`/api/me?token=${token}`)).status, 200)
      const [end = "", proof = ""] = token.split(".")
      const later = (Number.parseInt(end, 36) + 1).toString(36)
      for (const forged of [`${later}.${proof}`, `${end}.${proof.slice(1)}`, `${end}.`, `0.${proof}`, proof]) {
        assert.strictEqual((yield* anybody.get("/api/me", { authorization: `Bearer ${forged}` })).status, 401, forged)
      }
      const wrong = yield* anybody.post("/api/auth/login", { password: "wrong" })
      assert.strictEqual(wrong.status, 401)
      assert.notInclude(JSON.stringify(wrong.body), "wrong")
    }).pipe(Effect.provide(layer()))
  )

  it.live("has to wait after many wrong secrets, by every way they can be given", () =>
    Effect.gen(function* () {
      for (const attempt of [
        (anybody: Client) => anybody.get("/api/me", { authorization: "Bearer wrong" }),
        (anybody: Client) => anybody.get("/api/me?token=wrong"),
        (anybody: Client) => anybody.post("/api/auth/login", { password: "wrong" })
      ]) {
        const { get, origin } = yield* inbox()
        const anybody = client(origin, {})
        const statuses = new Set<number>()
        let last: Answered | undefined
        for (let count = 0; count < 60; count++) {
          last = yield* attempt(anybody)
          statuses.add(last.status)
        }
        assert.deepStrictEqual([...statuses], [401, 429])
        if (last !== undefined) assert.include(errorOf(last), "wait")
        assert.strictEqual((yield* get("/api/me")).status, 429)
        // Whoever watches over the server still sees that it lives.
        assert.strictEqual((yield* anybody.get("/health")).status, 200)
      }
    }).pipe(Effect.provide(layer()))
  )

  it.live("comes by a name and a page that the server knows", () =>
    Effect.gen(function* () {
      const { get, origin } = yield* inbox()
      const page = "http://localhost:5173"
      const known = yield* get("/api/me", { origin: page })
      assert.strictEqual(known.headers.get("access-control-allow-origin"), page)
      assert.strictEqual(known.headers.get("vary")?.toLowerCase(), "origin")
      assert.isNull((yield* get("/api/me")).headers.get("access-control-allow-origin"))
      for (const path of ["/api/me", "/health", "/v1/chat/events"]) {
        const strange = yield* get(path, { origin: "https://evil.example" })
        assert.strictEqual(strange.status, 403, path)
        assert.include(errorOf(strange), "--allow-origin")
        assert.isNull(strange.headers.get("access-control-allow-origin"))
      }
      const asking = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" }
      const preflight = (from: string) =>
        client(origin, {}).request("/v1/chat", { method: "OPTIONS", headers: { origin: from, ...asking } })
      const allowed = yield* preflight(page)
      assert.strictEqual(allowed.status, 204)
      assert.include(allowed.headers.get("access-control-allow-headers"), "last-event-id")
      assert.isNull((yield* preflight("https://evil.example")).headers.get("access-control-allow-origin"))
    }).pipe(Effect.provide(layer()))
  )
})

describe("a request", () => {
  it.live("that is wrong is answered with what is wrong about it", () =>
    Effect.gen(function* () {
      const { ask, follow, get, post } = yield* inbox()
      const json = { "content-type": "application/json" }
      const sent = (body: string, headers: Record<string, string> = json) =>
        ask("/v1/chat", { method: "POST", body, headers })
      const cases: ReadonlyArray<readonly [Effect.Effect<Answered>, number, string]> = [
        [post("/v1/chat"), 400, "message"],
        [post("/v1/chat", { message: " " }), 400, "message"],
        [post("/v1/chat", { message: 7 }), 400, '["message"]'],
        [post("/v1/chat", { message: "Hi", stream: "yes" }), 400, '["stream"]'],
        [post("/v1/chat", { message: "Hi", cwd: "here" }), 400, "absolute"],
        [post("/v1/chat", { message: "Hi", cwd: "/no-such-folder" }), 400, "/no-such-folder is not a folder"],
        [post("/v1/chat", { message: "Hi", sessionId: "none" }), 404, "none"],
        [post("/v1/chat/stop", { sessionId: "none" }), 404, "none"],
        [get("/v1/chat/events?sessionId=none"), 404, "none"],
        [post("/v1/chat/permissions/none", { optionId: "x" }), 404, "not open"],
        [post("/v1/chat/permissions/none", {}), 400, "optionId"],
        [get("/v1/chat/sessions?cursor=%00"), 400, "cursor"],
        [post("/api/instances/local/chat", { text: "" }), 400, "text"],
        [post("/api/auth/login", {}), 400, "password"],
        [sent("{"), 400, "JSON"],
        [sent("{}", { "content-type": "application/x-www-form-urlencoded" }), 415, "application/json"],
        [sent("{}", { "content-type": "text/plain" }), 415, "application/json"],
        [get("/nothing"), 404, "/openapi.json"],
        [ask("/v1/chat", { method: "PUT" }), 404, "/openapi.json"],
        [post("/v1/chat", { message: "x".repeat(2 * 1024 * 1024) }), 413, "2097152"]
      ]
      for (const [asked, status, words] of cases) {
        const answered = yield* asked
        assert.strictEqual(answered.status, status, JSON.stringify(answered.body))
        assert.include(errorOf(answered), words)
      }
      assert.strictEqual((yield* follow()).status, 200)
      assert.deepStrictEqual((yield* get("/v1/chat/sessions")).body, { sessions: [] })
    }).pipe(Effect.provide(layer()))
  )

  it.live("whose body has no end in sight is cut off", () =>
    Effect.gen(function* () {
      const { ask } = yield* inbox()
      const piece = new TextEncoder().encode("x".repeat(65_536))
      let sent = 0
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          sent += piece.length
          if (sent > 64 * 1024 * 1024) controller.close()
          else controller.enqueue(piece)
        }
      })
      const headers = { "content-type": "application/json" }
      const init = { method: "POST", headers, body, duplex: "half" } as const
      const answered = yield* ask("/v1/chat", init)
      assert.strictEqual(answered.status, 413)
      assert.isBelow(sent, 16 * 1024 * 1024)
    }).pipe(Effect.provide(layer()))
  )
})

describe("conversations", () => {
  it.live("are listed, each with its folder, and one is the active one of a client that names none", () =>
    Effect.gen(function* () {
      const { get, post } = yield* inbox("/tmp")
      const base = "/api/instances/local/chat"
      const opened = yield* post(`${base}/conversations`, { cwd: "/usr" })
      const first = field(opened, "sessionId")
      assert.deepOwnInclude((yield* get(`${base}/conversations`)).body, { conversations: [], activeSessionId: first })
      const posted = yield* post(base, { text: "Hello" })
      assert.deepStrictEqual(posted.body, { ok: true, queued: false, sessionId: first })
      const answer = yield* post("/v1/chat", { message: "And here", stream: false })
      const second = field(answer, "sessionId")
      const listed = yield* get("/v1/chat/sessions")
      const { sessions } = listed.body as { sessions: ReadonlyArray<{ sessionId: string; cwd: string; title: string }> }
      assert.deepStrictEqual(
        sessions.map(({ cwd, sessionId, title }) => ({ cwd, sessionId, title })),
        [
          { cwd: "/tmp", sessionId: second, title: "And here" },
          { cwd: "/usr", sessionId: first, title: "Hello" }
        ]
      )
      assert.lengthOf(((yield* get("/v1/chat/sessions?cwd=/usr")).body as { sessions: [] }).sessions, 1)
      const elsewhere = yield* post("/v1/chat", { message: "Hi", sessionId: first, cwd: "/tmp" })
      assert.strictEqual(elsewhere.status, 400)
      assert.include(errorOf(elsewhere), "works in /usr")
      yield* post(`${base}/conversations`, { sessionId: second })
      assert.deepOwnInclude((yield* get(`${base}/conversations`)).body, { activeSessionId: second })
    }).pipe(Effect.provide(layer()))
  )

  it.live("tell a web client whether its prompt waits, and that the agent is busy", () =>
    Effect.gen(function* () {
      const { follow, get, post } = yield* inbox()
      const base = "/api/instances/local/chat"
      const reader = yield* follow()
      const { body } = yield* post(base, { text: "hang" })
      assert.deepOwnInclude(body, { queued: false })
      yield* reader.until(({ type }) => type === "text")
      assert.deepOwnInclude((yield* post(base, { text: "Hello" })).body, { ok: true, queued: true })
      assert.deepOwnInclude((yield* get("/health")).body, { busy: true })
      assert.deepOwnInclude((yield* get("/api/instances/local")).body, { liveState: "working" })
      assert.deepOwnInclude((yield* post(`${base}/stop`)).body, { ok: true })
      const rest = yield* reader.until((event) => event.type === "done" && event.stopReason === "end_turn")
      assert.deepStrictEqual(typesOf(rest), ["done", "user", "typing", "text", "done"])
      assert.deepOwnInclude((yield* get("/health")).body, { busy: false })
    }).pipe(Effect.provide(layer()))
  )
})

it.live("a reader that does not read costs no more than what is kept, holds nothing up, and misses nothing", () =>
  Effect.gen(function* () {
    const { follow, post } = yield* inbox()
    const opened = yield* post("/api/instances/local/chat/conversations")
    const sessionId = field(opened, "sessionId")
    const reader = yield* follow(sessionId)
    const before = process.memoryUsage().heapUsed
    // 24 MB in 6,000 pieces, which is more than the feed keeps and than sockets take.
    yield* post("/v1/chat", { message: "flood", sessionId, stream: false })
    yield* post("/v1/chat", { message: "Hi", sessionId, stream: false })
    globalThis.gc?.()
    assert.isBelow(process.memoryUsage().heapUsed - before, 400 * 1024 * 1024)
    const events = yield* reader.until((event) => event.type === "text" && event.text === "Fine")
    assert.strictEqual(textOf(events), `${`${"x".repeat(4_000)} `.repeat(6_000)}Fine`)
  }).pipe(Effect.provide(layer()))
)

describe("the OpenAPI document", () => {
  it.live("names every path, and each answer is as it says", () =>
    Effect.gen(function* () {
      const place = yield* inbox()
      const { get, post, say } = place
      const document = (yield* client(place.origin, {}).get("/openapi.json")).body as unknown as Document
      const ajv = new Ajv2020({ strict: false })
      ajv.addSchema({ $id: "document", ...document })
      const validate = (pointer: string, value: unknown, what: string): void => {
        const check = ajv.getSchema(`document#${pointer}`) ?? assert.fail(`no schema at ${pointer}`)
        assert.isTrue(check(value), `${what}: ${JSON.stringify(check.errors)} in ${JSON.stringify(value)}`)
      }
      const answerAt = (path: string, method: string, status: number, type: string): string =>
        `/paths/${path.replaceAll("~", "~0").replaceAll("/", "~1")}/${method}/responses/${status}/content/${type.replace("/", "~1")}/schema`

      const asking = yield* say("run")
      const asked = (yield* asking.until(({ type }) => type === "permission")).at(-1)
      const id = asked?.id ?? ""
      const bodies: Record<string, object | undefined> = {
        "/v1/chat": { message: "Hi", stream: false },
        "/v1/chat/permissions/{id}": { optionId: "reject-once" },
        "/api/auth/login": { password: secret },
        "/api/instances/local/chat": { text: "Hi" }
      }
      const seen: Array<string> = []
      // What stops turns comes last, so that the question stays open for as long as it is needed.
      const isStop = ([path]: readonly [string, unknown]) => /\/(stop|restart)$/.test(path)
      const items = Object.entries(document.paths)
      for (const [path, item] of [...items.filter((item) => !isStop(item)), ...items.filter(isStop)]) {
        for (const [method, { security, responses }] of Object.entries(item)) {
          const what = `${method} ${path}`
          const url = path.replace("{id}", encodeURIComponent(id))
          const content = responses["200"]?.content ?? {}
          seen.push(what)
          if (method === "get" && "text/event-stream" in content) {
            const reader = yield* place.follow(asked?.sessionId)
            for (const event of yield* reader.take(3)) {
              assert.property(content["text/event-stream"]?.schema.properties, "data", what)
              validate("/components/schemas/InboxEvent", event, what)
            }
            continue
          }
          const answered = method === "get" ? yield* get(url) : yield* post(url, bodies[path] ?? {})
          assert.strictEqual(answered.status, 200, `${what}: ${JSON.stringify(answered.body)}`)
          validate(answerAt(path, method, 200, "application/json"), answered.body, what)
          if (security.length === 0) continue
          const refused = yield* client(place.origin, {}).ask(url, { method: method.toUpperCase() })
          assert.strictEqual(refused.status, 401, what)
          validate(answerAt(path, method, 401, "application/json"), refused.body, what)
        }
      }
      yield* asking.all
      assert.sameMembers(seen, [
        "get /health",
        "get /v1/health",
        "post /v1/chat",
        "get /v1/chat/events",
        "post /v1/chat/stop",
        "get /v1/chat/sessions",
        "get /v1/chat/permissions",
        "post /v1/chat/permissions/{id}",
        "post /api/auth/login",
        "get /api/me",
        "get /api/instances",
        "get /api/instances/local",
        "get /api/instances/local/config",
        "get /api/instances/local/cli-version",
        "post /api/instances/local/wake",
        "post /api/instances/local/restart",
        "get /api/instances/local/chat/conversations",
        "post /api/instances/local/chat/conversations",
        "post /api/instances/local/chat",
        "post /api/instances/local/chat/stop",
        "get /api/instances/local/chat/events"
      ])
      const missing = yield* post("/v1/chat", { message: "Hi", sessionId: "none" })
      validate(answerAt("/v1/chat", "post", 404, "application/json"), missing.body, "404")
      assert.deepStrictEqual(Object.keys(document.components.securitySchemes), ["bearer"])
    }).pipe(Effect.provide(layer()))
  )
})

interface Document {
  readonly components: { readonly securitySchemes: Record<string, object> }
  readonly paths: Record<
    string,
    Record<
      string,
      {
        readonly security: ReadonlyArray<object>
        readonly responses: Record<
          string,
          { readonly content: Record<string, { readonly schema: { readonly properties?: Record<string, object> } }> }
        >
      }
    >
  >
}
