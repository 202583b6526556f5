/** The editor behind a client of version 1: told by `session/update`, asked by requests of ours. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { EditorCapabilities } from "../../../domain/Capability.ts"
import type { Answer, Question } from "../../../domain/permission/Permission.ts"
import { ErrorCode } from "../../../domain/wire/ErrorCode.ts"
import { ReadTextFileResponse } from "../../../domain/wire/v1/Client.ts"
import { RequestPermissionResponse, type RequestPermissionRequest } from "../../../domain/wire/v1/Tool.ts"
import { type Editor, EditorFailed } from "../../../services/Editor.ts"
import { Activity } from "../../../domain/wire/Extensions.ts"
import { activityOf, followUpOf, positionMeta } from "../Extensions.ts"
import type { Client } from "../Version.ts"
import { toUpdates } from "./Updates.ts"

const decodePermission = Schema.decodeUnknownEffect(RequestPermissionResponse)
const decodeText = Schema.decodeUnknownEffect(ReadTextFileResponse)

const NOT_UNDERSTOOD = "The editor's answer was not understood"

const permissionRequest = ({ sessionId, call, options }: Question): typeof RequestPermissionRequest.Encoded => ({
  sessionId,
  toolCall: { toolCallId: call.id, ...call.patch },
  options: options.map(({ id, name, kind }) => ({ optionId: id, name, kind }))
})

const unanswered = (reason: string): Answer => ({ _tag: "Unanswered", reason })

/** Only an option that was offered counts; whatever else comes is no approval (PRM-03, CAN-06). */
const answerTo = (question: Question, response: typeof RequestPermissionResponse.Type): Answer => {
  const { outcome } = response
  if (outcome.outcome === "cancelled") return { _tag: "Cancelled" }
  if (!question.options.some(({ id }) => id === outcome.optionId)) {
    return unanswered("The editor chose an option that was not offered")
  }
  const message = followUpOf(response._meta)
  return { _tag: "Selected", optionId: outcome.optionId, ...(message === undefined ? {} : { message }) }
}

export const makeEditor = (client: Client, capabilities: EditorCapabilities): Editor => ({
  capabilities,
  emit: (sessionId, event, position) => {
    if (event._tag === "ActivityChanged") return client.notify(Activity._tag, activityOf(sessionId, event))
    const meta = positionMeta(position)
    return Effect.forEach(
      toUpdates(event, capabilities),
      (update) => client.notify("session/update", { sessionId, update, ...meta }),
      { discard: true }
    )
  },
  caughtUp: client.caughtUp,
  isGone: client.isClosed,
  ask: Effect.fn("Editor.ask")((question: Question) =>
    client.request("session/request_permission", permissionRequest(question)).pipe(
      Effect.flatMap(decodePermission),
      Effect.map((response) => answerTo(question, response)),
      Effect.catchTags({
        WireError: (error) => Effect.succeed(unanswered(`The editor could not ask: ${error.message}`)),
        ConnectionClosed: () => Effect.succeed<Answer>({ _tag: "Gone" }),
        SchemaError: () => Effect.succeed(unanswered(NOT_UNDERSTOOD))
      })
    )
  ),
  readTextFile: Effect.fn("Editor.readTextFile")(function* (sessionId, path) {
    if (!capabilities.readTextFile) {
      return yield* new EditorFailed({ notFound: false, message: "The editor does not offer its files" })
    }
    return yield* client.request("fs/read_text_file", { sessionId, path }).pipe(
      Effect.flatMap(decodeText),
      Effect.map(({ content }) => content),
      Effect.mapError(
        (error) =>
          new EditorFailed({
            notFound: error._tag === "WireError" && error.code === ErrorCode.ResourceNotFound,
            message: error._tag === "SchemaError" ? NOT_UNDERSTOOD : error.message
          })
      )
    )
  })
})
