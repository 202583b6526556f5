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

const call = {
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

const answer = {
  initialize: () => {
    if (has("hangs")) return undefined
    if (has("pings")) send({ id: "from-server", method: "ping" })
    return {
      protocolVersion: has("future") ? `2099-01-01 ${process.env.ODD_TOKEN}` : "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "odd", version: "1" }
    }
  },
  "tools/list": ({ cursor }) => {
    if (has("refuses")) return { error: { code: -32001, message: `${process.env.ODD_TOKEN} is not allowed` } }
    if (has("endless")) return { tools: tools.slice(0, 1), nextCursor: `${Number(cursor ?? 0) + 1}` }
    return cursor === undefined
      ? { tools: tools.slice(0, 4), nextCursor: "2" }
      : { tools: [...tools.slice(4), { name: 7 }] }
  },
  "tools/call": ({ arguments: input, name }) => call[name](input)
}

const heard = []
const input = createInterface({ input: process.stdin })
if (!has("stubborn")) input.on("close", () => process.exit(0))
input.on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line)
  heard.push(method ?? result)
  if (method === "notifications/cancelled") process.stderr.write(`cancelled ${params.requestId}\n`)
  if (id === "from-server") process.stderr.write("pong\n")
  if (method === undefined || id === undefined) return
  const outcome = answer[method](params)
  if (outcome !== undefined) send(outcome.error === undefined ? { id, result: outcome } : { id, ...outcome })
})
