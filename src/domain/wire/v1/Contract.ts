/**
 * Protocol version 1 as four groups: requests and notifications apart, since only requests are answered (RPC-05).
 * It is the whole stable protocol, also what this agent never sends.
 */
import * as RpcGroup from "effect/rpc/RpcGroup"
import * as Agent from "./AgentMethods.ts"
import * as Client from "./ClientMethods.ts"

/** What a client asks of an agent. */
export const AgentRequests = RpcGroup.make(
  Agent.Initialize,
  Agent.Authenticate,
  Agent.Logout,
  Agent.NewSession,
  Agent.LoadSession,
  Agent.ResumeSession,
  Agent.ListSessions,
  Agent.CloseSession,
  Agent.DeleteSession,
  Agent.SetMode,
  Agent.SetConfigOption,
  Agent.Prompt
)

/** What a client tells an agent. */
export const AgentNotifications = RpcGroup.make(Agent.Cancel)

/** What an agent asks of a client. */
export const ClientRequests = RpcGroup.make(
  Client.RequestPermission,
  Client.ReadTextFile,
  Client.WriteTextFile,
  Client.CreateTerminal,
  Client.TerminalOutput,
  Client.ReleaseTerminal,
  Client.KillTerminal,
  Client.WaitForTerminalExit,
  Client.CreateElicitation
)

/** What an agent tells a client. */
export const ClientNotifications = RpcGroup.make(Client.SessionUpdate, Client.CompleteElicitation)
