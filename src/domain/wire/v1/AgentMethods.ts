/** The methods that a client calls, and the notifications that it sends. */
import * as Rpc from "effect/rpc/Rpc"
import { request } from "../Method.ts"
import { SetConfigOptionRequest, SetConfigOptionResponse } from "./Config.ts"
import { AuthenticateRequest, Empty, InitializeRequest, InitializeResponse } from "./Initialize.ts"
import { PromptRequest, PromptResponse } from "./Prompt.ts"
import * as Session from "./Session.ts"

export const Initialize = request("initialize", InitializeRequest, InitializeResponse)
export const Authenticate = request("authenticate", AuthenticateRequest, Empty)
export const Logout = request("logout", Empty, Empty)
export const NewSession = request("session/new", Session.NewSessionRequest, Session.NewSessionResponse)
export const LoadSession = request("session/load", Session.LoadSessionRequest, Session.OpenSessionResponse)
export const ResumeSession = request("session/resume", Session.ResumeSessionRequest, Session.OpenSessionResponse)
export const ListSessions = request("session/list", Session.ListSessionsRequest, Session.ListSessionsResponse)
export const CloseSession = request("session/close", Session.SessionRequest, Empty)
export const DeleteSession = request("session/delete", Session.SessionRequest, Empty)
export const SetMode = request("session/set_mode", Session.SetModeRequest, Empty)
export const SetConfigOption = request("session/set_config_option", SetConfigOptionRequest, SetConfigOptionResponse)
export const Prompt = request("session/prompt", PromptRequest, PromptResponse)

export const Cancel = Rpc.make("session/cancel", { payload: Session.SessionRequest })
