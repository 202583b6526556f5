/**
 * An editor without a screen: it opens one session, answers the agent's questions by rules, and keeps what it is told.
 * It speaks the protocol over any transport, so what it sees is what a real editor would see.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { serve, type ServeOptions } from "../composition/AcpAgent.ts"
import { version } from "../domain/Version.ts"
import type { StopReason } from "../domain/Turn.ts"
import { ErrorCode, WireError } from "../domain/wire/ErrorCode.ts"
import { ReadTextFileRequest } from "../domain/wire/v1/Client.ts"
import type { ContentBlock } from "../domain/wire/v1/Content.ts"
import { InitializeResponse } from "../domain/wire/v1/Initialize.ts"
import type { McpServer } from "../domain/wire/v1/Mcp.ts"
import { PromptResponse } from "../domain/wire/v1/Prompt.ts"
import { NewSessionResponse } from "../domain/wire/v1/Session.ts"
import { RequestPermissionRequest } from "../domain/wire/v1/Tool.ts"
import { SessionNotification } from "../domain/wire/v1/Update.ts"
import type { Agent } from "../services/Agent.ts"
import { Frames, type FramesShape } from "../transports/Frames.ts"
import * as Memory from "../transports/Memory.ts"
import * as Peer from "../transports/Peer.ts"
import type { NotificationRoute, RequestRoute } from "../transports/Routes.ts"

/** One `session/update`, such as a piece of a message or a change of a tool call. */
export type Update = (typeof SessionNotification.Type)["update"]

/** A permission question: the tool call that it is about, and the options to choose from. */
export type Question = typeof RequestPermissionRequest.Type

/** Gives the `optionId` of the chosen option; `undefined` dismisses the question, which is no approval. */
export type Answerer = (question: Question) => Effect.Effect<string | undefined>

/** The agent refused a request, or the connection ended before it was answered. */
export type EditorError = WireError | Peer.ConnectionClosed

/** Where the session works, and how the editor behaves. Defaults suit an editor that only listens. */
export interface EditorOptions {
  /** Absolute path of the folder that the session works in. */
  readonly cwd: string
  /** Default: `dismiss`. */
  readonly answer?: Answerer
  /** Unsaved texts by absolute path, offered to the agent as `fs/read_text_file`. Default: the editor offers none. */
  readonly buffers?: ReadonlyMap<string, string>
  /** Default: none. */
  readonly mcpServers?: ReadonlyArray<typeof McpServer.Encoded>
  /** `_meta` of `session/new`, such as `{ harness: "super-pi-planner" }`. Default: none. */
  readonly meta?: Schema.JsonObject
  /** Runs for each update in its own fiber; updates start in order, and nothing waits for the end. Default: nothing. */
  readonly onUpdate?: (update: Update) => Effect.Effect<void>
}

/** What one prompt led to. */
export interface EditorTurn {
  readonly stopReason: StopReason
  /** What the agent said, without its thoughts. */
  readonly text: string
  /** Everything it told from the prompt to the answer, in order. */
  readonly updates: ReadonlyArray<Update>
  /** `_meta.superPi` of the answer: the error of a refusal, the tokens used. */
  readonly meta: Schema.JsonObject | undefined
}

/** An editor with one open session. */
export interface ScriptedEditor {
  readonly sessionId: string
  /** What the agent said about itself. */
  readonly agent: typeof InitializeResponse.Type
  /** Every update of the session so far, in order. */
  readonly updates: ReadonlyArray<Update>
  /** Every question so far, with the answer once there is one. */
  readonly questions: ReadonlyArray<{ readonly question: Question; readonly answer: string | undefined }>
  /** Sends a prompt and waits for the end of its turn. Interruption cancels the turn and all that it started. */
  readonly prompt: (prompt: string | ReadonlyArray<ContentBlock>) => Effect.Effect<EditorTurn, EditorError>
  /** Ends the running turn; its prompt is answered `cancelled`. Harmless while nothing runs. */
  readonly cancel: Effect.Effect<void>
  /** Any other request, with parameters and result as JSON, such as `session/set_mode`. */
  readonly request: (method: string, params: Schema.JsonObject) => Effect.Effect<unknown, EditorError>
}

/** Dismisses every question. */
export const dismiss: Answerer = () => Effect.undefined

/** Chooses the option that allows this one call. */
export const allowOnce: Answerer = ({ options }) =>
  Effect.succeed(options.find(({ kind }) => kind === "allow_once")?.optionId)

