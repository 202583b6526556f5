/** What the client can do, and what the agent says that it can do: only what is there (INI-08, INI-10). */
import type { EditorCapabilities } from "../../../domain/Capability.ts"
import type { InitializeResponse } from "../../../domain/wire/v1/Initialize.ts"
import type { ClientCapabilities } from "../../../domain/wire/v1/Capability.ts"
import type { AgentDescription } from "../../../services/Agent.ts"
import type { AuthMethod } from "../../../services/Auth.ts"
import {
  commandMeta,
  describeHarness,
  keepsOutput,
  methods,
  notifications,
  runsCommands,
  terminalsOf
} from "../Extensions.ts"
import type { Parties } from "../Version.ts"

export const capabilitiesOf = (client: ClientCapabilities | undefined): EditorCapabilities => ({
  readTextFile: client?.fs?.readTextFile ?? false,
  terminalAuth: client?.auth?.terminal ?? false,
  terminalCommand: runsCommands(client?._meta),
  notices: client?.session?.notices !== undefined,
  compaction: client?.session?.compaction !== undefined,
  incrementalOutput: keepsOutput(client?._meta),
  terminals: terminalsOf(client?._meta),
  elicitation: { form: client?.elicitation?.form !== undefined, url: client?.elicitation?.url !== undefined }
})

/** A client that runs no terminal for us could do nothing with such a method (AUT-02). */
const authMethod = ({ terminal, ...method }: AuthMethod, client: EditorCapabilities) => {
  if (terminal === undefined) return [method]
  const { args, program } = terminal
  const meta = client.terminalCommand && program !== undefined ? commandMeta(method.name, program) : undefined
  if (client.terminalAuth) return [{ type: "terminal" as const, ...method, args, ...meta }]
  return meta === undefined ? [] : [{ ...method, ...meta }]
}

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
  authMethods: description.authMethods.flatMap((method) => authMethod(method, capabilities)),
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
