/** Clients that lose their connection and come back: the turn goes on, and nothing of it is lost or told twice. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ScriptPart, ScriptStep } from "../../src/services/models/script/Script.ts"
import { callIn, outputOf } from "../support/Calls.ts"
import { calls, hangs, says, suite, type Test, type Version, yolo } from "../support/Harness.ts"
import { isAlive, until } from "../support/Processes.ts"
import {
  activitiesOf,
  idle,
  isInOrder,
  joins,
  kindOf,
  lastEntry,
  paramsOf,
  unlimited,
  untilTold,
  updateIn
} from "../support/Shared.ts"
import { isShared } from "../support/Rows.ts"
import type { Transport } from "../support/Transports.ts"
import { formOf } from "../support/Updates.ts"

type JsonObject = Schema.JsonObject

/** The same numbers every time. */
const numbers = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const slowly = (key: "text" | "thought", words: string): ReadonlyArray<ScriptPart> =>
  words.split(/(?<= )/).flatMap((word): ReadonlyArray<ScriptPart> => [{ [key]: word }, { delayMs: 2 }])

/** A turn that takes a while and does a bit of everything; `wait` is a command that its own one waits for. */
const turnOf = (name: string, wait = "true"): ReadonlyArray<ScriptStep> => [
  {
    when: name,
    parts: [
      ...slowly("thought", "Now what may this be about I wonder "),
      ...slowly("text", "I shall look into it: 漢字 🎉🎉 and more of the same. "),
      { tool: { name: "todo", input: { entries: [{ content: "Look", status: "completed" }] } } },
      { tool: { name: "read", input: { path: "none.txt" } } },
      { tool: { name: "bash", input: { command: `${wait}; for i in 1 2 3; do echo $i; sleep 0.01; done` } } }
    ]
  },
  { when: name, parts: slowly("text", "That was it: one two three four five six seven eight nine 🎉 ten. ") }
]

/** What is left when the cutting is forgotten; the words of the user belong to whoever has them already. */
const storyOf = (told: ReadonlyArray<JsonObject>) =>
  formOf(told.map(updateIn).filter(({ sessionUpdate }) => sessionUpdate !== "user_message_chunk"))

/** The session as one sees it who loads it when it is quiet. */
const wholeOf = Effect.fnUntraced(function* (test: Test, id: string) {
  const { told, working } = yield* joins(yield* test.another(), id)
  assert.isFalse(working)
  isInOrder(told)
  return told
})

/** Loads the session on a new connection, from where an earlier one was cut off; `before` is where that one began. */
const comesBack = Effect.fnUntraced(function* (test: Test, earlier: Test, id: string, before?: string) {
  yield* earlier.client.cut("hangUp")
  const next = yield* test.another()
  const after = lastEntry(earlier.client, id) ?? before
  return { next, after, ...(yield* joins(next, id, "session/load", after)) }
})

const trials = 16

