/**
 * What holds for any conversation between an editor and the agent, whatever the editor does: judged over the lines of
 * both sides in their order. Small on purpose: it knows prompts, questions and calls by their ids and nothing else.
 */
import { assert } from "@effect/vitest"
import type * as Schema from "effect/Schema"

type JsonObject = Schema.JsonObject

export type Line = readonly [side: "sent" | "received", message: JsonObject]

interface PromptState {
  readonly id: number
  readonly session: string
  readonly tag: string
  readonly behaviour: string
  /** The session may have been closed when it was sent. */
  readonly late: boolean
  requestCancelled: boolean
  closed: boolean
}

interface SessionState {
  /** Prompts without answer, in order. */
  readonly open: Array<PromptState>
  /** Calls by id: whether they reached their final status. */
  readonly calls: Map<string, boolean>
  readonly questions: Set<number>
  /** Cancels that may still explain an outcome. */
  cancels: number
  /** Loads and closes without answer. */
  loads: number
  closes: number
  /** As the answers said it last. */
  closed: boolean
}

const object = (value: unknown): JsonObject => value as JsonObject

const turnUpdates = new Set([
  "agent_message_chunk",
  "agent_thought_chunk",
  "tool_call",
  "tool_call_update",
  "plan",
  "usage_update",
  "session_info_update"
])

const isFinal = (status: unknown) => status === "completed" || status === "failed"

/** What a prompt comes to when nobody disturbs it. */
const natural = (behaviour: string): string => {
  if (behaviour === "fail" || behaviour === "break") return "refusal"
  return behaviour === "hang" || behaviour === "stuck" ? "never" : "end_turn"
}

