/** What has to hold in every conversation of version 1, whatever it is about; one finding for each breach. */
import type { SessionUpdate, ToolCallContent, ToolCallStatus } from "@agentclientprotocol/sdk"
import type * as Schema from "effect/Schema"
import { at } from "./Schema.ts"
import type { Entry, Message } from "./Transcript.ts"

type Json = Schema.Json

interface SessionFacts {
  /** Announced calls. */
  calls: Map<string, ToolCallStatus>
  /** Prompts without answer. */
  prompts: number
  /** Whether a turn runs that somebody else asked for. */
  working: boolean
  /** Whether the client was told some calls on an earlier connection. */
  partial: boolean
  /** Why nothing may be told of the session now. */
  silent: string | undefined
  /** Messages in the order in which their first piece came. */
  messages: Array<string>
}

interface Question {
  readonly method: string
  readonly sessionId: string
  withdrawn: boolean
}

export interface Judge {
  readonly see: (entry: Entry) => ReadonlyArray<string>
  /** What was left open at the end. */
  readonly end: () => ReadonlyArray<string>
}

const rank: { readonly [K in ToolCallStatus]: number } = { pending: 0, in_progress: 1, completed: 2, failed: 2 }
const isFinal = (status: ToolCallStatus): boolean => rank[status] === 2
const isAbsolute = (path: unknown): boolean => typeof path === "string" && path.startsWith("/")

