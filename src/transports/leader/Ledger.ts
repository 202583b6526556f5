/**
 * What a bridge has to remember of a conversation, so that no request is left without its one answer when the leader goes
 * away, and the sessions of the editor are open again when one is back. Not an Effect: lines in, lines out.
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ErrorCode } from "../../domain/wire/ErrorCode.ts"
import * as JsonRpc from "../../domain/wire/JsonRpc.ts"
import * as RequestId from "../../domain/wire/RequestId.ts"
import * as OpenSessions from "./OpenSessions.ts"
import { type Step, stepsOf } from "./Revival.ts"

/** What is to be written now, in this order. */
export interface Moves {
  readonly toEditor: ReadonlyArray<string>
  readonly toLeader: ReadonlyArray<string>
  /** For the person at stderr. */
  readonly warnings?: ReadonlyArray<string>
}

export interface Ledger {
  /** A line of the editor. Only while it `isUp`. */
  readonly fromEditor: (line: string) => Moves
  /** A line of the leader. Only while there is one. */
  readonly fromLeader: (line: string) => Moves
  /** There is a leader, the first or another one. What the editor had open is opened again before it `isUp`. */
  readonly connected: () => Moves
  /** The leader is gone: what waits for its answer is answered, and what it asked is withdrawn. */
  readonly lost: () => Moves
  /** A line for the editor as soon as it may be told anything. */
  readonly tell: (line: string) => Moves
  /** Withdraws what waits for an answer, for an editor that wants none any more. */
  readonly withdraw: () => Moves
  /** Answers a line of the editor that no leader will take, with the reason. */
  readonly refuse: (line: string, reason: string) => Moves
  /** Answers everything that still waits: there will be no leader. */
  readonly abandon: (reason: string) => Moves
  /** Whether lines of the editor can go on. */
  readonly isUp: () => boolean
  /** Requests of the editor without an answer. */
  readonly open: () => number
}

const nothing: Moves = { toEditor: [], toLeader: [] }
const toEditor = (...lines: ReadonlyArray<string>): Moves => ({ toEditor: lines, toLeader: [] })
const toLeader = (...lines: ReadonlyArray<string>): Moves => ({ toEditor: [], toLeader: lines })

interface Pending {
  readonly method: string
  readonly params: unknown
}

/** Methods whose params are needed when they succeed; those of a prompt may be large. */
const remembered = new Set(["initialize", "authenticate", "logout", ...OpenSessions.methods])

const readSession = Schema.decodeUnknownOption(Schema.Struct({ sessionId: Schema.String }))

const RESTARTED = "The backend of this agent was lost, and another one takes its place"

const failed = (id: RequestId.RequestId, message: string): string =>
  JsonRpc.encodeError(id, { code: ErrorCode.InternalError, message })

const encodeAnswer = (id: RequestId.RequestId, outcome: JsonRpc.Response["outcome"]): string =>
  Result.match(outcome, {
    onSuccess: (result) => JsonRpc.encodeResult(id, result),
    onFailure: (error) => JsonRpc.encodeError(id, error)
  })

const lossOf = ({ method }: Pending): string =>
  method === "session/prompt"
    ? `${RESTARTED}: the prompt may have run in part; look at what it did before you send it again`
    : `${RESTARTED}: it may or may not have done this; send it again`

