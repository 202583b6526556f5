/** The one place where failures of the agent get the codes of the wire. */
import type { Failure } from "../../domain/Failure.ts"
import { ErrorCode, WireError } from "../../domain/wire/ErrorCode.ts"
import { clip } from "../../domain/text/Clip.ts"

/** Longest error message, in characters: it is meant to be shown in one line (RPC-14). */
const maxLength = 500

/** Text as one line that an editor can show. */
export const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > maxLength ? `${clip(line, maxLength - 1)}…` : line
}

/** What a request calls the arguments of an intent, where its names are others. */
export type FieldNames = Readonly<Record<string, string>>

export const toWireError = (failure: Failure, names: FieldNames = {}): WireError => {
  switch (failure._tag) {
    case "AuthRequired":
      return new WireError({ code: ErrorCode.AuthRequired, message: oneLine(failure.message) })
    case "SessionNotFound":
      return new WireError({
        code: ErrorCode.ResourceNotFound,
        message: oneLine(`${failure.message}: load one that session/list names, or start one with session/new`),
        data: { sessionId: failure.sessionId }
      })
    case "InvalidInput": {
      const field = names[failure.field] ?? failure.field
      return new WireError({
        code: ErrorCode.InvalidParams,
        message: oneLine(`${field}: ${failure.message}`),
        data: { field }
      })
    }
    case "Busy":
      return new WireError({ code: ErrorCode.InvalidRequest, message: oneLine(failure.message) })
    case "StoreFailed":
      return new WireError({
        code: ErrorCode.InternalError,
        message: oneLine(failure.message),
        data: { reason: failure.reason }
      })
  }
}
