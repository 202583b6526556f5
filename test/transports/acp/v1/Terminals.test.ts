import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { noCapabilities } from "../../../../src/domain/Capability.ts"
import type { Event } from "../../../../src/domain/Event.ts"
import { SessionId, ToolCallId } from "../../../../src/domain/Ids.ts"
import { textContent, type ToolCall, type ToolCallPatch } from "../../../../src/domain/Tool.ts"
import { makeProjection } from "../../../../src/transports/acp/v1/Terminals.ts"
import { toUpdates, type Update } from "../../../../src/transports/acp/v1/Updates.ts"
import { at, problemsOf } from "../../../support/Schema.ts"

const session = SessionId.make("s")
const id = ToolCallId.make("c")
const capabilities = { ...noCapabilities, terminals: "terminal_output" } as const

const call: ToolCall = {
  id,
  name: "bash",
  title: "Run command",
  kind: "execute",
  status: "pending",
  locations: [],
  content: []
}

const started = (more: Partial<ToolCall> = {}): Event => ({ _tag: "ToolCallStarted", call: { ...call, ...more } })
const changed = (patch: ToolCallPatch): Event => ({ _tag: "ToolCallUpdated", id, patch })
const shown = (text: string, fresh?: string): Event => ({
  _tag: "ToolCallProgress",
  id,
  patch: { content: [{ type: "output", text }] },
  ...(fresh === undefined ? {} : { fresh })
})
const last = (fresh: string): Event => ({ _tag: "ToolCallProgress", id, patch: {}, fresh })
const ended = (text: string): Event =>
  changed({ status: "completed", content: [{ type: "output", text, ending: "[exit code 0, 0.1 s]", exitCode: 0 }] })

const project = (events: ReadonlyArray<Event>): ReadonlyArray<Update> => {
  const projection = makeProjection(capabilities)
  return events.flatMap((event) => projection(session, event))
}

const meta = (update: Update | undefined) => (update !== undefined && "_meta" in update ? update._meta : undefined)
const content = (update: Update | undefined) => at(update, "content")

/** What the terminal shows. */
const screen = (updates: ReadonlyArray<Update>): string =>
  updates.map((update) => at(meta(update), "terminal_output", "data") ?? "").join("")

const terminal = [{ type: "terminal" as const, terminalId: "c" }]

describe("commands in terminals of the agent", () => {
  it("come as the client expects them", () => {
    const updates = project([
      started(),
      changed({ title: "echo hi", content: [textContent("```sh\necho hi\n```")] }),
      changed({ status: "in_progress" }),
      shown("hi\n", "hi\n"),
      last("there"),
      ended("hi\nthere")
    ])
    assert.deepStrictEqual(updates, [
      {
        sessionUpdate: "tool_call",
        toolCallId: "c",
        name: "bash",
        title: "Run command",
        kind: "execute",
        status: "pending",
        locations: [],
        content: terminal,
        _meta: { terminal_info: { terminal_id: "c" } }
      },
      { sessionUpdate: "tool_call_update", toolCallId: "c", title: "echo hi" },
      { sessionUpdate: "tool_call_update", toolCallId: "c", status: "in_progress", content: terminal },
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "c",
        _meta: { terminal_output: { terminal_id: "c", data: "hi\n" } }
      },
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "c",
        _meta: { terminal_output: { terminal_id: "c", data: "there" } }
      },
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "c",
        status: "completed",
        content: terminal,
        _meta: { terminal_exit: { terminal_id: "c", exit_code: 0, signal: null } }
      }
    ])
    for (const update of updates) assert.deepStrictEqual(problemsOf("SessionUpdate", update), [])
  })

  it("show what came before to whoever joins late, and nothing twice to whoever was there", () => {
    const late = project([
      started({ status: "in_progress" }),
      shown("a\nb\n"),
      shown("a\nb\nc\n", "c\n"),
      ended("a\nb\nc\n")
    ])
    assert.strictEqual(screen(late), "a\nb\nc\n")
    const open = project([started({ status: "in_progress", content: [{ type: "output", text: "a\n" }] }), last("b\n")])
    assert.strictEqual(screen(open), "a\nb\n")
    const again = project([started(), shown("a\n", "a\n"), shown("a\n"), last("b\n"), ended("a\nb\n")])
    assert.strictEqual(screen(again), "a\nb\n")
  })

  it("show a replayed command whole, and an interrupted one with the reason", () => {
    const replayed = project([started(), changed({ status: "in_progress" }), ended("all of it\n")])
    assert.strictEqual(screen(replayed), "all of it\n")
    assert.deepStrictEqual(content(replayed.at(-1)), terminal)
    const cut = project([
      started(),
      shown("a\n", "a\n"),
      changed({ status: "failed", content: [{ type: "output", text: "a\n" }, textContent("Cancelled")] })
    ])
    assert.strictEqual(screen(cut), "a\n")
    assert.deepStrictEqual(content(cut.at(-1)), [...terminal, textContent("Cancelled")])
    assert.deepStrictEqual(at(meta(cut.at(-1)), "terminal_exit"), { terminal_id: "c", exit_code: null, signal: null })
  })

  it("leave everything else as it is", () => {
    const others: ReadonlyArray<Event> = [
      started({ kind: "read" }),
      changed({ content: [textContent("x")] }),
      changed({ status: "completed", content: [textContent("y")] }),
      // A call that was announced on an earlier connection.
      shown("a\n", "a\n"),
      ended("a\n"),
      { _tag: "PlanUpdated", entries: [] }
    ]
    assert.deepStrictEqual(
      project(others),
      others.flatMap((event) => toUpdates(event, capabilities))
    )
    const refused = project([started(), changed({ status: "failed", content: [textContent("No")] })])
    assert.deepStrictEqual(content(refused.at(-1)), [textContent("No")])
  })

  it("are told apart by session, and forgotten when they end", () => {
    const projection = makeProjection(capabilities)
    const other = SessionId.make("t")
    projection(session, started())
    assert.deepStrictEqual(projection(other, shown("a\n", "a\n")), toUpdates(shown("a\n", "a\n"), capabilities))
    projection(session, ended(""))
    assert.deepStrictEqual(projection(session, ended("")), toUpdates(ended(""), capabilities))
  })

  it.prop(
    "show everything once, whatever the pieces, and end once",
    [
      Arbitrary.array(Arbitrary.schema(Schema.Literals(["a", "b\n", "\r50%", ""])), { minLength: 0, maxLength: 20 }),
      Schema.Boolean
    ],
    ([pieces, isReplay]) => {
      const whole = pieces.join("")
      const live = pieces.map((piece, at) => shown(pieces.slice(0, at + 1).join(""), piece))
      const updates = project([started(), changed({ status: "in_progress" }), ...(isReplay ? [] : live), ended(whole)])
      assert.strictEqual(screen(updates), whole)
      assert.strictEqual(updates.filter((update) => at(meta(update), "terminal_exit") !== undefined).length, 1)
      assert.isAtMost(JSON.stringify(updates).length, 1_000 + 140 * pieces.length + 4 * whole.length)
    },
    { arbitrary: { runs: 200 } }
  )
})