/** Methods of the client, and the capability that the client has to have for each. */
const gates: ReadonlyArray<readonly [method: RegExp, ...path: ReadonlyArray<string>]> = [
  [/^fs\/read_text_file$/, "fs", "readTextFile"],
  [/^fs\/write_text_file$/, "fs", "writeTextFile"],
  [/^terminal\//, "terminal"],
  [/^elicitation\//, "elicitation"]
]

const placesOf = (update: SessionUpdate): ReadonlyArray<{ readonly path: string; readonly line?: number | null }> => {
  if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") return []
  const diffs = (update.content ?? []).flatMap((item: ToolCallContent) => (item.type === "diff" ? [item] : []))
  return [...(update.locations ?? []), ...diffs]
}

/** Whether it tells the state of a session, which others may change at any time. */
const isState = ({ sessionUpdate }: SessionUpdate): boolean =>
  sessionUpdate === "current_mode_update" || sessionUpdate === "config_option_update"

/** `isShared`: others use the sessions of this connection, too. */
export const makeJudge = (isShared = false): Judge => {
  const sessions = new Map<string, SessionFacts>()
  const asked = new Map<string, Message>()
  const questions = new Map<string, Question>()
  let capabilities: Json = {}

  const has = (...path: ReadonlyArray<string>): boolean => {
    const value = at(capabilities, ...path)
    return value !== undefined && value !== null && value !== false
  }

  const know = (id: string): SessionFacts => {
    const known = sessions.get(id) ?? {
      calls: new Map(),
      prompts: 0,
      working: false,
      partial: false,
      silent: undefined,
      messages: []
    }
    sessions.set(id, known)
    return known
  }

  const sessionOf = (message: Message): string | undefined => {
    const id = at(message.params, "sessionId")
    return typeof id === "string" ? id : undefined
  }

  const clientAsks = (message: Message): void => {
    if (typeof message.method !== "string" || message.jsonrpc !== "2.0") return
    if (message.method === "initialize") capabilities = at(message.params, "clientCapabilities") ?? {}
    const isRequest = message.id !== undefined && (message.id === null || typeof message.id !== "object")
    if (isRequest) asked.set(JSON.stringify(message.id), message)
    const id = sessionOf(message)
    if (id === undefined || !isRequest) return
    const opens = message.method === "session/load" || message.method === "session/resume"
    const session = opens ? know(id) : sessions.get(id)
    if (session === undefined) return
    session.silent = undefined
    if (message.method === "session/prompt") session.prompts += 1
    if (message.method !== "session/load") return
    session.partial = at(message.params, "_meta", "superPi", "after") !== undefined
    if (session.partial) return
    session.calls = new Map()
    session.messages = []
  }

  /** Nothing is left of what the exchange began. */
  const settled = (session: SessionFacts, id: string, after: string): ReadonlyArray<string> => [
    ...[...session.calls].flatMap(([call, status]) =>
      isFinal(status) ? [] : [`the tool call ${call} is still ${status} ${after}`]
    ),
    ...[...questions.values()].flatMap((question) =>
      question.sessionId === id && !question.withdrawn ? [`${question.method} is still open ${after}`] : []
    )
  ]

  const agentAnswers = (message: Message): ReadonlyArray<string> => {
    const key = JSON.stringify(message.id)
    const request = asked.get(key)
    asked.delete(key)
    if (request === undefined) return []
    const succeeded = message.error === undefined
    const created = at(message.result, "sessionId")
    if (typeof created === "string") know(created)
    const id = sessionOf(request)
    const session = id === undefined ? undefined : sessions.get(id)
    if (id === undefined || session === undefined) return []
    const after = `after the answer to ${request.method}`
    switch (request.method) {
      case "session/prompt":
        session.prompts -= 1
        if (session.prompts > 0 || session.working) return []
        session.silent = after
        return settled(session, id, after)
      case "session/load":
      case "session/resume":
        if (!succeeded) return []
        session.working = at(message.result, "_meta", "superPi", "working") === true
        if (session.working || request.method === "session/resume") return []
        session.silent = after
        return settled(session, id, after)
      case "session/close":
      case "session/delete":
        if (!succeeded) return []
        session.silent = after
        return session.prompts > 0 ? [`a prompt has no answer ${after}`] : settled(session, id, after)
      default:
        return []
    }
  }

  const move = (session: SessionFacts, id: string, next: ToolCallStatus | null | undefined): ReadonlyArray<string> => {
    const present = session.calls.get(id)
    if (present === undefined && !session.partial) return [`the tool call ${id} was never announced`]
    if (present === undefined) {
      session.calls.set(id, next ?? "pending")
      return []
    }
    if (isFinal(present)) return [`an update of the tool call ${id}, which is ${present}`]
    if (next === null || next === undefined) return []
    session.calls.set(id, next)
    return rank[next] < rank[present] ? [`the tool call ${id} went from ${present} to ${next}`] : []
  }

  const continues = (session: SessionFacts, id: string | null | undefined): ReadonlyArray<string> => {
    if (id === null || id === undefined) return ["a piece of a message without messageId"]
    if (session.messages.at(-1) === id) return []
    const again = session.messages.includes(id)
    session.messages.push(id)
    return again ? [`the message ${id} goes on after another one began`] : []
  }

  const agentTells = (update: SessionUpdate, session: SessionFacts): ReadonlyArray<string> => {
    const found = placesOf(update).flatMap(({ line, path }) => [
      ...(isAbsolute(path) ? [] : [`the path ${path} is not absolute`]),
      ...(line === 0 ? ["a line 0, where lines count from 1"] : [])
    ])
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk":
        return [...found, ...continues(session, update.messageId)]
      case "tool_call": {
        const again = session.calls.has(update.toolCallId)
        session.calls.set(update.toolCallId, update.status ?? "pending")
        return [...found, ...(again ? [`the tool call ${update.toolCallId} is announced again`] : [])]
      }
      case "tool_call_update":
        return [...found, ...move(session, update.toolCallId, update.status)]
      case "config_option_update": {
        const isOdd = update.configOptions.some(({ type }) => type === "boolean")
        return isOdd && !has("session", "configOptions", "boolean")
          ? ["a boolean option for a client without them"]
          : []
      }
      case "notice":
        return has("session", "notices") ? [] : ["a notice for a client without notices"]
      case "compaction_update":
      case "compaction_summary_chunk":
        return has("session", "compaction") ? [] : ["a compaction for a client without them"]
      default:
        return found
    }
  }

  const agentAsks = (message: Message, session: SessionFacts): ReadonlyArray<string> => {
    const method = message.method ?? ""
    const [, ...path] = gates.find(([gated]) => gated.test(method)) ?? [/^/]
    const refused = path.length > 0 && !has(...path) ? [`${method} to a client without ${path.join(".")}`] : []
    if (method.startsWith("fs/") && !isAbsolute(at(message.params, "path")))
      refused.push(`${method} of a relative path`)
    if (method !== "session/request_permission") return refused
    const call = at(message.params, "toolCall", "toolCallId")
    const options = at(message.params, "options")
    const status = session.calls.get(String(call))
    return [
      ...(status === "pending" || (status === undefined && session.partial)
        ? []
        : [`a question about the tool call ${String(call)}, which is ${status ?? "unknown"}`]),
      ...(Array.isArray(options) && options.length > 0 ? [] : ["a question without options"])
    ]
  }

  /** A turn of somebody else begins or ends. */
  const turns = (message: Message, session: SessionFacts, id: string): ReadonlyArray<string> => {
    const begins = at(message.params, "state") === "working"
    if (!isShared) return ["an activity where nobody else can prompt"]
    if (begins) session.silent = undefined
    const odd = begins && session.working ? ["a turn begins twice"] : []
    session.working = begins
    if (begins || session.prompts > 0) return odd
    session.silent = "after the end of a turn"
    return settled(session, id, session.silent)
  }

  const agentSays = (message: Message): ReadonlyArray<string> => {
    if (message.method === undefined) return agentAnswers(message)
    if (message.method === "$/cancel_request") {
      // The client's answer may be under way.
      const question = questions.get(JSON.stringify(at(message.params, "requestId")))
      if (question !== undefined) question.withdrawn = true
      return []
    }
    const id = sessionOf(message)
    if (id === undefined) return []
    const session = sessions.get(id)
    if (session === undefined) return [`${message.method} for the session ${id}, which the client does not know`]
    if (message.method === "_superpi/session/activity") return turns(message, session, id)
    const update = at(message.params, "update") as SessionUpdate | undefined
    // A list of commands may come at any time (CMD-01).
    const isList = update?.sessionUpdate === "available_commands_update"
    const isDue = session.silent === undefined || isList || (isShared && update !== undefined && isState(update))
    const silent = isDue ? [] : [`${message.method} ${session.silent}`]
    if (message.id !== undefined) {
      questions.set(JSON.stringify(message.id), { method: message.method, sessionId: id, withdrawn: false })
      return [...silent, ...agentAsks(message, session)]
    }
    if (message.method !== "session/update" || update === undefined) return silent
    return [...silent, ...agentTells(update, session)]
  }

  return {
    see({ from, message }) {
      if (from === "agent") return agentSays(message)
      if (message.method !== undefined) clientAsks(message)
      else questions.delete(JSON.stringify(message.id))
      return []
    },
    end: () => [...asked.values()].map(({ id, method }) => `${method} (id ${JSON.stringify(id)}) was never answered`)
  }
}
