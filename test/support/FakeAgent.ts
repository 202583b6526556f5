/** An agent that only records what it is asked, to test what stands before it. */
import * as Effect from "effect/Effect"
import { offered } from "../../src/domain/permission/ExecutionMode.ts"
import { harnesses } from "../../src/domain/Harness.ts"
import { SessionId } from "../../src/domain/Ids.ts"
import type { AgentConnection, AgentShape, ConnectOptions, SessionSnapshot } from "../../src/services/Agent.ts"
import type { FoundAgent } from "../../src/domain/CustomAgent.ts"
import type { Editor } from "../../src/services/Editor.ts"

export interface Intent {
  readonly name: string
  readonly args: ReadonlyArray<unknown>
}

export interface FakeAgent {
  readonly agent: AgentShape
  /** What was asked, in order. */
  readonly intents: ReadonlyArray<Intent>
  readonly connections: ReadonlyArray<{ readonly editor: Editor; readonly options: ConnectOptions }>
}

export const snapshot: SessionSnapshot = {
  sessionId: SessionId.make("s-1"),
  working: false,
  mode: "ask",
  modes: offered("always-approve"),
  options: [
    {
      id: "model",
      name: "Model",
      category: "model",
      currentValue: "a/one",
      options: [
        { value: "a/one", name: "One" },
        { value: "a/two", name: "Two", description: "Larger" }
      ]
    }
  ]
}

const reviewer: FoundAgent = {
  name: "reviewer",
  description: "Reads a change",
  prompt: "Look for mistakes.",
  replaces: false,
  scope: "user",
  path: "/home/me/.supercharge/agents/reviewer.md"
}

/** `overrides` replace intents; they are recorded all the same. */
export const makeFakeAgent = (overrides?: (editor: Editor) => Partial<AgentConnection>): FakeAgent => {
  const intents: Array<Intent> = []
  const connections: Array<{ readonly editor: Editor; readonly options: ConnectOptions }> = []

  const recorded =
    <Args extends ReadonlyArray<unknown>, A>(name: string, run: (...args: Args) => A) =>
    (...args: Args): A => {
      intents.push({ name, args })
      return run(...args)
    }

  const connect = (editor: Editor): AgentConnection => {
    const base: AgentConnection = {
      describe: Effect.succeed({
        authMethods: [
          { id: "token", name: "Token", description: "A gateway token" },
          {
            id: "login",
            name: "Log in",
            description: "In a terminal",
            terminal: { args: ["login"], program: { command: "/bin/agent", args: ["login"] } }
          }
        ],
        harnesses,
        defaultHarness: "super-pi-code",
        image: true,
        mcpHttp: true
      }),
      authenticate: () => Effect.void,
      logout: Effect.void,
      newSession: () => Effect.succeed(snapshot),
      loadSession: () => Effect.succeed(snapshot),
      resumeSession: () => Effect.succeed(snapshot),
      forkSession: () => Effect.succeed({ ...snapshot, sessionId: SessionId.make("s-2") }),
      listSessions: () => Effect.succeed({ sessions: [] }),
      closeSession: () => Effect.void,
      deleteSession: () => Effect.void,
      prompt: () => Effect.succeed({ stopReason: "end_turn" }),
      cancel: () => Effect.void,
      setMode: () => Effect.void,
      setOption: () => Effect.succeed(snapshot.options),
      listAgents: () => Effect.succeed({ agents: [reviewer], current: undefined }),
      createAgent: (_id, { name }) => Effect.succeed({ ...reviewer, name }),
      undo: () => Effect.succeed({ _tag: "Nothing" }),
      diff: () => Effect.succeed({ diff: "", files: [], truncated: false }),
      announce: () => Effect.void,
      ...overrides?.(editor)
    }
    return {
      describe: base.describe,
      authenticate: recorded("authenticate", base.authenticate),
      logout: Effect.suspend(recorded("logout", () => base.logout)),
      newSession: recorded("newSession", base.newSession),
      loadSession: recorded("loadSession", base.loadSession),
      resumeSession: recorded("resumeSession", base.resumeSession),
      forkSession: recorded("forkSession", base.forkSession),
      listSessions: recorded("listSessions", base.listSessions),
      closeSession: recorded("closeSession", base.closeSession),
      deleteSession: recorded("deleteSession", base.deleteSession),
      prompt: recorded("prompt", base.prompt),
      cancel: recorded("cancel", base.cancel),
      setMode: recorded("setMode", base.setMode),
      setOption: recorded("setOption", base.setOption),
      listAgents: recorded("listAgents", base.listAgents),
      createAgent: recorded("createAgent", base.createAgent),
      undo: recorded("undo", base.undo),
      diff: recorded("diff", base.diff),
      announce: recorded("announce", base.announce)
    }
  }

  return {
    agent: {
      connect: (editor, options) =>
        Effect.sync(() => {
          connections.push({ editor, options })
          return connect(editor)
        }),
      working: Effect.succeed([]),
      idle: Effect.void
    },
    intents,
    connections
  }
}
