/** The four streaming protocols of model providers, as they look on the wire. */

export interface Usage {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

/** `signature` is what the provider wants to see again with the thought or the call. */
export type Piece =
  | { readonly text: string }
  | { readonly thought: string; readonly signature: string }
  | {
      readonly call: { readonly id: string; readonly name: string; readonly args: string }
      readonly signature?: string
    }

export type Finish = "stop" | "length" | "filter" | "calls"

/** Writes one answer. The texts that it gives are bytes of the wire. */
export interface Writer {
  readonly open: () => string
  readonly piece: (piece: Piece) => string
  readonly close: (finish: Finish, usage: Usage) => string
  /** The event by which the protocol says in mid-stream that it is overloaded. */
  readonly overloaded: () => string
}

export interface Dialect {
  readonly writer: (model: string) => Writer
  /** The body of an HTTP error. */
  readonly refusal: (status: number, message: string) => string
  /** What this protocol says when a conversation is too long. */
  readonly overflow: string
}

export const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
export const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
