/** A description of an MCP server. Values that may hold secrets are redacted from the moment they are decoded (MCP-08). */
import type * as Redacted from "effect/Redacted"

export interface Pair {
  readonly name: string
  readonly value: Redacted.Redacted<string>
}

interface Remote {
  readonly name: string
  readonly url: string
  readonly headers: ReadonlyArray<Pair>
}

/**
 * An MCP server to connect: a program to start, or an address. `Http` is Streamable HTTP, and falls back to what `Sse` means:
 * the transport of the protocol's first revision. Values of `env` and headers are never shown.
 */
export type McpSpec =
  | {
      readonly _tag: "Stdio"
      readonly name: string
      readonly command: string
      readonly args: ReadonlyArray<string>
      readonly env: ReadonlyArray<Pair>
    }
  | ({ readonly _tag: "Http" } & Remote)
  | ({ readonly _tag: "Sse" } & Remote)
