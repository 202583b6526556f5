/** Several clients and one session: each sees what the log has, and a question belongs to whoever answers it first. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, promises, writeFileSync } from "node:fs"
import { join } from "node:path"
import { callIn, outputOf } from "../support/Calls.ts"
import { calls, says, suite, type Test, type Version, yolo } from "../support/Harness.ts"
import { isShared } from "../support/Rows.ts"
import { at } from "../support/Schema.ts"
import {
  activitiesOf,
  idle,
  isInOrder,
  joins,
  kindOf,
  paramsOf,
  together,
  unlimited,
  withdrawn
} from "../support/Shared.ts"
import type { Transport } from "../support/Transports.ts"

const allow = { outcome: { outcome: "selected", optionId: "allow-once" } } as const
const reject = { outcome: { outcome: "selected", optionId: "reject-once" } } as const

const writes = calls(["write", { path: "a.txt", content: "x" }])

const methodsTo = ({ client }: Test): ReadonlyArray<string> =>
  client.transcript.entries.flatMap(({ from, message }) =>
    from === "agent" && message.method !== undefined ? [message.method] : []
  )

export const viewing = (version: Version, transport: Transport): void => {
  if (!isShared(transport)) return
  const { group } = suite(version, transport)

  group("several views of one session", { config: unlimited }, (row) => {
    row(
      "VIE-01 MUST tell every view everything in the order of the log, and each what the others said and began",
      {
        steps: [
          {
            parts: [
              { thought: "Let me see", chunk: 2 },
              { text: "I look into it. 漢字🎉", chunk: 1 },
              { tool: { name: "todo", input: { entries: [{ content: "Look", status: "completed" }] } } },
              { tool: { name: "read", input: { path: "b.txt" } } },
              { tool: { name: "read", input: { path: "none.txt" } } },
              { tool: { name: "bash", input: { command: "for i in 1 2 3; do echo $i; sleep 0.05; done" } } }
            ]
          },
          { parts: [{ text: "It is done. ", repeat: 500 }] },
          says("Again")
        ]
      },
      Effect.fnUntraced(function* (test) {
        writeFileSync(join(test.folder, "b.txt"), "b\n")
        const { id, mine, one, theirs, two } = yield* together(test, yolo)
        const three = yield* test.another()
        yield* joins(three, id)
        const watchers = [two, three].map(({ client }) => ({ client, since: client.transcript.entries.length }))
        const turn = yield* mine.run()
        const seen = paramsOf(one.client, id, turn.at)
        assert.isAbove(seen.length, 20)
        isInOrder(seen)
        assert.notInclude(seen.map(kindOf), "user_message_chunk")
        for (const { client, since } of watchers) {
          yield* idle(client, id, since)
          const [words, ...rest] = paramsOf(client, id, since)
          assert.deepStrictEqual(rest, seen)
          assert.deepStrictEqual(at(words, "update", "content", "text"), test.text("go").text)
          isInOrder(paramsOf(client, id, since))
          assert.deepStrictEqual(activitiesOf(client, id), ["working", "idle end_turn"])
        }
        assert.deepStrictEqual(activitiesOf(one.client, id), [])

        const before = one.client.transcript.entries.length
        const again = yield* theirs.run("again")
        yield* idle(one.client, id, before)
        yield* idle(three.client, id, watchers[1]?.since ?? 0)
        const [words, ...rest] = paramsOf(one.client, id, before)
        assert.deepStrictEqual(rest, paramsOf(two.client, id, again.at))
        assert.deepStrictEqual(at(words, "update", "sessionUpdate"), "user_message_chunk")
        assert.deepStrictEqual(activitiesOf(one.client, id), ["working", "idle end_turn"])
        assert.deepStrictEqual(activitiesOf(two.client, id), ["working", "idle end_turn"])
      })
    )

    for (const [name, first] of [
      ["the one that prompted", 0],
      ["another one", 1]
    ] as const) {
      row(
        `VIE-02 MUST ask every view, take the first answer and take the question back from the others: ${name}`,
        { steps: [writes, says("Written")] },
        Effect.fnUntraced(function* (test) {
          const { id, mine, one, theirs, two } = yield* together(test)
          const turn = yield* mine.prompt()
          const questions = [
            yield* mine.asked("session/request_permission"),
            yield* theirs.asked("session/request_permission")
          ] as const
          assert.deepStrictEqual(questions[0].params, questions[1].params)
          yield* questions[first].answer(allow)
          const late = questions[1 - first]
          yield* withdrawn([one, two][1 - first] ?? one, late?.id ?? null)
          assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
          assert.isTrue(existsSync(join(test.folder, "a.txt")))
          yield* idle(two.client, id)
          assert.strictEqual(callIn(theirs.updates()).status, "completed")
          assert.strictEqual(
            methodsTo([one, two][first] ?? one).filter((method) => method === "$/cancel_request").length,
            0
          )
        })
      )
    }

    const rounds = 6
    row(
      "VIE-03 MUST take one of two answers that come at once, and drop the other",
      {
        steps: Array.from({ length: rounds }, (_, round) => [
          calls(["write", { path: `${round}.txt`, content: "x" }]),
          says("Well")
        ]).flat()
      },
      Effect.fnUntraced(function* (test) {
        const { id, mine, theirs, two } = yield* together(test)
        for (let round = 0; round < rounds; round++) {
          const since = two.client.transcript.entries.length
          const turn = yield* mine.prompt()
          const yes = yield* mine.asked("session/request_permission")
          const no = yield* theirs.asked("session/request_permission")
          const both = [yes.say({ result: allow }), no.say({ result: reject })]
          yield* Effect.all(round % 2 === 0 ? both : both.toReversed(), { discard: true })
          assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
          yield* idle(two.client, id, since)
          const status = existsSync(join(test.folder, `${round}.txt`)) ? "completed" : "failed"
          assert.strictEqual(callIn(turn.updates()).status, status)
          assert.strictEqual(callIn(theirs.updates(since)).status, status)
        }
      })
    )

    row(
      "VIE-04 MUST show a late view the call that is open and its question, which it may answer",
      { steps: [calls(["bash", { command: "touch b; echo hello" }]), says("Said")] },
      Effect.fnUntraced(function* (test) {
        const { id, mine, one, theirs, two } = yield* together(test)
        const turn = yield* mine.prompt()
        const asked = yield* mine.asked("session/request_permission")
        const earlier = yield* theirs.asked("session/request_permission")
        const late = yield* Effect.forEach(["session/load", "session/resume"] as const, (how) =>
          Effect.gen(function* () {
            const other = yield* test.another()
            const { session, working } = yield* joins(other, id, how)
            assert.isTrue(working)
            const question = yield* session.asked("session/request_permission")
            assert.deepStrictEqual(question.params, asked.params)
            assert.deepStrictEqual(callIn(session.updates()).status, "pending")
            return { other, session, question }
          })
        )
        const [loaded, resumed] = late
        yield* loaded?.question.answer(allow) ?? Effect.void
        yield* withdrawn(one, asked.id)
        yield* withdrawn(two, earlier.id)
        if (resumed !== undefined) yield* withdrawn(resumed.other, resumed.question.id)
        assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
        for (const { other, session } of late) {
          yield* idle(other.client, id)
          const call = callIn(session.updates())
          assert.strictEqual(call.status, "completed")
          assert.include(outputOf(call), "hello")
        }
      })
    )

    row(
      "VIE-04 MUST show a late view the call that runs, with what it has shown so far",
      {
        steps: [calls(["bash", { command: "mkfifo pipe; echo star''ted; cat pipe; echo ended" }]), says("Done")]
      },
      Effect.fnUntraced(function* (test) {
        const one = yield* test.another()
        const mine = yield* one.open({ _meta: yolo })
        const turn = yield* mine.prompt()
        yield* turn.told("tool_call_update", (update) => outputOf(update).includes("started"))
        const late = yield* Effect.forEach(["session/load", "session/resume"] as const, (how) =>
          Effect.gen(function* () {
            const other = yield* test.another()
            const { session, working } = yield* joins(other, mine.id, how)
            assert.isTrue(working)
            const call = callIn(session.updates())
            assert.strictEqual(call.status, "in_progress")
            assert.include(outputOf(call), "started")
            return { other, session }
          })
        )
        yield* Effect.promise(() => promises.writeFile(join(test.folder, "pipe"), "through\n"))
        yield* turn.answer
        for (const { other, session } of late) {
          yield* idle(other.client, mine.id)
          const call = callIn(session.updates())
          assert.strictEqual(call.status, "completed")
          assert.include(outputOf(call), "started\nthrough\nended")
        }
      })
    )

    row(
      "VIE-05 MUST ask for a file only the client that prompted",
      {
        steps: [calls(["read", { path: "b.txt" }]), says("Read"), calls(["read", { path: "b.txt" }]), says("Read")]
      },
      Effect.fnUntraced(function* (test) {
        writeFileSync(join(test.folder, "b.txt"), "on the disk\n")
        const capabilities = { fs: { readTextFile: true } }
        const one = yield* test.another(capabilities)
        const two = yield* test.another(capabilities)
        const mine = yield* one.open()
        const { session: theirs } = yield* joins(two, mine.id)
        for (const [from, to, other] of [
          [mine, one, two],
          [theirs, two, one]
        ] as const) {
          const since = other.client.transcript.entries.length
          const before = methodsTo(other).length
          const turn = yield* from.prompt()
          yield* (yield* from.asked("fs/read_text_file")).answer({ content: `of ${from === mine ? "one" : "two"}\n` })
          yield* turn.answer
          yield* idle(other.client, mine.id, since)
          assert.notInclude(methodsTo(other).slice(before), "fs/read_text_file")
          assert.strictEqual(methodsTo(to).filter((method) => method === "fs/read_text_file").length, 1)
          const call = callIn(other.session(mine.id).updates(since))
          assert.include(outputOf(call), from === mine ? "of one" : "of two")
        }
      })
    )
  })
}