export const comingBack = (version: Version, transport: Transport): void => {
  if (!isShared(transport)) return
  const { alone, group } = suite(version, transport)

  group("clients that come back", { config: unlimited }, (row) => {
    row(
      "REC-01 MUST go on with a turn whose client is cut off, and tell the one that comes back all of the rest, once",
      { steps: Array.from({ length: trials }, (_, trial) => turnOf(`trial ${trial}.`)).flat() },
      Effect.fnUntraced(function* (test) {
        const below = numbers(20_261_201)
        for (let trial = 0; trial < trials; trial++) {
          const one = yield* test.another()
          const { sessionId: id } = yield* one.client.request("session/new", {
            cwd: test.folder,
            mcpServers: [],
            _meta: yolo
          })
          const { at } = yield* one.session(id).prompt(`trial ${trial}.`)
          yield* untilTold(one.client, id, 1 + below(50), at)
          const told: Array<JsonObject> = []
          let present = one
          let after: string | undefined
          let cuts = 1 + below(3)
          let since = at
          while (true) {
            const earlier = present
            const back = yield* comesBack(test, earlier, id, after)
            after = back.after
            told.push(...paramsOf(earlier.client, id, since))
            present = back.next
            since = back.at
            if (!back.working) break
            if (--cuts > 0) yield* untilTold(present.client, id, 1 + below(12), since)
            else {
              yield* idle(present.client, id, since)
              break
            }
          }
          told.push(...paramsOf(present.client, id, since))
          isInOrder(told)
          assert.deepStrictEqual(storyOf(told), storyOf(yield* wholeOf(test, id)), `trial ${trial}`)
        }
      })
    )

    row(
      "REC-02, REC-03 MUST tell the whole to one that loads in mid-turn without a place, and say that a turn runs",
      { steps: turnOf("go", "until [ -e seen ]; do sleep 0.02; done") },
      Effect.fnUntraced(function* (test) {
        const one = yield* test.another()
        const session = yield* one.open({ _meta: yolo })
        const { at } = yield* session.prompt()
        yield* untilTold(one.client, session.id, 12, at)
        yield* one.client.cut("hangUp")
        const two = yield* test.another()
        const back = yield* joins(two, session.id)
        assert.isTrue(back.working)
        writeFileSync(join(test.folder, "seen"), "")
        assert.strictEqual(back.told.map(kindOf)[0], "user_message_chunk")
        yield* idle(two.client, session.id)
        const told = paramsOf(two.client, session.id)
        isInOrder(told)
        assert.deepStrictEqual(storyOf(told), storyOf(yield* wholeOf(test, session.id)))
        assert.deepStrictEqual(activitiesOf(two.client, session.id), ["idle end_turn"])
      })
    )

    row(
      "REC-05 MUST put a question that nobody could answer to whoever comes back",
      { steps: [calls(["write", { path: "a.txt", content: "x" }]), says("Written")] },
      Effect.fnUntraced(function* (test) {
        const one = yield* test.another()
        const session = yield* one.open()
        const turn = yield* session.prompt()
        const { params } = yield* session.asked("session/request_permission")
        const first = yield* comesBack(test, one, session.id)
        assert.isTrue(first.working)
        const asked = yield* first.session.asked("session/request_permission")
        assert.deepStrictEqual(asked.params, params)
        const second = yield* comesBack(test, first.next, session.id, first.after)
        const again = yield* second.session.asked("session/request_permission")
        yield* again.answer({ outcome: { outcome: "selected", optionId: "allow-once" } })
        yield* idle(second.next.client, session.id)
        assert.isTrue(existsSync(join(test.folder, "a.txt")))
        assert.deepStrictEqual(activitiesOf(second.next.client, session.id), ["idle end_turn"])
        const told = [
          ...paramsOf(one.client, session.id, turn.at),
          ...paramsOf(first.next.client, session.id),
          ...paramsOf(second.next.client, session.id)
        ]
        assert.deepStrictEqual(storyOf(told), storyOf(yield* wholeOf(test, session.id)))
      })
    )

    row(
      "REC-06 MUST tell the whole to one that names a place which the log does not have",
      { steps: [says("Hello")] },
      Effect.fnUntraced(function* (test) {
        const one = yield* test.another()
        const session = yield* one.open({ _meta: yolo })
        yield* session.run()
        const whole = yield* wholeOf(test, session.id)
        for (const after of ["999999", "999999.5", "x", "", "-1", "1.0", "1e3", "0.5.5"]) {
          const { told } = yield* joins(yield* test.another(), session.id, "session/load", after)
          assert.deepStrictEqual(told, whole, after)
        }
        const last = lastEntry(one.client, session.id)
        const { told } = yield* joins(yield* test.another(), session.id, "session/load", last)
        assert.deepStrictEqual(told.map(kindOf), ["available_commands_update"])
      })
    )
  })

  alone(
    "REC-04 MUST end a turn that nobody watches after the grace that is configured, with all that it started",
    {
      config: `${unlimited}grace_seconds = 1\n`,
      steps: [
        calls([
          "bash",
          { command: "echo pid $$; sleep 1000 & echo pid $!; wait", unsandboxed: true, reason: "watched by number" }
        ]),
        hangs
      ]
    },
    Effect.fnUntraced(function* (test) {
      const one = yield* test.another()
      const { sessionId: id } = yield* one.client.request("session/new", {
        cwd: test.folder,
        mcpServers: [],
        _meta: yolo
      })
      const turn = yield* one.session(id).prompt()
      const shown = yield* turn.told("tool_call_update", (update) => /pid \d+\npid \d+/.test(outputOf(update)))
      const pids = Array.from(outputOf(shown).matchAll(/pid (\d+)/g), ([, digits]) => Number(digits))
      const back = yield* comesBack(test, one, id)
      assert.isTrue(back.working)
      assert.deepStrictEqual(pids.map(isAlive), [true, true])
      yield* back.next.client.cut("hangUp")
      yield* until(() => !pids.some(isAlive))
      const last = yield* test.another()
      const { session, working } = yield* joins(last, id)
      // The processes are gone a moment before the turn is.
      if (working) yield* idle(last.client, id)
      assert.strictEqual(callIn(session.updates()).status, "failed")
    })
  )
}
