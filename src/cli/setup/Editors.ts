/** What each editor needs: an entry in a file of its own, or a text to paste where only a person knows the place. */
import type * as Schema from "effect/Schema"
import { printed } from "../../domain/text/json/JsonInsert.ts"
import type { Launch, Wanted } from "./AgentEntry.ts"
import type { EditorId } from "./EditorIds.ts"

const NAME = "Super-Pi"

/** An editor whose file has a known place. */
export interface FileEditor {
  readonly kind: "file"
  readonly title: string
  readonly wanted: Omit<Wanted, "launch" | "isSameCommand">
  /** What to do in the editor then. */
  readonly next: string
}

/** An editor whose set-up is pasted. */
export interface PastedEditor {
  readonly kind: "paste"
  readonly title: string
  readonly parts: (launch: Launch) => ReadonlyArray<{ readonly where: string; readonly text: string }>
}

const json = (value: Schema.Json): string => printed(value, { newline: "\n", unit: "  " })
const quoted = (text: string): string => JSON.stringify(text)

const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

const codeCompanion = ({ args, command }: Launch): string =>
  `require("codecompanion").setup({
  adapters = {
    acp = {
      super_pi = function()
        return require("codecompanion.adapters").extend("opencode", {
          name = "super_pi",
          formatted_name = "${NAME}",
          commands = { default = { ${[command, ...args].map(quoted).join(", ")} } },
        })
      end,
    },
  },
  interactions = { chat = { adapter = "super_pi" } },
})`

const avante = ({ args, command }: Launch): string =>
  `require("avante").setup({
  provider = "super-pi",
  acp_providers = {
    ["super-pi"] = { command = ${quoted(command)}, args = { ${args.map(quoted).join(", ")} } },
  },
  behaviour = { auto_approve_tool_permissions = false },
})`

const agentShell = ({ args, command }: Launch): string =>
  `(with-eval-after-load 'agent-shell
  (add-to-list 'agent-shell-agent-configs
    (agent-shell-make-agent-config
     :identifier 'super-pi
     :mode-line-name "${NAME}"
     :buffer-name "${NAME}"
     :shell-prompt "${NAME}> "
     :shell-prompt-regexp "${NAME}> "
     :client-maker (lambda (buffer)
                     (agent-shell--make-acp-client
                      :command ${quoted(command)}
                      :command-params '(${args.map(quoted).join(" ")})
                      :environment-variables (agent-shell-make-environment-variables :inherit-env t)
                      :context-buffer buffer)))))`

export const editors: Readonly<Record<EditorId, FileEditor | PastedEditor>> = {
  zed: {
    kind: "file",
    title: "Zed",
    wanted: { section: "agent_servers", name: NAME, before: { type: "custom" }, after: { env: {} } },
    next: "In Zed's Agent Panel, open the menu for new threads and choose it."
  },
  jetbrains: {
    kind: "file",
    title: "IDEs of JetBrains",
    wanted: { section: "agent_servers", name: NAME, before: {}, after: { env: {} } },
    next: "In the AI Chat tool window, choose it from the list of agents."
  },
  neovim: {
    kind: "paste",
    title: "Neovim, with CodeCompanion or avante.nvim",
    parts: (launch) => [
      { where: "With CodeCompanion, in your Neovim configuration:", text: codeCompanion(launch) },
      { where: "With avante.nvim, instead of that:", text: avante(launch) }
    ]
  },
  emacs: {
    kind: "paste",
    title: "Emacs, with agent-shell",
    parts: (launch) => [{ where: "In your init file; then M-x agent-shell offers it:", text: agentShell(launch) }]
  },
  vscode: {
    kind: "paste",
    title: "VS Code, with the extension ACP Client",
    parts: ({ args, command }) => [
      {
        where: "In settings.json (Preferences: Open User Settings (JSON)), beside what is there:",
        text: json({ "acp.agents": { [NAME]: { command, args, env: {} } } })
      }
    ]
  },
  acpx: {
    kind: "paste",
    title: "acpx, a client for terminals and scripts",
    parts: ({ args, command }) => [
      {
        where: "In ~/.acpx/config.json, beside what is there; then: acpx super-pi exec 'your task'",
        text: json({ agents: { "super-pi": { argv: [command, ...args] } } })
      },
      {
        where: "Or for once:",
        text: `npx acpx --agent ${shellWord([command, ...args].map(shellWord).join(" "))} exec 'your task'`
      }
    ]
  }
}

/** The entry alone, as it stands in a file that has nothing else. */
export const entryText = ({ wanted }: FileEditor, { args, command }: Launch): string =>
  json({ [wanted.section]: { [wanted.name]: { ...wanted.before, command, args, ...wanted.after } } })
