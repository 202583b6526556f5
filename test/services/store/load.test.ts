import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { MessageId, SessionId, ToolCallId } from "../../../src/domain/Ids.ts"
import * as Replay from "../../../src/domain/session/Replay.ts"
import type { Entry } from "../../../src/domain/session/Session.ts"
import { empty, foldAll } from "../../../src/domain/session/SessionState.ts"
import { textContent } from "../../../src/domain/Tool.ts"
import { recordOf } from "../../support/logs.ts"
import { openStore, temporaryFile } from "./support.ts"

const source = "const answer = 42\n".repeat(120)

/** One turn of four messages: a prompt, an answer that reads a file, its result, and a last answer. */
const turn = (index: number): ReadonlyArray<Entry> => {
  const id = ToolCallId.make(`c${index}`)
  const text = (name: string, text: string): Entry => ({
    _tag: "TextDelta",
    messageId: MessageId.make(`${name}${index}`),
    text
  })
  const said = (role: string, ...content: ReadonlyArray<{ readonly type: string; readonly text: string }>) => ({
    role,
    content
  })
  return [
    { _tag: "TurnStarted" },
    {
      _tag: "UserMessage",
      messageId: MessageId.make(`u${index}`),
      content: [{ type: "text", text: "Read the file and tell me the answer" }]
    },
    { _tag: "ContextAppended", messages: [said("user", { type: "text", text: "Read the file" })] },
    text("a", "I will read it. ".repeat(20)),
    text("a", "Now. ".repeat(20)),
    {
      _tag: "ToolCallStarted",
      call: {
        id,
        name: "read",
        title: "Read answer.ts",
        kind: "read",
        status: "pending",
        locations: [{ path: "/work/answer.ts" }],
        content: []
      }
    },
    { _tag: "ToolCallUpdated", id, patch: { status: "completed", content: [textContent(source)] } },
    {
      _tag: "ContextAppended",
      messages: [
        said("assistant", { type: "text", text: "I will read it. ".repeat(20) }),
        said("tool", { type: "text", text: source })
      ]
    },
    text("b", "It is 42. ".repeat(40)),
    { _tag: "ContextAppended", messages: [said("assistant", { type: "text", text: "It is 42. ".repeat(40) })] },
    { _tag: "UsageUpdated", used: 1000 * index, size: 200_000, cost: 0.01 * index },
    { _tag: "TurnEnded", outcome: { stopReason: "end_turn" } }
  ]
}

describe("loading", () => {
  it.live("reads, folds and replays 500 messages in one pass", ({ annotate }) =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const log = Array.from({ length: 125 }, (_, index) => turn(index)).flat()
      yield* Effect.scoped(Effect.flatMap(openStore(file), (store) => store.create(recordOf("one"), log)))
      const store = yield* openStore(file)
      yield* store.list({})

      const begun = performance.now()
      let state = empty
      const told = yield* store.entriesFrom(SessionId.make("one"), 0).pipe(
        Stream.mapArray((entries) => {
          state = foldAll(
            state,
            entries.map(({ entry }) => entry)
          )
          return entries
        }),
        Stream.mapAccum(() => Replay.emptyBuffer, Replay.step, { onHalt: Replay.flush }),
        Stream.map(({ event }) => event),
        Stream.runCollect
      )
      const elapsed = performance.now() - begun

      yield* Effect.promise(() => annotate(`500 messages loaded in ${elapsed.toFixed(1)} ms`))
      assert.lengthOf(state.context, 500)
      assert.deepStrictEqual(told, Replay.replay(log))
    })
  )
})
