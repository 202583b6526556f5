// A minimal agent on the official SDK, which makes up its answers. With MODEL_URL it asks a model instead, by one
// `fetch` a turn, and tells each delta as it comes. No tools, no history, nothing kept.
import * as acp from "@agentclientprotocol/sdk"
import { randomUUID } from "node:crypto"
import { Readable, Writable } from "node:stream"

const sessions = new Map()

async function* invent(prompt) {
  const count = Number(/stream (\d+)/.exec(prompt)?.[1] ?? 1)
  for (let index = 0; index < count; index++) yield `word${String(index).padStart(5, "0")} `
}

async function* ask(prompt, signal) {
  const response = await fetch(`${process.env.MODEL_URL}/v1/chat/completions`, {
    method: "POST",
    signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: prompt }] })
  })
  const decoder = new TextDecoder()
  let rest = ""
  for await (const bytes of response.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
    rest = lines.pop()
    for (const line of lines) {
      const text = line.startsWith("data: {") ? JSON.parse(line.slice(6)).choices[0]?.delta.content : undefined
      if (text) yield text
    }
  }
}

acp
  .agent({ name: "floor" })
  .onRequest("initialize", () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {}, authMethods: [] }))
  .onRequest("session/new", () => {
    const sessionId = randomUUID()
    sessions.set(sessionId, new AbortController())
    return { sessionId }
  })
  .onNotification("session/cancel", ({ params }) => sessions.get(params.sessionId)?.abort())
  .onRequest("session/prompt", async ({ params: { sessionId, prompt }, client }) => {
    const turn = new AbortController()
    sessions.set(sessionId, turn)
    const answer = process.env.MODEL_URL === undefined ? invent : ask
    try {
      for await (const text of answer(prompt[0].text, turn.signal)) {
        const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } }
        await client.notify("session/update", { sessionId, update })
      }
    } catch (error) {
      if (!turn.signal.aborted) throw error
    }
    return { stopReason: turn.signal.aborted ? "cancelled" : "end_turn" }
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
