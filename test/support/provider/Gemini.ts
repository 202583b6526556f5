import type { Dialect, Finish, Piece, Usage, Writer } from "./Dialect.ts"
import { data } from "./Dialect.ts"

const finishReason: { readonly [K in Finish]: string } = {
  stop: "STOP",
  length: "MAX_TOKENS",
  filter: "SAFETY",
  calls: "STOP"
}

const statusWord: { readonly [status: number]: string } = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  429: "RESOURCE_EXHAUSTED",
  529: "UNAVAILABLE"
}

const writer = (model: string): Writer => {
  const base = { modelVersion: model, responseId: "resp-1" }
  const part = (value: unknown): string =>
    data({ ...base, candidates: [{ content: { role: "model", parts: [value] }, index: 0 }] })
  return {
    open: () => "",
    piece: (piece: Piece): string => {
      if ("text" in piece) return part({ text: piece.text })
      if ("thought" in piece) return part({ text: piece.thought, thought: true, thoughtSignature: piece.signature })
      const { args, id, name } = piece.call
      // Arguments are an object here, so broken JSON cannot occur.
      return part({
        functionCall: { id, name, args: JSON.parse(args) },
        ...(piece.signature === undefined ? {} : { thoughtSignature: piece.signature })
      })
    },
    close: (finish: Finish, usage: Usage): string =>
      data({
        ...base,
        candidates: [
          { content: { role: "model", parts: [{ text: "" }] }, finishReason: finishReason[finish], index: 0 }
        ],
        usageMetadata: {
          promptTokenCount: usage.input,
          cachedContentTokenCount: usage.cached,
          candidatesTokenCount: usage.output - usage.reasoning,
          thoughtsTokenCount: usage.reasoning,
          totalTokenCount: usage.input + usage.output
        }
      }),
    overloaded: () => data({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } })
  }
}

export const gemini: Dialect = {
  writer,
  refusal: (status, message) =>
    JSON.stringify({ error: { code: status, message, status: statusWord[status] ?? "INTERNAL" } }),
  overflow: "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576)."
}
