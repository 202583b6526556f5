/** The sessions that an editor has open behind a bridge: where each works, and how far the editor was told of it. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** Requests that open or end a session when they succeed. */
const opening = ["session/new", "session/load", "session/resume", "_superpi/session/fork"]
const ending = ["session/close", "session/delete"]
export const methods: ReadonlyArray<string> = [...opening, ...ending]

/** Sessions that are opened again; of more than these the oldest are left to the editor. */
const most = 256

const Place = Schema.Struct({
  cwd: Schema.String,
  mcpServers: Schema.optionalKey(Schema.Unknown),
  additionalDirectories: Schema.optionalKey(Schema.Unknown)
})

const readPlace = Schema.decodeUnknownOption(Place)
const readId = Schema.decodeUnknownOption(Schema.Struct({ sessionId: Schema.String }))
const readUpdate = Schema.decodeUnknownOption(
  Schema.Struct({ sessionId: Schema.String, update: Schema.Struct({ sessionUpdate: Schema.String }) })
)
const readEntry = Schema.decodeUnknownOption(
  Schema.Struct({ _meta: Schema.Struct({ superPi: Schema.Struct({ entry: Schema.String }) }) })
)

export interface OpenSession {
  readonly place: typeof Place.Type
  /** The last `_meta.superPi.entry` that the editor was told. */
  entry: string | undefined
  /** A prompt of the editor was lost with its leader: the editor knows it, and must not be told of it. */
  knowsPrompt: boolean
}

export interface OpenSessions {
  readonly all: () => ReadonlyArray<readonly [id: string, session: OpenSession]>
  readonly forget: (id: string) => void
  /** A request succeeded; of any but `methods` nothing is kept. */
  readonly settled: (method: string, params: unknown, result: unknown) => void
  /** A prompt got no answer. */
  readonly promptLost: (params: unknown) => void
  /** Notes how far an update tells; `false` when the editor must not be told. */
  readonly updated: (params: unknown) => boolean
}

const idOf = (value: unknown): string | undefined => Option.getOrUndefined(readId(value))?.sessionId

export const make = (): OpenSessions => {
  const sessions = new Map<string, OpenSession>()

  const open = (id: string, params: unknown): void => {
    const place = Option.getOrUndefined(readPlace(params))
    if (place === undefined) return
    const entry = sessions.get(id)?.entry
    sessions.delete(id)
    sessions.set(id, { place, entry, knowsPrompt: false })
    const [oldest] = sessions.keys()
    if (sessions.size > most && oldest !== undefined) sessions.delete(oldest)
  }

  return {
    all: () => [...sessions],
    forget: (id) => void sessions.delete(id),
    settled(method, params, result) {
      const id = (opening.includes(method) ? idOf(result) : undefined) ?? idOf(params)
      if (id === undefined) return
      if (opening.includes(method)) open(id, params)
      else if (ending.includes(method)) sessions.delete(id)
    },
    promptLost(params) {
      const session = sessions.get(idOf(params) ?? "")
      if (session !== undefined) session.knowsPrompt = true
    },
    updated(params) {
      const update = Option.getOrUndefined(readUpdate(params))
      const session = update === undefined ? undefined : sessions.get(update.sessionId)
      if (update === undefined || session === undefined) return true
      const entry = Option.getOrUndefined(readEntry(params))?._meta.superPi.entry
      if (entry !== undefined) session.entry = entry
      return !(session.knowsPrompt && update.update.sessionUpdate === "user_message_chunk")
    }
  }
}
