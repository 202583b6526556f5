/** Reads the text of one file of a project. It may speak of a few sections only; the rest is the person's. */
import * as Duration from "effect/Duration"
import * as Toml from "effect/encoding/Toml"
import * as Result from "effect/Result"
import type { HookSettings } from "../../domain/Hook.ts"
import type { SandboxProfile } from "../../domain/sandbox/Profile.ts"
import type { McpServerSettings, PermissionSettings } from "../Settings.ts"
import { modeOf, readProfile, withoutProfile } from "../settings/AgentSections.ts"
import type { Choices } from "../settings/Choices.ts"
import { type Complain, rootSection, type Section, tellUnknown } from "../settings/ConfigKey.ts"
import * as keys from "../settings/ConfigKeys.ts"
import { placeIn } from "../settings/ConfigLines.ts"
import { parseHookFile, readHooks } from "../settings/HookSection.ts"
import { parseServerFile, readServers } from "../settings/McpSection.ts"
import { readPermission } from "../settings/PermissionSection.ts"
import { describeTomlProblem } from "../settings/TomlProblem.ts"

export type FileKind = "config" | "hooks" | "servers"

export interface FileContent {
  readonly permission: PermissionSettings
  readonly hooks: ReadonlyArray<HookSettings>
  readonly mcpServers: ReadonlyArray<McpServerSettings>
  readonly sandboxProfile: SandboxProfile | undefined
  readonly choices: Choices
  readonly warnings: ReadonlyArray<string>
}

export const nothingSaid: FileContent = {
  permission: { allow: [], ask: [], deny: [] },
  hooks: [],
  mcpServers: [],
  sandboxProfile: undefined,
  choices: {},
  warnings: []
}

/** More would be noise in a session. */
const MOST_WARNINGS = 10

const sections = ["permission", "hooks", "mcp_servers", "sandbox", "models", "agent", "ui", "toolset", "tools"]

/** The few keys of these sections that are no business of the person alone. */
const readChoices = (root: Section, complain: Complain): Choices => {
  const models = root.section("models")
  const toolset = root.section("toolset")
  tellUnknown(models, Object.keys(keys.models), complain)
  tellUnknown(root.section("agent"), Object.keys(keys.agent), complain)
  tellUnknown(root.section("ui"), ["permission_mode"], complain)
  tellUnknown(toolset, ["bash"], complain)
  tellUnknown(toolset.section("bash"), ["timeout_secs"], complain)
  tellUnknown(root.section("tools"), Object.keys(keys.tools), complain)
  const defaultModel = models.read("default", keys.models.default)
  const defaultEffort = models.read("default_reasoning_effort", keys.models.default_reasoning_effort)
  const harness = root.section("agent").read("harness", keys.agent.harness)
  const mode = root.section("ui").read("permission_mode", keys.ui.permission_mode)
  const seconds = toolset.section("bash").read("timeout_secs", keys.bash.timeout_secs)
  const respectGitignore = root.section("tools").read("respect_gitignore", keys.tools.respect_gitignore)
  return {
    ...(defaultModel === undefined ? {} : { defaultModel }),
    ...(defaultEffort === undefined ? {} : { defaultEffort }),
    ...(harness === undefined ? {} : { harness }),
    ...(mode === undefined ? {} : { mode: modeOf(mode) }),
    ...(seconds === undefined ? {} : { commandTimeout: Duration.seconds(seconds) }),
    ...(respectGitignore === undefined ? {} : { respectGitignore })
  }
}

const parseConfig = (text: string, file: string): Result.Result<FileContent, string> =>
  Toml.parse(text).pipe(
    Result.mapError(({ message }) => `${file} ${describeTomlProblem(message, text)}`),
    Result.map((document) => {
      const warnings: Array<string> = []
      const place = placeIn(file, text)
      const complain: Complain = (at, problem) => void warnings.push(`${place(at)}: ${at} ${problem}`)
      const root = rootSection(document, complain)
      for (const { meant, path } of root.unknown(sections)) {
        const remedy = meant === undefined ? `it may have ${sections.join(", ")}` : `did you mean [${meant}]?`
        complain(path, `is not read in a project; ${remedy}${withoutProfile(root, meant)}`)
      }
      return {
        permission: readPermission(root.section("permission"), complain, complain),
        hooks: readHooks(root.section("hooks"), file, complain, complain),
        mcpServers: readServers(root.section("mcp_servers"), complain, file),
        choices: readChoices(root, complain),
        sandboxProfile: readProfile(root, complain),
        warnings
      }
    })
  )

const parsers: Readonly<Record<FileKind, (text: string, file: string) => Result.Result<FileContent, string>>> = {
  config: parseConfig,
  hooks: (text, file) =>
    Result.map(parseHookFile(text, file), ({ hooks, warnings }) => ({ ...nothingSaid, hooks, warnings })),
  servers: (text, file) =>
    Result.map(parseServerFile(text, file), ({ servers, warnings }) => ({
      ...nothingSaid,
      mcpServers: servers,
      warnings
    }))
}

/** Fails with a sentence where the file says nothing at all. */
export const parseProjectFile = (text: string, file: string, kind: FileKind): Result.Result<FileContent, string> =>
  Result.map(parsers[kind](text, file), (content) => {
    const more = content.warnings.length - MOST_WARNINGS
    if (more <= 0) return content
    return {
      ...content,
      warnings: [...content.warnings.slice(0, MOST_WARNINGS), `${file}: ${more} more values are ignored`]
    }
  })