export const make = (): Ledger => {
  const pending = new Map<RequestId.RequestId, Pending>()
  /** What the leader asked of the editor: the id that the editor knows, and the leader's own. */
  const questions = new Map<RequestId.RequestId, RequestId.RequestId>()
  const sessions = OpenSessions.make()
  const untold: Array<string> = []
  let phase: "down" | "reviving" | "up" = "down"
  let generation = -1
  let initialize: Pending | undefined
  let isInitialized = false
  let signIn: Pending | undefined
  let steps: Array<Step> = []
  let step: { readonly id: RequestId.RequestId; readonly doing: Step } | undefined
  let asked = 0

  /** Each leader counts its questions from 0; the editor must not take one for that of an earlier leader. */
  const askedAs = (id: RequestId.RequestId): RequestId.RequestId =>
    generation === 0 ? id : (RequestId.fromJson(`leader-${generation}-${id}`) ?? id)

  const settled = ({ method, params }: Pending, result: unknown): void => {
    if (method === "initialize") {
      initialize = { method, params }
      isInitialized = true
    } else if (method === "authenticate") {
      signIn = { method, params }
    } else if (method === "logout") {
      signIn = undefined
    } else {
      sessions.settled(method, params, result)
    }
  }

  const tellUntold = (): ReadonlyArray<string> => (isInitialized && phase === "up" ? untold.splice(0) : [])

  const nextStep = (): Moves => {
    const doing = steps.shift()
    if (doing === undefined) {
      step = undefined
      phase = "up"
      return toEditor(...tellUntold())
    }
    const id = RequestId.fromJson(`super-pi-bridge-${asked++}`) ?? RequestId.nullId
    step = { id, doing }
    return toLeader(JsonRpc.encodeRequest(id, doing.method, doing.params))
  }

  const answered = (line: string, { id, outcome }: JsonRpc.Response): Moves => {
    if (step !== undefined && id === step.id) {
      const { tell, warning } = step.doing.end(outcome)
      const next = nextStep()
      return {
        toEditor: [...(tell === undefined ? [] : [tell]), ...next.toEditor],
        toLeader: next.toLeader,
        ...(warning === undefined ? {} : { warnings: [warning] })
      }
    }
    const request = pending.get(id)
    if (request === undefined) return id === RequestId.nullId ? toEditor(line) : nothing
    pending.delete(id)
    if (outcome._tag === "Success") settled(request, outcome.success)
    return toEditor(line, ...tellUntold())
  }

  return {
    fromEditor(line) {
      const message = JsonRpc.parse(line)
      switch (message._tag) {
        case "Request": {
          const { id, method, params } = message
          if (pending.has(id)) {
            return toEditor(
              JsonRpc.encodeError(id, {
                code: ErrorCode.InvalidRequest,
                message: "Invalid request: another request with this id still waits for its answer"
              })
            )
          }
          pending.set(id, {
            method,
            params: remembered.has(method) ? params : Option.getOrUndefined(readSession(params))
          })
          return toLeader(line)
        }
        case "Response": {
          const original = questions.get(message.id)
          // A question that was withdrawn may be answered all the same.
          if (original === undefined) return nothing
          questions.delete(message.id)
          return toLeader(original === message.id ? line : encodeAnswer(original, message.outcome))
        }
        default:
          return toLeader(line)
      }
    },

    fromLeader(line) {
      const message = JsonRpc.parse(line)
      switch (message._tag) {
        case "Response":
          return answered(line, message)
        case "Request": {
          const id = askedAs(message.id)
          questions.set(id, message.id)
          return toEditor(id === message.id ? line : JsonRpc.encodeRequest(id, message.method, message.params))
        }
        case "Cancel": {
          const id = askedAs(message.id)
          questions.delete(id)
          return toEditor(id === message.id ? line : JsonRpc.encodeCancel(id))
        }
        case "Notification":
          return message.method === "session/update" && !sessions.updated(message.params) ? nothing : toEditor(line)
        default:
          return nothing
      }
    },

    connected() {
      generation++
      phase = "reviving"
      if (pending.size > 0) {
        // Only an initialize that was never answered: it is asked again in its own name.
        phase = "up"
        return toLeader(...Array.from(pending, ([id, { method, params }]) => JsonRpc.encodeRequest(id, method, params)))
      }
      steps = initialize === undefined ? [] : stepsOf(initialize.params, signIn?.params, sessions)
      return nextStep()
    },

    lost() {
      phase = "down"
      step = undefined
      const lines = Array.from(questions.keys(), JsonRpc.encodeCancel)
      questions.clear()
      for (const [id, request] of pending) {
        if (request.method === "initialize" && !isInitialized) continue
        if (request.method === "session/prompt") sessions.promptLost(request.params)
        lines.push(failed(id, lossOf(request)))
        pending.delete(id)
      }
      return toEditor(...lines)
    },

    tell(line) {
      untold.push(line)
      return toEditor(...tellUntold())
    },

    withdraw: () => toLeader(...Array.from(pending.keys(), JsonRpc.encodeCancel)),

    refuse(line, reason) {
      const message = JsonRpc.parse(line)
      return message._tag === "Request" ? toEditor(failed(message.id, reason)) : nothing
    },

    abandon(reason) {
      const ids = [...pending.keys()]
      pending.clear()
      return toEditor(...ids.map((id) => failed(id, reason)))
    },

    isUp: () => phase === "up",

    open: () => pending.size
  }
}
