// The least that a program on Node can do: JSON-RPC by hand, nothing imported, no model asked.
const sessions = new Map()

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)

const tell = (sessionId, text) =>
  send({
    method: "session/update",
    params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } }
  })

const methods = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }),
  "session/new": () => {
    const sessionId = globalThis.crypto.randomUUID()
    sessions.set(sessionId, undefined)
    return { sessionId }
  },
  "session/prompt": ({ sessionId, prompt }) => {
    const count = Number(/stream (\d+)/.exec(prompt[0].text)?.[1] ?? 1)
    for (let index = 0; index < count; index++) tell(sessionId, `word${String(index).padStart(5, "0")} `)
    return { stopReason: "end_turn" }
  }
}

let rest = ""
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n")
  rest = lines.pop()
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    send({ id, result: methods[method](params) })
  }
})
