/** One event, one projection: the same updates when it happens and when the session is loaded. */
import * as Struct from "effect/Struct"
import type { EditorCapabilities } from "../../../domain/Capability.ts"
import type { ConfigChoice, ConfigOption as DomainOption } from "../../../domain/session/Config.ts"
import type { Event, ToolCallProgress } from "../../../domain/Event.ts"
import { outputText, type ToolCallPatch, type ToolContent } from "../../../domain/Tool.ts"
import type { SelectOption } from "../../../domain/wire/v1/Config.ts"
import type { ToolCallContent } from "../../../domain/wire/v1/Tool.ts"
import type { SessionUpdate } from "../../../domain/wire/v1/Update.ts"
import { freshOutput, parentMeta } from "../Extensions.ts"

export type Update = typeof SessionUpdate.Encoded

const choiceOf = (choice: ConfigChoice) => Struct.omit(choice, ["group"])

/** All our options are choices, flat or in groups; a boolean would need a client that knows it (CFG-01, CFG-02). */
export const selectOption = ({ options, ...option }: DomainOption): typeof SelectOption.Encoded => {
  const groups = new Map(options.flatMap(({ group }) => (group === undefined ? [] : [[group.id, group.name]])))
  if (groups.size === 0) return { ...option, type: "select", options: options.map(choiceOf) }
  return {
    ...option,
    type: "select",
    options: Array.from(groups, ([id, name]) => ({
      group: id,
      name,
      options: options.filter(({ group }) => group?.id === id).map(choiceOf)
    }))
  }
}

const shown = (item: ToolContent): typeof ToolCallContent.Encoded =>
  item.type === "output" ? { type: "content", content: { type: "text", text: outputText(item) } } : item

/** The fields of a call as this version writes them. */
export const toolCallFields = ({ content, ...rest }: ToolCallPatch) => ({
  ...rest,
  ...(content === undefined ? {} : { content: content.map(shown) })
})

const toolCallUpdate = (id: string, patch: ToolCallPatch): Update => ({
  sessionUpdate: "tool_call_update",
  toolCallId: id,
  ...toolCallFields(patch)
})

const progress = (
  { fresh, id, patch }: ToolCallProgress,
  { incrementalOutput }: EditorCapabilities
): ReadonlyArray<Update> => {
  if (fresh === undefined) return [toolCallUpdate(id, patch)]
  const { content, ...rest } = patch
  if (incrementalOutput) return fresh === "" ? [] : [toolCallUpdate(id, { ...rest, ...freshOutput(fresh) })]
  return content === undefined ? [] : [toolCallUpdate(id, patch)]
}

/** In the order in which they have to be sent. Empty for what this client does not know. */
export const toUpdates = (event: Event, capabilities: EditorCapabilities): ReadonlyArray<Update> => {
  switch (event._tag) {
    case "UserMessage":
      return event.content.map((content) => ({
        sessionUpdate: "user_message_chunk",
        content,
        messageId: event.messageId
      }))
    case "TextDelta":
      return [
        {
          sessionUpdate: "agent_message_chunk",
          content: { type: "text", text: event.text },
          messageId: event.messageId
        }
      ]
    case "ThoughtDelta":
      return [
        {
          sessionUpdate: "agent_thought_chunk",
          content: { type: "text", text: event.text },
          messageId: event.messageId
        }
      ]
    case "ToolCallStarted": {
      const { content, id, parent, ...call } = event.call
      return [
        {
          sessionUpdate: "tool_call",
          toolCallId: id,
          ...call,
          content: content.map(shown),
          ...(parent === undefined ? {} : { _meta: parentMeta(parent) })
        }
      ]
    }
    case "ToolCallProgress":
      return progress(event, capabilities)
    case "ToolCallUpdated":
      return [toolCallUpdate(event.id, event.patch)]
    case "PlanUpdated":
      return [{ sessionUpdate: "plan", entries: event.entries }]
    case "UsageUpdated":
      return [
        {
          sessionUpdate: "usage_update",
          used: event.used,
          size: event.size,
          ...(event.cost === undefined ? {} : { cost: { amount: event.cost, currency: "USD" } })
        }
      ]
    case "CompactionUpdated": {
      const { _tag, id, summary, ...state } = event
      const text = summary === undefined ? {} : { summary: [{ type: "text" as const, text: summary }] }
      return capabilities.compaction
        ? [{ sessionUpdate: "compaction_update", compactionId: id, ...state, ...text }]
        : []
    }
    case "InfoUpdated": {
      const { _tag, ...info } = event
      return [{ sessionUpdate: "session_info_update", ...info }]
    }
    case "ModeChanged":
      return [{ sessionUpdate: "current_mode_update", currentModeId: event.mode }]
    case "ConfigChanged":
      return [{ sessionUpdate: "config_option_update", configOptions: event.options.map(selectOption) }]
    case "CommandsChanged":
      return [
        {
          sessionUpdate: "available_commands_update",
          availableCommands: event.commands.map(({ hint, ...command }) =>
            hint === undefined ? command : { ...command, input: { hint } }
          )
        }
      ]
    // No update of the protocol says it: an extension does.
    case "ActivityChanged":
      return []
    case "Notice": {
      const { _tag, ...notice } = event
      return capabilities.notices ? [{ sessionUpdate: "notice", ...notice }] : []
    }
  }
}