export const judge = (lines: ReadonlyArray<Line>): void => {
  const sessions = new Map<string, SessionState>()
  const prompts = new Map<number, PromptState>()
  const requests = new Map<number, { readonly method: string; readonly session: string }>()
  const asked = new Map<number, string>()
  let answers = 0

  const of = (id: string): SessionState => {
    const known = sessions.get(id)
    if (known !== undefined) return known
    const fresh = {
      open: [],
      calls: new Map(),
      questions: new Set<number>(),
      cancels: 0,
      loads: 0,
      closes: 0,
      closed: false
    }
    sessions.set(id, fresh)
    return fresh
  }

  const sent = (message: JsonObject) => {
    const { id, method } = message
    const params = object(message["params"])
    const sessionId = String(params?.["sessionId"] ?? "")
    if (method === undefined) {
      // The answer to a question.
      const session = asked.get(Number(id))
      if (session !== undefined) of(session).questions.delete(Number(id))
      return
    }
    if (method === "$/cancel_request") {
      const prompt = prompts.get(Number(params["requestId"]))
      if (prompt !== undefined) prompt.requestCancelled = true
      return
    }
    if (method === "session/cancel") {
      of(sessionId).cancels += 1
      return
    }
    requests.set(Number(id), { method: String(method), session: sessionId })
    if (method === "session/close") {
      for (const prompt of of(sessionId).open) prompt.closed = true
      of(sessionId).closes += 1
    }
    if (method === "session/load") of(sessionId).loads += 1
    if (method !== "session/prompt") return
    const content = params["prompt"] as ReadonlyArray<{ readonly text: string }>
    const [tag = "", behaviour = ""] = (content[0]?.text ?? "").split(" ")
    const session = of(sessionId)
    const prompt: PromptState = {
      id: Number(id),
      session: sessionId,
      tag,
      behaviour,
      late: session.closed || session.closes > 0 || session.loads > 0,
      requestCancelled: false,
      closed: session.closes > 0
    }
    prompts.set(prompt.id, prompt)
    session.open.push(prompt)
  }

  const promptAnswered = (prompt: PromptState, message: JsonObject) => {
    const session = of(prompt.session)
    const place = session.open.indexOf(prompt)
    assert.notStrictEqual(place, -1, `${prompt.tag} is answered twice`)
    session.open.splice(place, 1)
    answers += 1
    const error = message["error"] === undefined ? undefined : object(message["error"])["code"]
    if (error !== undefined) {
      const allowed = [
        ...(prompt.requestCancelled ? [-32800] : []),
        ...(prompt.late || prompt.closed ? [-32002] : []),
        ...(place > 15 ? [-32600] : [])
      ]
      assert.include(allowed, error, `${prompt.tag} ${prompt.behaviour}`)
      return
    }
    const stopReason = String(object(message["result"])["stopReason"])
    assert.strictEqual(place, 0, `${prompt.tag} is answered before an earlier one`)
    if (stopReason === "cancelled") {
      if (!prompt.closed && !prompt.requestCancelled) session.cancels -= 1
      assert.isAtLeast(session.cancels, 0, `${prompt.tag} is cancelled by nobody`)
    } else {
      assert.strictEqual(stopReason, natural(prompt.behaviour), `${prompt.tag} ${prompt.behaviour}`)
    }
    for (const [call, final] of session.calls)
      assert.isTrue(final, `call ${call} is open at the answer of ${prompt.tag}`)
    assert.strictEqual(session.questions.size, 0, `a question is open at the answer of ${prompt.tag}`)
  }

  const updated = (sessionId: string, update: JsonObject) => {
    const session = of(sessionId)
    const kind = String(update["sessionUpdate"])
    const replaying = session.loads > 0
    if (turnUpdates.has(kind) && !replaying) {
      assert.isAtLeast(session.open.length, 1, `${kind} outside of any turn: ${JSON.stringify(update)}`)
    }
    if (kind === "agent_message_chunk" && !replaying) {
      const text = String(object(update["content"])["text"])
      const tag = /p\d+/.exec(text)?.[0]
      if (tag !== undefined) assert.strictEqual(tag, session.open[0]?.tag, `text of ${tag} outside of its turn`)
    }
    const call = String(update["toolCallId"])
    if (kind === "tool_call") {
      if (!replaying) assert.isFalse(session.calls.has(call), `${call} is announced twice`)
      session.calls.set(call, isFinal(update["status"]))
    }
    if (kind === "tool_call_update") {
      assert.isTrue(session.calls.has(call), `${call} was never announced`)
      if (!replaying) assert.isFalse(session.calls.get(call), `${call} goes on after its end`)
      if (isFinal(update["status"])) session.calls.set(call, true)
    }
  }

  const received = (message: JsonObject) => {
    const { id, method } = message
    const params = object(message["params"])
    if (method === "$/cancel_request") {
      const question = Number(params["requestId"])
      of(asked.get(question) ?? "").questions.delete(question)
      return
    }
    if (method === "session/update" || method === "session/request_permission") {
      const session = String(params["sessionId"])
      const silent = of(session).closed && of(session).loads === 0
      assert.isFalse(silent, `${method} after the session was closed: ${JSON.stringify(message)}`)
      if (method === "session/update") return updated(session, object(params["update"]))
      const call = String(object(params["toolCall"])["toolCallId"])
      assert.isFalse(of(session).calls.get(call), `the question refers to ${call}, which is not open`)
      asked.set(Number(id), session)
      of(session).questions.add(Number(id))
      return
    }
    const prompt = prompts.get(Number(id))
    if (prompt !== undefined) return promptAnswered(prompt, message)
    const request = requests.get(Number(id))
    if (request === undefined) return
    const session = of(request.session)
    const succeeded = message["error"] === undefined
    if (request.method === "session/close") {
      session.closes -= 1
      if (succeeded) session.closed = true
    }
    if (request.method === "session/load") {
      session.loads -= 1
      if (succeeded) session.closed = false
    }
  }

  for (const [side, message] of lines) {
    if (side === "sent") sent(message)
    else received(message)
  }
  assert.strictEqual(answers, prompts.size, "a prompt has no answer")
}
