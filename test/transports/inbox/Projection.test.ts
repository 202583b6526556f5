import { assert, describe, it } from "@effect/vitest"
import { MessageId, ToolCallId } from "../../../src/domain/Ids.ts"
import type { ToolStatus } from "../../../src/domain/Tool.ts"
import * as Projection from "../../../src/transports/inbox/Projection.ts"

const id = ToolCallId.make("call")

describe("what is told of a session", () => {
  it("has a tool call once for each title and state", () => {
    const { tell } = Projection.make()
    const call = {
      id,
      name: "read",
      title: "Read",
      kind: "read",
      status: "pending",
      locations: [],
      content: []
    } as const
    const tool = (title: string, state: ToolStatus) => [{ type: "tool", toolCallId: id, title, state } as const]
    assert.deepStrictEqual(tell({ _tag: "ToolCallStarted", call }), tool("Read", "pending"))
    assert.deepStrictEqual(tell({ _tag: "ToolCallUpdated", id, patch: { content: [] } }), [])
    assert.deepStrictEqual(tell({ _tag: "ToolCallUpdated", id, patch: { title: "Read a" } }), tool("Read a", "pending"))
    assert.deepStrictEqual(
      tell({ _tag: "ToolCallUpdated", id, patch: { status: "in_progress" } }),
      tool("Read a", "in_progress")
    )
    assert.deepStrictEqual(tell({ _tag: "ToolCallProgress", id, patch: { content: [] } }), [])
    assert.deepStrictEqual(
      tell({ _tag: "ToolCallUpdated", id, patch: { status: "completed" } }),
      tool("Read a", "completed")
    )
  })

  it("has the title of a call that began before it, if anybody knows it", () => {
    const update = { _tag: "ToolCallUpdated", id, patch: { status: "failed" } } as const
    const titles = (known?: Projection.Projection["titleOf"]) =>
      Projection.make(known)
        .tell(update)
        .flatMap((body) => (body.type === "tool" ? [body.title] : []))
    assert.deepStrictEqual(
      titles(() => "Read a"),
      ["Read a"]
    )
    assert.deepStrictEqual(titles(), ["Tool call"])
    assert.deepStrictEqual(Projection.make().tell({ ...update, patch: { content: [] } }), [])
  })

  it("names in a message what is no text, and leaves out what no client of the inbox shows", () => {
    const { tell } = Projection.make()
    const messageId = MessageId.make("one")
    const content = [
      { type: "text", text: "See" },
      { type: "image", data: "", mimeType: "image/png" },
      { type: "resource_link", uri: "file:///a", name: "a" },
      { type: "resource", resource: { uri: "file:///b", text: "b" } }
    ] as const
    assert.deepStrictEqual(tell({ _tag: "UserMessage", messageId, content }), [
      { type: "user", role: "user", text: "See\n[image]\n[a]\n[file:///b]" }
    ])
    assert.deepStrictEqual(tell({ _tag: "UsageUpdated", used: 1, size: 2 }), [])
    assert.deepStrictEqual(tell({ _tag: "InfoUpdated", title: "One" }), [])
  })
})
