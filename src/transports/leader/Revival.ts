/** What a bridge asks of a new leader so that it stands where the last one stood, one request after the other. */
import * as Result from "effect/Result"
import type { WireError } from "../../domain/wire/ErrorCode.ts"
import * as JsonRpc from "../../domain/wire/JsonRpc.ts"
import type { OpenSession, OpenSessions } from "./OpenSessions.ts"

export interface Step {
  readonly method: string
  readonly params: unknown
  /** Takes the answer. `tell` is for the editor, `warning` for the person at its stderr. */
  readonly end: (outcome: Result.Result<unknown, WireError>) => { readonly tell?: string; readonly warning?: string }
}

const reconnected = (params: { readonly sessionId?: string }): string =>
  JsonRpc.encodeNotification("x.ai/leader_reconnected", params)

const required = (method: string, params: unknown, done?: string): Step => ({
  method,
  params,
  end: Result.match({
    onSuccess: () => (done === undefined ? {} : { tell: done }),
    onFailure: ({ message }) => ({ warning: `The new leader refused ${method}: ${message}` })
  })
})

/** With an entry the editor gets what came after it; without one it has been told nothing that could be repeated. */
const reopen = (sessionId: string, { entry, place }: OpenSession, sessions: OpenSessions): Step => ({
  method: entry === undefined ? "session/resume" : "session/load",
  params: { sessionId, ...place, ...(entry === undefined ? {} : { _meta: { superPi: { after: entry } } }) },
  end: Result.match({
    onSuccess: () => {
      sessions.settled("session/load", { sessionId, ...place }, {})
      return { tell: reconnected({ sessionId }) }
    },
    onFailure: ({ message }) => {
      sessions.forget(sessionId)
      return { warning: `Session ${sessionId} could not be opened again: ${message}` }
    }
  })
})

/** `signIn` is absent when the editor did not sign in, or signed out again. */
export const stepsOf = (initialize: unknown, signIn: unknown, sessions: OpenSessions): Array<Step> => {
  const all = sessions.all()
  return [
    required("initialize", initialize, all.length === 0 ? reconnected({}) : undefined),
    ...(signIn === undefined ? [] : [required("authenticate", signIn)]),
    ...all.map(([id, session]) => reopen(id, session, sessions))
  ]
}
