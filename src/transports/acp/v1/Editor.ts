/** The editor behind a client of version 1: told by `session/update`, asked by requests of ours. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { EditorCapabilities } from "../../../domain/Capability.ts"
import type { Elicitation, ElicitationAnswer } from "../../../domain/Elicitation.ts"
import type { Answer, Question } from "../../../domain/permission/Permission.ts"
import { ErrorCode } from "../../../domain/wire/ErrorCode.ts"
import { ReadTextFileResponse } from "../../../domain/wire/v1/Client.ts"
import { CreateElicitationRequest, CreateElicitationResponse, Form } from "../../../domain/wire/v1/Elicitation.ts"
import { RequestPermissionResponse, type RequestPermissionRequest } from "../../../domain/wire/v1/Tool.ts"
import { type Editor, EditorFailed } from "../../../services/Editor.ts"
import { Activity } from "../../../domain/wire/Extensions.ts"
import { activityOf, followUpOf, positionMeta } from "../Extensions.ts"
import type { Client } from "../Version.ts"
import { makeProjection } from "./Terminals.ts"
import { toolCallFields } from "./Updates.ts"

const decodePermission = Schema.decodeUnknownEffect(RequestPermissionResponse)
const decodeForm = Schema.decodeUnknownEffect(Form)
const decodeElicited = Schema.decodeUnknownEffect(CreateElicitationResponse)
const readContent = Schema.decodeUnknownOption(Schema.Struct({ content: Schema.Record(Schema.String, Schema.Json) }))
const encodeElicitation = Schema.encodeEffect(CreateElicitationRequest)
const decodeText = Schema.decodeUnknownEffect(ReadTextFileResponse)

const NOT_UNDERSTOOD = "The editor's answer was not understood"

const permissionRequest = ({ sessionId, call, options }: Question): typeof RequestPermissionRequest.Encoded => ({
  sessionId,
  toolCall: { toolCallId: call.id, ...toolCallFields(call.patch) },
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

const elicitation = Effect.fnUntraced(function* (request: Elicitation) {
  const { callId, message, sessionId } = request
  const scope = { sessionId, ...(callId === undefined ? {} : { toolCallId: callId }), message }
  if (request._tag === "Url") {
    const { elicitationId, url } = request
    return yield* encodeElicitation({ ...scope, mode: "url", elicitationId, url })
  }
  const requestedSchema = yield* decodeForm({ type: "object", ...request.schema })
  return yield* encodeElicitation({ ...scope, mode: "form", requestedSchema })
})

const elicited = (response: typeof CreateElicitationResponse.Type): ElicitationAnswer => {
  switch (response.action) {
    case "accept":
      return { _tag: "Accepted", content: Option.getOrElse(readContent(response), () => ({ content: {} })).content }
    case "decline":
      return { _tag: "Declined" }
    case "cancel":
      return { _tag: "Cancelled" }
    default:
      return { _tag: "Unanswered", reason: NOT_UNDERSTOOD }
  }
}

const emitter = (client: Client, capabilities: EditorCapabilities): Editor["emit"] => {
  const project = makeProjection(capabilities)
  return (sessionId, event, position) => {
    if (event._tag === "ActivityChanged") return client.notify(Activity._tag, activityOf(sessionId, event))
    const meta = positionMeta(position)
    return Effect.forEach(
      project(sessionId, event),
      (update) => client.notify("session/update", { sessionId, update, ...meta }),
      { discard: true }
    )
  }
}

export const makeEditor = (client: Client, capabilities: EditorCapabilities): Editor => ({
  capabilities,
  emit: emitter(client, capabilities),
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
  elicit: Effect.fn("Editor.elicit")((request: Elicitation) =>
    elicitation(request).pipe(
      Effect.flatMap((params) => client.request("elicitation/create", params)),
      Effect.flatMap(decodeElicited),
      Effect.map(elicited),
      Effect.catchTags({
        WireError: (error) =>
          Effect.succeed<ElicitationAnswer>({
            _tag: "Unanswered",
            reason: `The editor could not ask: ${error.message}`
          }),
        ConnectionClosed: () => Effect.succeed<ElicitationAnswer>({ _tag: "Gone" }),
        SchemaError: () => Effect.succeed<ElicitationAnswer>({ _tag: "Unanswered", reason: NOT_UNDERSTOOD })
      })
    )
  ),
  readTextFile: Effect.fn("Editor.readTextFile")(function* (sessionId, path, range) {
    if (!capabilities.readTextFile) {
      return yield* new EditorFailed({ notFound: false, message: "The editor does not offer its files" })
    }
    return yield* client.request("fs/read_text_file", { sessionId, path, ...range }).pipe(
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
