/** Events as updates: each one is what the official schema describes, and says all that the event says. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { noCapabilities } from "../../../../src/domain/Capability.ts"
import { ConfigOption } from "../../../../src/domain/session/Config.ts"
import { CommandInfo, type Event, StoredEvent } from "../../../../src/domain/Event.ts"
import { ExecutionMode } from "../../../../src/domain/permission/ExecutionMode.ts"
import { MessageId, ToolCallId } from "../../../../src/domain/Ids.ts"
import { ToolCallPatch } from "../../../../src/domain/Tool.ts"
import { toUpdates } from "../../../../src/transports/acp/v1/Updates.ts"
import { problemsOf } from "../../../support/Schema.ts"

const knowsNotices = { ...noCapabilities, notices: true }

const transient = Schema.Union([
  Schema.TaggedStruct("ToolCallProgress", { id: ToolCallId, patch: ToolCallPatch }),
  Schema.TaggedStruct("ModeChanged", { mode: ExecutionMode }),
  Schema.TaggedStruct("ConfigChanged", { options: Schema.Array(ConfigOption) }),
  Schema.TaggedStruct("CommandsChanged", { commands: Schema.Array(CommandInfo) }),
  Schema.TaggedStruct("Notice", {
    severity: Schema.Literals(["info", "warning", "error"]),
    title: Schema.NonEmptyString,
    description: Schema.optionalKey(Schema.String)
  })
])

/** Counts of tokens, lines and bytes are never negative, which their domain types leave open. */
const isPlausible = (event: Event): boolean => {
  if (event._tag === "UsageUpdated") return event.used >= 0 && event.size >= 0
  const locations =
    event._tag === "ToolCallStarted" ? event.call.locations : "patch" in event ? (event.patch.locations ?? []) : []
  return locations.every(({ line }) => line === undefined || line >= 0)
}

const events: ReadonlyArray<readonly [string, Arbitrary.Arbitrary<Event>]> = [
  ["stored", Arbitrary.schema(StoredEvent)],
  ["transient", Arbitrary.schema(transient)]
]

const id = ToolCallId.make("t-1")
const messageId = MessageId.make("m-1")

const examples: ReadonlyArray<readonly [Event, ReadonlyArray<unknown>]> = [
  [
    {
      _tag: "UserMessage",
      messageId,
      content: [
        { type: "text", text: "a" },
        { type: "resource_link", uri: "u", name: "n" }
      ]
    },
    [
      { sessionUpdate: "user_message_chunk", messageId, content: { type: "text", text: "a" } },
      { sessionUpdate: "user_message_chunk", messageId, content: { type: "resource_link", uri: "u", name: "n" } }
    ]
  ],
  [
    { _tag: "TextDelta", messageId, text: "b" },
    [{ sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text: "b" } }]
  ],
  [
    { _tag: "ThoughtDelta", messageId, text: "c" },
    [{ sessionUpdate: "agent_thought_chunk", messageId, content: { type: "text", text: "c" } }]
  ],
  [
    {
      _tag: "ToolCallStarted",
      call: {
        id,
        name: "edit",
        title: "Edit a.txt",
        kind: "edit",
        status: "pending",
        locations: [{ path: "/w/a.txt", line: 3 }],
        content: [{ type: "diff", path: "/w/a.txt", oldText: null, newText: "x" }],
        rawInput: { path: "a.txt" }
      }
    },
    [
      {
        sessionUpdate: "tool_call",
        toolCallId: id,
        name: "edit",
        title: "Edit a.txt",
        kind: "edit",
        status: "pending",
        locations: [{ path: "/w/a.txt", line: 3 }],
        content: [{ type: "diff", path: "/w/a.txt", oldText: null, newText: "x" }],
        rawInput: { path: "a.txt" }
      }
    ]
  ],
  [
    { _tag: "ToolCallUpdated", id, patch: { status: "completed", rawOutput: { code: 0 } } },
    [{ sessionUpdate: "tool_call_update", toolCallId: id, status: "completed", rawOutput: { code: 0 } }]
  ],
  [
    { _tag: "ToolCallProgress", id, patch: { content: [{ type: "content", content: { type: "text", text: "o" } }] } },
    [
      {
        sessionUpdate: "tool_call_update",
        toolCallId: id,
        content: [{ type: "content", content: { type: "text", text: "o" } }]
      }
    ]
  ],
  [
    { _tag: "PlanUpdated", entries: [{ content: "p", priority: "high", status: "pending" }] },
    [{ sessionUpdate: "plan", entries: [{ content: "p", priority: "high", status: "pending" }] }]
  ],
  [
    { _tag: "UsageUpdated", used: 5, size: 10, cost: 0.25 },
    [{ sessionUpdate: "usage_update", used: 5, size: 10, cost: { amount: 0.25, currency: "USD" } }]
  ],
  [{ _tag: "UsageUpdated", used: 5, size: 10 }, [{ sessionUpdate: "usage_update", used: 5, size: 10 }]],
  [{ _tag: "InfoUpdated", title: "T" }, [{ sessionUpdate: "session_info_update", title: "T" }]],
  [{ _tag: "ModeChanged", mode: "plan" }, [{ sessionUpdate: "current_mode_update", currentModeId: "plan" }]],
  [
    {
      _tag: "ConfigChanged",
      options: [{ id: "o", name: "O", currentValue: "v", options: [{ value: "v", name: "V" }] }]
    },
    [
      {
        sessionUpdate: "config_option_update",
        configOptions: [{ type: "select", id: "o", name: "O", currentValue: "v", options: [{ value: "v", name: "V" }] }]
      }
    ]
  ],
  [
    {
      _tag: "CommandsChanged",
      commands: [
        { name: "a", description: "A" },
        { name: "b", description: "B", hint: "file" }
      ]
    },
    [
      {
        sessionUpdate: "available_commands_update",
        availableCommands: [
          { name: "a", description: "A" },
          { name: "b", description: "B", input: { hint: "file" } }
        ]
      }
    ]
  ],
  [
    { _tag: "Notice", severity: "warning", title: "W", description: "D" },
    [{ sessionUpdate: "notice", severity: "warning", title: "W", description: "D" }]
  ]
]

describe("updates of version 1", () => {
  for (const [event, updates] of examples) {
    it(`${event._tag} is told in full`, () => {
      assert.deepStrictEqual(toUpdates(event, knowsNotices), updates)
    })
  }

  it("TRN-13: a notice is only for a client that knows notices", () => {
    assert.deepStrictEqual(toUpdates({ _tag: "Notice", severity: "info", title: "N" }, noCapabilities), [])
  })

  for (const [kind, generator] of events) {
    it.effect.prop(
      `every ${kind} event is one or more valid updates`,
      [Arbitrary.filter(generator, isPlausible)],
      ([event]) =>
        Effect.sync(() => {
          const updates = toUpdates(event, { ...knowsNotices, compaction: true })
          if (event._tag !== "UserMessage") assert.lengthOf(updates, 1)
          for (const update of updates) {
            const written: unknown = JSON.parse(JSON.stringify({ sessionId: "s", update }))
            assert.deepStrictEqual(problemsOf("SessionNotification", written), [])
          }
        }),
      { arbitrary: { runs: 300 } }
    )
  }
})
