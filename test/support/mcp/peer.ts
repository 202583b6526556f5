/** Our side of a conversation with a server, outside of any session. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { ToolCallId } from "../../../src/domain/Ids.ts"
import type { McpContext } from "../../../src/services/McpManager.ts"
import * as McpPeer from "../../../src/services/mcp/McpPeer.ts"
import * as Redactor from "../../../src/services/mcp/Redactor.ts"
import type { CallContext } from "../../../src/services/mcp/McpServer.ts"
import { workspace } from "./session.ts"

export const makePeer = (context: Partial<McpContext> = {}) =>
  McpPeer.make({
    name: "x",
    redactor: Redactor.make([]),
    listsChanged: Effect.void,
    garbage: () => Effect.void,
    context: {
      sessionId: workspace.sessionId,
      cwd: "/w",
      roots: () => ["/w", "/w 100%/ü"],
      scratch: "/none",
      notify: () => Effect.void,
      elicitation: { form: false, url: false },
      elicit: () => Effect.succeed({ _tag: "Unanswered", reason: "nobody is there" }),
      ...context
    }
  })

export const callContext = (overrides: Partial<CallContext> = {}): CallContext => ({
  sessionId: workspace.sessionId,
  callId: ToolCallId.make("call-1"),
  elicit: undefined,
  progress: () => Effect.void,
  limit: { of: "silence", limit: Duration.minutes(10) },
  ...overrides
})
