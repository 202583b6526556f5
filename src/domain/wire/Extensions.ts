/** What this agent adds to the protocol: a method of its own, and keys in `_meta`. */
import * as Rpc from "effect/rpc/Rpc"
import * as RpcGroup from "effect/rpc/RpcGroup"
import * as Schema from "effect/Schema"
import { SessionId } from "../Ids.ts"
import { StopReason } from "../Turn.ts"
import * as Lenient from "./Lenient.ts"
import { request } from "./Method.ts"
import { NewSessionResponse, ResumeSessionRequest } from "./v1/Session.ts"

/** Copies a session up to its latest entry into a new one; the history is not told (F59). */
export const ForkSession = request("_superpi/session/fork", ResumeSessionRequest, NewSessionResponse)

/**
 * A turn of a session began or ended. Sent to clients that watch the session and did not send the prompt, which get no
 * answer to it.
 */
export const Activity = Rpc.make("_superpi/session/activity", {
  payload: Schema.Struct({
    sessionId: SessionId,
    state: Schema.Literals(["working", "idle"]),
    /** With the end. */
    stopReason: Schema.optionalKey(StopReason),
    _meta: Lenient.meta
  })
})

export const ExtensionRequests = RpcGroup.make(ForkSession)

const text = Lenient.drop(Schema.String)

/**
 * `_meta` of the requests that open a session. `yoloMode` asks for the mode in which nothing is asked; a blank
 * `systemPromptOverride` is none.
 */
export const SessionMeta = Schema.Struct({
  harness: text,
  modelId: text,
  reasoningEffort: text,
  yoloMode: Lenient.drop(Schema.Boolean),
  rules: text,
  systemPromptOverride: Lenient.drop(Schema.String.check(Schema.isPattern(/\S/)))
})

/** `_meta` of `session/load`: how far the client was told before, as `_meta.superPi.entry` of an update said. */
export const LoadMeta = Schema.Struct({
  superPi: Lenient.drop(Schema.Struct({ after: text }))
})

/** `_meta` of `authenticate`. */
export const AuthenticateMeta = Schema.Struct({ token: Lenient.drop(Schema.RedactedFromValue(Schema.NonEmptyString)) })

/** `_meta` of the answer to a permission question: what the user wants instead. */
export const PermissionMeta = Schema.Struct({ followup_message: Lenient.drop(Schema.NonEmptyString) })
