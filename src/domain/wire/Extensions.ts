/** What this agent adds to the protocol: a method of its own, and keys in `_meta`. */
import * as RpcGroup from "effect/rpc/RpcGroup"
import * as Schema from "effect/Schema"
import * as Lenient from "./Lenient.ts"
import { request } from "./Method.ts"
import { NewSessionResponse, ResumeSessionRequest } from "./v1/Session.ts"

/** Copies a session up to its latest entry into a new one; the history is not told (F59). */
export const ForkSession = request("_superpi/session/fork", ResumeSessionRequest, NewSessionResponse)

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

/** `_meta` of `authenticate`. */
export const AuthenticateMeta = Schema.Struct({ token: Lenient.drop(Schema.RedactedFromValue(Schema.NonEmptyString)) })

/** `_meta` of the answer to a permission question: what the user wants instead. */
export const PermissionMeta = Schema.Struct({ followup_message: Lenient.drop(Schema.NonEmptyString) })
