/** What the client can do, and what the agent says that it can do: only what is there (INI-08, INI-10). */
import type { EditorCapabilities } from "../../../domain/Capability.ts"
import type { InitializeResponse } from "../../../domain/wire/v1/Initialize.ts"
import type { ClientCapabilities } from "../../../domain/wire/v1/Capability.ts"
import type { AgentDescription } from "../../../services/Agent.ts"
import type { AuthMethod } from "../../../services/Auth.ts"
import { describeHarness, keepsOutput, methods, notifications, terminalsOf } from "../Extensions.ts"
import type { Parties } from "../Version.ts"

export const capabilitiesOf = (client: ClientCapabilities | undefined): EditorCapabilities => ({
  readTextFile: client?.fs?.readTextFile ?? false,
  terminalAuth: client?.auth?.terminal ?? false,
  notices: client?.session?.notices !== undefined,
  compaction: client?.session?.compaction !== undefined,
  incrementalOutput: keepsOutput(client?._meta),
  terminals: terminalsOf(client?._meta),
  elicitation: { form: client?.elicitation?.form !== undefined, url: client?.elicitation?.url !== undefined }
})

const authMethod = ({ terminal, ...method }: AuthMethod) =>
  terminal === undefined ? method : { type: "terminal" as const, ...method, args: terminal.args }

export const describe = (
  description: AgentDescription,
  capabilities: EditorCapabilities,
  parties: Parties
): typeof InitializeResponse.Encoded => ({
  protocolVersion: 1,
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: description.image, audio: false, embeddedContext: true },
    mcpCapabilities: { http: description.mcpHttp, sse: description.mcpHttp },
    sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
    auth: { logout: {} },
    _meta: { superPi: { harnesses: description.harnesses.map(({ id }) => id), methods, notifications } }
  },
  // A client that runs no terminal for us could do nothing with those (AUT-02).
  authMethods: description.authMethods
    .filter(({ terminal }) => terminal === undefined || capabilities.terminalAuth)
    .map(authMethod),
  agentInfo: {
    name: parties.agentName ?? "super-pi",
    title: parties.agentName ?? "Super-Pi",
    version: parties.agentVersion
  },
  _meta: {
    superPi: {
      harnesses: description.harnesses.map((harness) =>
        describeHarness(harness, harness.id === description.defaultHarness, parties.options.ceiling)
      )
    }
  }
})