/** Chooses the option that refuses this one call. */
export const rejectOnce: Answerer = ({ options }) =>
  Effect.succeed(options.find(({ kind }) => kind === "reject_once")?.optionId)

const decodeUpdate = Schema.decodeUnknownEffect(SessionNotification)
const decodeQuestion = Schema.decodeUnknownEffect(RequestPermissionRequest)
const decodeFile = Schema.decodeUnknownEffect(ReadTextFileRequest)
const decodeInitialized = Schema.decodeUnknownEffect(InitializeResponse)
const decodeSession = Schema.decodeUnknownEffect(NewSessionResponse)
const decodeAnswer = Schema.decodeUnknownEffect(PromptResponse)

interface Asked {
  readonly question: Question
  answer: string | undefined
}

const isObject = Schema.is(Schema.JsonObject)

const textOf = (updates: ReadonlyArray<Update>): string =>
  updates
    .map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : ""
    )
    .join("")

/**
 * Opens a session with the agent at the other end of `frames`. The editor is gone with the scope. An agent that breaks
 * the protocol is a defect.
 */
export const make = Effect.fn("ScriptedEditor.make")(function* (
  frames: FramesShape,
  options: EditorOptions
): Effect.fn.Return<ScriptedEditor, EditorError, Scope.Scope> {
  const { answer = dismiss, buffers, cwd, mcpServers = [], meta, onUpdate = () => Effect.void } = options
  const updates: Array<Update> = []
  const questions: Array<Asked> = []
  const peer = yield* Peer.make(frames)

  const update: NotificationRoute = (params) =>
    Effect.flatMap(Effect.orDie(decodeUpdate(params)), (notification) => {
      updates.push(notification.update)
      return onUpdate(notification.update)
    })

  const ask: RequestRoute = Effect.fnUntraced(function* (params) {
    const asked: Asked = { question: yield* Effect.orDie(decodeQuestion(params)), answer: undefined }
    questions.push(asked)
    asked.answer = yield* answer(asked.question)
    return {
      outcome: asked.answer === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: asked.answer }
    }
  })

  const readFile: RequestRoute = Effect.fnUntraced(function* (params) {
    const { path } = yield* Effect.orDie(decodeFile(params))
    const content = buffers?.get(path)
    if (content !== undefined) return { content }
    return yield* new WireError({ code: ErrorCode.ResourceNotFound, message: `There is no buffer of ${path}` })
  })

  const requests = new Map([
    ["session/request_permission", ask],
    ["fs/read_text_file", readFile]
  ])
  const notifications = new Map([["session/update", update]])
  yield* Effect.forkScoped(
    peer.serve({ request: (method) => requests.get(method), notification: (method) => notifications.get(method) }),
    { startImmediately: true }
  )

  const initialized = yield* peer.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: buffers === undefined ? {} : { fs: { readTextFile: true } },
    clientInfo: { name: "scripted-editor", version }
  })
  const agent = yield* Effect.orDie(decodeInitialized(initialized))
  const opened = yield* peer.request("session/new", { cwd, mcpServers, ...(meta === undefined ? {} : { _meta: meta }) })
  const { sessionId } = yield* Effect.orDie(decodeSession(opened))

  const prompt = Effect.fn("ScriptedEditor.prompt")(function* (input: string | ReadonlyArray<ContentBlock>) {
    const first = updates.length
    const answered = yield* peer.request("session/prompt", {
      sessionId,
      prompt: typeof input === "string" ? [{ type: "text", text: input }] : input
    })
    const { _meta, stopReason } = yield* Effect.orDie(decodeAnswer(answered))
    const told = updates.slice(first)
    const superPi = _meta?.["superPi"]
    return { stopReason, text: textOf(told), updates: told, meta: isObject(superPi) ? superPi : undefined }
  })

  return {
    sessionId,
    agent,
    updates,
    questions,
    prompt,
    cancel: peer.notify("session/cancel", { sessionId }),
    request: peer.request
  }
})

/** The same over a linked pair of transports, with the agent of the environment at the other end. */
export const connect = Effect.fn("ScriptedEditor.connect")(function* (
  options: EditorOptions & { readonly serve?: ServeOptions }
): Effect.fn.Return<ScriptedEditor, EditorError, Agent | Scope.Scope> {
  const { agent, editor } = yield* Memory.pair
  yield* Effect.forkScoped(Effect.provideService(serve(options.serve), Frames, agent))
  return yield* make(editor, options)
})
