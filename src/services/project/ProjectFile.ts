/** Reads the text of one file of a project. It may speak of a few sections only; the rest is the person's. */
import * as Toml from "effect/encoding/Toml"
import * as Result from "effect/Result"
import type { HookSettings } from "../../domain/Hook.ts"
import type { SandboxProfile } from "../../domain/sandbox/Profile.ts"
import type { McpServerSettings, PermissionSettings } from "../Settings.ts"
import { readProfile, withoutProfile } from "../settings/AgentSections.ts"
import type { Choices } from "../settings/Choices.ts"
import { choiceSections, readChoices, tellBesideChoices } from "../settings/ChoiceSection.ts"
import { type Complain, rootSection } from "../settings/ConfigKey.ts"
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

const sections = ["permission", "hooks", "mcp_servers", "sandbox", ...choiceSections]

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
      tellBesideChoices(root, complain)
      return {
        permission: readPermission(root.section("permission"), complain, complain),
        hooks: readHooks(root.section("hooks"), file, complain, complain),
        mcpServers: readServers(root.section("mcp_servers"), complain, file),
        choices: readChoices(root),
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
