/** The methods that an agent calls, and the notifications that it sends. */
import * as Rpc from "effect/rpc/Rpc"
import { request } from "../Method.ts"
import * as Client from "./Client.ts"
import * as Elicitation from "./Elicitation.ts"
import { RequestPermissionRequest, RequestPermissionResponse } from "./Tool.ts"
import { SessionNotification } from "./Update.ts"

export const RequestPermission = request(
  "session/request_permission",
  RequestPermissionRequest,
  RequestPermissionResponse
)
export const ReadTextFile = request("fs/read_text_file", Client.ReadTextFileRequest, Client.ReadTextFileResponse)
export const WriteTextFile = request("fs/write_text_file", Client.WriteTextFileRequest, Client.Done)
export const CreateTerminal = request("terminal/create", Client.CreateTerminalRequest, Client.CreateTerminalResponse)
export const TerminalOutput = request("terminal/output", Client.TerminalRequest, Client.TerminalOutputResponse)
export const ReleaseTerminal = request("terminal/release", Client.TerminalRequest, Client.Done)
export const KillTerminal = request("terminal/kill", Client.TerminalRequest, Client.Done)
export const WaitForTerminalExit = request(
  "terminal/wait_for_exit",
  Client.TerminalRequest,
  Client.WaitForTerminalExitResponse
)
export const CreateElicitation = request(
  "elicitation/create",
  Elicitation.CreateElicitationRequest,
  Elicitation.CreateElicitationResponse
)

export const SessionUpdate = Rpc.make("session/update", { payload: SessionNotification })
export const CompleteElicitation = Rpc.make("elicitation/complete", { payload: Elicitation.CompleteElicitation })
