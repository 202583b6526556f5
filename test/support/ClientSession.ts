/** A session as its client sees it: prompts, and what is told of it, out of the transcript. */
import type {
  ClientRequestMethod,
  ContentBlock,
  PromptResponse,
  RequestError,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate
} from "@agentclientprotocol/sdk"
import * as Effect from "effect/Effect"
import type { Asked, Client, Question } from "./Client.ts"
import { at } from "./Schema.ts"
import type { Entry } from "./Transcript.ts"

type Kind = SessionUpdate["sessionUpdate"]
export type Update<K extends Kind = Kind> = Extract<SessionUpdate, { readonly sessionUpdate: K }>

/** A prompt that has been sent. */
export interface Turn extends Asked<PromptResponse> {
  /** Waits for an update that came after the prompt. */
  readonly told: <K extends Kind>(kind: K, fits?: (update: Update<K>) => boolean) => Effect.Effect<Update<K>>
  /** The updates so far, of this turn only. */
  readonly updates: () => ReadonlyArray<SessionUpdate>
  /** All text of the agent so far. */
  readonly text: () => string
}

export interface Session {
  readonly id: string
  readonly cwd: string
  readonly modes: SessionModeState | undefined
  readonly options: ReadonlyArray<SessionConfigOption>
  readonly prompt: (prompt?: string | ReadonlyArray<ContentBlock>, meta?: object) => Effect.Effect<Turn>
  /** Prompts and waits for the answer. */
  readonly run: (
    prompt?: string | ReadonlyArray<ContentBlock>
  ) => Effect.Effect<Turn & { readonly response: PromptResponse }, RequestError>
  readonly cancel: Effect.Effect<void>
  readonly told: Turn["told"]
  readonly updates: (since?: number, until?: number) => ReadonlyArray<SessionUpdate>
  /** Waits for a request of the agent for this session. */
  readonly asked: <M extends ClientRequestMethod>(method: M) => Effect.Effect<Question<M>>
  readonly setMode: (modeId: string) => Effect.Effect<unknown, RequestError>
}

const textOf = (updates: ReadonlyArray<SessionUpdate>): string =>
  updates
    .map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : ""
    )
    .join("")

/** Texts of prompts end with `key`. `opened` is the answer that opened the session. */
export const makeSession = (client: Client, key: string, cwd: string, id: string, opened: object): Session => {
  const { transcript } = client
  const { configOptions, modes } = opened as {
    readonly modes?: SessionModeState
    readonly configOptions?: ReadonlyArray<SessionConfigOption>
  }

  const updateOf = ({ from, message }: Entry): SessionUpdate | undefined =>
    from === "agent" && message.method === "session/update" && at(message.params, "sessionId") === id
      ? (at(message.params, "update") as SessionUpdate)
      : undefined

  const updates = (since = 0, until = transcript.entries.length) =>
    transcript.entries.slice(since, until).flatMap((entry) => updateOf(entry) ?? [])

  const toldSince =
    (since: number): Turn["told"] =>
    (kind, fits = () => true) =>
      transcript.find((entry) => {
        const update = updateOf(entry) as Update<typeof kind> | undefined
        return update?.sessionUpdate === kind && fits(update) ? update : undefined
      }, since)

  const prompt: Session["prompt"] = Effect.fnUntraced(function* (words = "go", meta) {
    const content = typeof words === "string" ? [{ type: "text" as const, text: `${words} ${key}` }] : words
    const asked = yield* client.ask("session/prompt", {
      sessionId: id,
      prompt: [...content],
      ...(meta === undefined ? {} : { _meta: { ...meta } })
    })
    const told = () => {
      const answered = transcript.entries.findIndex(
        ({ from, message }, index) =>
          index > asked.at && from === "agent" && message.method === undefined && message.id === asked.id
      )
      return updates(asked.at, answered === -1 ? undefined : answered)
    }
    return { ...asked, told: toldSince(asked.at), updates: told, text: () => textOf(told()) }
  })

  return {
    id,
    cwd,
    modes,
    options: configOptions ?? [],
    prompt,
    run: Effect.fnUntraced(function* (words) {
      const turn = yield* prompt(words)
      return { ...turn, response: yield* turn.answer }
    }),
    cancel: client.notify("session/cancel", { sessionId: id }),
    told: toldSince(0),
    updates,
    asked: (method) => client.asked(method, (params) => at(params, "sessionId") === id),
    setMode: (modeId) => client.request("session/set_mode", { sessionId: id, modeId })
  }
}
