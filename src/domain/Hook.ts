/** Programs of the user that hear of what happens in a session, and may forbid some of it. */
import type * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { clip } from "./text/Clip.ts"

/** `PreToolUse`, `UserPromptSubmit` and `Stop` can forbid what they are told of; the others are only told. */
export const HookEvent = Schema.Literals([
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PermissionDenied",
  "Stop",
  "SessionEnd"
])
export type HookEvent = typeof HookEvent.Type

/** One hook as it is configured. */
export interface HookSettings {
  readonly event: HookEvent
  /** A tool name or a regular expression over it; absent, empty or `*`: every tool. Only for events of a tool. */
  readonly matcher?: string
  readonly action:
    | { readonly _tag: "Command"; readonly command: string }
    | { readonly _tag: "Http"; readonly url: string }
  /** Default: 5 s, of `Stop` 600 s. */
  readonly timeout?: Duration.Duration
  /** Whether its failure is only told. Otherwise a hook that crashes or times out forbids. */
  readonly advisory: boolean
  /** Variables beside those that it inherits; the values may be secrets. */
  readonly environment: Readonly<Record<string, Redacted.Redacted<string>>>
  /** The file that it comes from, for messages. */
  readonly source: string
}

/** What happens, as a hook hears of it. `input` is what the model wrote. */
export type HookOccasion =
  | { readonly event: "SessionStart" }
  | { readonly event: "UserPromptSubmit"; readonly prompt: string }
  | { readonly event: "PreToolUse"; readonly tool: string; readonly callId: string; readonly input: unknown }
  | {
      readonly event: "PostToolUse"
      readonly tool: string
      readonly callId: string
      readonly input: unknown
      readonly output: string
      readonly failed: boolean
    }
  | {
      readonly event: "PermissionDenied"
      readonly tool: string
      readonly callId: string
      readonly input: unknown
      readonly reason: string
    }
  | { readonly event: "Stop"; readonly text: string }
  | { readonly event: "SessionEnd" }

/** Names under which other agents know our tools, which hooks written for those match by. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["bash", "Bash"],
  ["read", "Read"],
  ["edit", "Edit"],
  ["apply_patch", "Edit"],
  ["write", "Write"],
  ["grep", "Grep"],
  ["glob", "Glob"],
  ["list", "LS"],
  ["todo", "TodoWrite"],
  ["web_fetch", "WebFetch"],
  ["task", "Task"]
])

/** What a matcher says of a tool; one that is no regular expression is only a name. */
const fits = (matcher: string, tool: string): boolean => {
  if (matcher === tool) return true
  const pattern = Result.try(() => new RegExp(`^(?:${matcher})$`))
  return Result.isSuccess(pattern) && pattern.success.test(tool)
}

/** The hooks that hear of it, in their order. */
export const hooksFor = (hooks: ReadonlyArray<HookSettings>, occasion: HookOccasion): ReadonlyArray<HookSettings> =>
  hooks.filter(({ event, matcher = "" }) => {
    if (event !== occasion.event) return false
    if (matcher === "" || matcher === "*" || !("tool" in occasion)) return true
    const alias = aliases.get(occasion.tool)
    return fits(matcher, occasion.tool) || (alias !== undefined && fits(matcher, alias))
  })

/** What a hook is told of the session. */
export interface HookPlace {
  readonly sessionId: string
  readonly cwd: string
  readonly workspaceRoot: string
  /** RFC 3339. */
  readonly timestamp: string
  readonly permissionMode: string
}

/** Characters of a tool's input or output that a hook is told. */
const LIMIT = 64 * 1024

const snake = (event: HookEvent): string => event.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

/** Under the names that hooks written for other agents look for, which would find nothing and let all go on. */
const foreignFields = (tool: string, callId: string, input: unknown) => {
  const file = Predicate.hasProperty(input, "path") ? { file_path: input.path } : {}
  return {
    tool_name: aliases.get(tool) ?? tool,
    tool_use_id: callId,
    tool_input: Predicate.isObject(input) ? { ...file, ...input } : input
  }
}

const toolFields = ({
  callId,
  input,
  tool
}: {
  readonly tool: string
  readonly callId: string
  readonly input: unknown
}) => {
  const text = JSON.stringify(input) ?? "null"
  const isLong = text.length > LIMIT
  const told = isLong ? clip(text, LIMIT).toWellFormed() : input
  return {
    toolName: tool,
    toolUseId: callId,
    toolInput: told,
    ...(isLong ? { toolInputTruncated: true } : {}),
    ...foreignFields(tool, callId, told)
  }
}

const fieldsOf = (occasion: HookOccasion): object => {
  switch (occasion.event) {
    case "SessionStart":
    case "SessionEnd":
      return {}
    case "UserPromptSubmit":
      return { prompt: occasion.prompt }
    case "PreToolUse":
      return toolFields(occasion)
    case "PostToolUse": {
      const { failed, output } = occasion
      const told = clip(output, LIMIT).toWellFormed()
      return { ...toolFields(occasion), toolOutput: told, tool_response: told, toolFailed: failed }
    }
    case "PermissionDenied":
      return { ...toolFields(occasion), reason: occasion.reason }
    case "Stop":
      return { lastMessage: occasion.text.slice(-LIMIT).toWellFormed() }
  }
}

/** What a hook reads: one JSON object. */
export const hookInput = (occasion: HookOccasion, place: HookPlace): string =>
  JSON.stringify({
    hookEventName: snake(occasion.event),
    ...place,
    hook_event_name: occasion.event,
    session_id: place.sessionId,
    ...fieldsOf(occasion)
  })
