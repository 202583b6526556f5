// A server over stdio whose faults are named by its arguments. Says its process id, and what it was given, on request.
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

const faults = new Set(process.argv.slice(2))
const has = (fault) => faults.has(fault)
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const text = (text) => ({ content: [{ type: "text", text }] })

if (has("dies-at-once")) {
  process.stderr.write(`no such account: ${process.env.ODD_TOKEN}\n`)
  process.exit(3)
}
if (has("noisy")) process.stdout.write(`Server is ready, token ${process.env.ODD_TOKEN}\n\n{"half":\n[1]\n`)
if (has("floods"))
  for (let line = 0; line < 20_000; line++) process.stderr.write(`${"x".repeat(200)} ${process.env.ODD_TOKEN}\n`)
if (has("floods-output")) {
  for (let line = 0; line < 100_000; line++) process.stdout.write(`progress ${line} ${"x".repeat(100)}\n`)
}
if (has("stubborn")) {
  process.on("SIGTERM", () => {})
  setInterval(() => {}, 1_000)
}
// Longer than any test waits for it to be gone, and short enough to be no burden where nobody ends it.
const child = has("has-child") ? spawn("sleep", ["20"], { stdio: "ignore" }) : undefined

const tools = ["where", "die", "hang", "many", "odd", "fail", "secret", "a.b c"].map((name) => ({
  name,
  inputSchema: { type: "object", properties: { n: { type: "number" } }, $schema: "x", "x-own": true }
}))

// Behind names of their own, so that the rest keeps its tools.
for (const name of [
  "grow",
  "ask",
  "ask-page",
  "page-first",
  "slow",
  "chatter",
  "endless-line",
  "roots",
  "sample",
  "asks-twice"
]) {
  if (has(name)) tools.push({ name, inputSchema: { type: "object" } })
}

let lists = 0
let asked = 0
const waiting = new Map()
const ask = (method, params) =>
  new Promise((resolve) => {
    asked += 1
    waiting.set(`ask-${asked}`, resolve)
    send({ id: `ask-${asked}`, method, params })
  })
const form = { type: "object", properties: { colour: { type: "string", title: "Colour" } }, required: ["colour"] }
const page = { mode: "url", message: "Sign in", url: "https://example.org/in", elicitationId: "e-1" }

const call = {
  grow: () => {
    tools.push({ name: "grown", inputSchema: { type: "object" } })
    for (let time = 0; time < 50; time++) send({ method: "notifications/tools/list_changed" })
    return text("grew")
  },
  chatter: () => {
    for (let time = 0; time < 100_000; time++) {
      send({ method: "notifications/message", params: { level: "info", data: "x".repeat(50) } })
      if (time % 100 === 0) send({ id: `c-${time}`, method: "elicitation/create", params: {} })
    }
    return text("said it all")
  },
  "endless-line": () => {
    const part = "y".repeat(1024 * 1024)
    for (let time = 0; time < 40; time++) process.stdout.write(part)
  },
  grown: () => text("grown up"),
  ask: async () =>
    text(JSON.stringify(await ask("elicitation/create", { message: "Which one?", requestedSchema: form }))),
  "asks-twice": async () =>
    text(
      JSON.stringify([await ask("elicitation/create", { message: "Any?", requestedSchema: 7 }), await ask("no/such")])
    ),
  "ask-page": async () => text(JSON.stringify(await ask("elicitation/create", page))),
  "page-first": () => ({ error: { code: -32042, message: "not signed in", data: { elicitations: [page] } } }),
  roots: async () => text(JSON.stringify(await ask("roots/list"))),
  sample: async () => text(JSON.stringify(await ask("sampling/createMessage", { messages: [], maxTokens: 1 }))),
  slow: async ({ n, wait = 30 }, { progressToken }) => {
    for (let step = 1; step <= n; step++) {
      await new Promise((resolve) => setTimeout(resolve, wait))
      send({
        method: "notifications/progress",
        params: {
          progressToken,
          progress: step,
          total: n,
          message: `step ${step}${has("tells") ? ` with ${process.env.ODD_TOKEN}` : ""}`
        }
      })
    }
    return text("slow but done")
  },
  where: () => text(JSON.stringify({ pid: process.pid, child: child?.pid, cwd: process.cwd(), env: process.env })),
  die: () => {
    process.stderr.write("out of memory\n")
    process.exit(1)
  },
  hang: () => undefined,
  many: ({ n }) => text("é".repeat(n)),
  odd: () => ({ content: [{ type: "hologram", depth: 3 }, { type: "text" }], structuredContent: { a: [1] } }),
  fail: () => ({ ...text("that went wrong"), isError: true }),
  secret: () => text(`the token is ${process.env.ODD_TOKEN} in ${process.env.ODD_MODE}`),
  "a.b c": () => text("odd name")
}

const welcome = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: "odd", version: "1" }
}

const answer = {
  initialize: ({ capabilities }) => {
    if (has("hangs")) return undefined
    if (has("late")) {
      return new Promise((resolve) => setTimeout(() => resolve(welcome), Number(process.env.ODD_DELAY ?? 300)))
    }
    if (has("capabilities")) process.stderr.write(`capabilities ${JSON.stringify(capabilities)}\n`)
    if (has("pings")) send({ id: "from-server", method: "ping" })
    return {
      protocolVersion: has("future") ? `2099-01-01 ${process.env.ODD_TOKEN}` : "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "odd", version: "1" }
    }
  },
  "tools/list": ({ cursor }) => {
    if (has("refuses")) return { error: { code: -32001, message: `${process.env.ODD_TOKEN} is not allowed` } }
    if (has("lists-once") && cursor === undefined && (lists += 1) > 1) return undefined
    if (has("endless")) return { tools: tools.slice(0, 1), nextCursor: `${Number(cursor ?? 0) + 1}` }
    return cursor === undefined
      ? { tools: tools.slice(0, 4), nextCursor: "2" }
      : { tools: [...tools.slice(4), { name: 7 }] }
  },
  "tools/call": ({ _meta, arguments: input, name }) => call[name](input, _meta ?? {})
}

const heard = []
const input = createInterface({ input: process.stdin })
if (!has("stubborn")) input.on("close", () => process.exit(0))
input.on("line", async (line) => {
  const { error, id, method, params, result } = JSON.parse(line)
  heard.push(method ?? result)
  if (method === "notifications/cancelled") process.stderr.write(`cancelled ${params.requestId}\n`)
  if (id === "from-server") process.stderr.write("pong\n")
  if (method === undefined) waiting.get(id)?.(result ?? { error })
  if (method === undefined || id === undefined) return
  if (answer[method] === undefined) return send({ id, error: { code: -32601, message: `no ${method}` } })
  const outcome = await answer[method](params)
  if (outcome !== undefined) send(outcome.error === undefined ? { id, result: outcome } : { id, ...outcome })
})
