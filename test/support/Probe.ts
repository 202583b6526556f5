/** What an editor does with a session, in the fewest words, and what its user answers. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { isAlive } from "./Processes.ts"
import { type Asked, type JsonObject, type Options, PATIENCE, type RawAgent, type Reply, start } from "./RawAgent.ts"
import { at, isObject } from "./Schema.ts"

type Json = Schema.Json

export interface OpenOptions extends Options {
  /** What the client can do; default nothing (INIT0). */
  readonly capabilities?: Json
}

/** Starts it and shakes hands. */
export const open = Effect.fnUntraced(function* (options: OpenOptions = {}) {
  const agent = yield* start(options)
  yield* agent.ok("initialize", {
    protocolVersion: 1,
    clientCapabilities: options.capabilities ?? {},
    clientInfo: { name: "probe", version: "0" }
  })
  return agent
})

const idOf = (result: JsonObject): string => {
  const id = result["sessionId"]
  return typeof id === "string" ? id : assert.fail(`no session id in ${JSON.stringify(result)}`)
}

/** A new session in `cwd`. */
export const newSession = (agent: RawAgent, cwd: string, more: JsonObject = {}): Effect.Effect<string> =>
  Effect.map(agent.ok("session/new", { cwd, mcpServers: [], ...more }), idOf)

export const promptParams = (sessionId: string, prompt: string | ReadonlyArray<Json>): JsonObject => ({
  sessionId,
  prompt: typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt
})

/** Sends a prompt, and does not wait. */
export const prompt = (agent: RawAgent, sessionId: string, text: string | ReadonlyArray<Json>): Effect.Effect<Asked> =>
  agent.ask("session/prompt", promptParams(sessionId, text))

/** Sends a prompt, and waits for its stop reason. */
export const turn = (
  agent: RawAgent,
  sessionId: string,
  text: string | ReadonlyArray<Json>
): Effect.Effect<Json | undefined> =>
  Effect.map(agent.ok("session/prompt", promptParams(sessionId, text)), (result) => result["stopReason"])

export const cancel = (agent: RawAgent, sessionId: string): Effect.Effect<void> =>
  agent.notify("session/cancel", { sessionId })

export const load = (
  agent: RawAgent,
  sessionId: string,
  cwd: string,
  more: JsonObject = {}
): Effect.Effect<JsonObject> => agent.ok("session/load", { sessionId, cwd, mcpServers: [], ...more })

export const close = (agent: RawAgent, sessionId: string): Effect.Effect<JsonObject> =>
  agent.ok("session/close", { sessionId })

/** A question of the agent to the user. */
export interface Question {
  readonly id: Json
  readonly params: JsonObject
  readonly toolCallId: string
  /** The id of the offered option of that kind. */
  readonly option: (kind: string) => string | undefined
}

const optionOf =
  (params: JsonObject) =>
  (kind: string): string | undefined => {
    const options = params["options"]
    if (!Array.isArray(options)) return undefined
    const id = options.find((option) => at(option, "kind") === kind)?.optionId
    return typeof id === "string" ? id : undefined
  }

export const questions = (agent: RawAgent): ReadonlyArray<Question> =>
  agent.seen.flatMap(({ id, method, params }) =>
    method === "session/request_permission" && id !== undefined && isObject(params)
      ? [{ id, params, toolCallId: String(at(params, "toolCall", "toolCallId")), option: optionOf(params) }]
      : []
  )

/** The question number `index`, from 0. */
export const question = (agent: RawAgent, index = 0): Effect.Effect<Question> =>
  agent.until(`question ${index}`, () => questions(agent)[index])

export const selected = (optionId: string | undefined): JsonObject => ({
  outcome: { outcome: "selected", optionId: optionId ?? "none" }
})

/** Chooses the option of that kind. */
export const choose = (agent: RawAgent, asked: Question, kind: string): Effect.Effect<void> =>
  agent.reply(asked.id, selected(asked.option(kind)))

/** Says to every question what the kind says. */
export const always =
  (kind: string) =>
  (method: string, params: JsonObject): Reply | undefined =>
    method === "session/request_permission" ? { result: selected(optionOf(params)(kind)) } : undefined

/** For what happens outside of the protocol, such as the end of a process. */
export const eventually = (what: string, holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() =>
    holds() ? Effect.void : Effect.andThen(Effect.sleep("10 millis"), Effect.fail("not yet"))
  ).pipe(
    Effect.eventually,
    Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => Effect.die(new Error(`Waited in vain: ${what}`)) })
  )

export const gone = (pid: number): Effect.Effect<void> => eventually(`process ${pid} is gone`, () => !isAlive(pid))
