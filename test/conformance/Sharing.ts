/** Several clients and one session: what one of them decides, and what stays each one's own. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { callIn } from "../support/Calls.ts"
import { calls, hangs, says, suite, type Test, type Version, yolo } from "../support/Harness.ts"
import { isShared } from "../support/Rows.ts"
import { at } from "../support/Schema.ts"
import { activitiesOf, begun, idle, joins, together, unlimited, withdrawn } from "../support/Shared.ts"
import type { Transport } from "../support/Transports.ts"
import { guarded, makeToken, newSession } from "./Authentication.ts"

type Json = Schema.Json

const writes = calls(["write", { path: "a.txt", content: "x" }])

/** What a client was told and answered of turns, in the order of the lines, with the words of each message once. */
const courseOf = ({ client }: Test, id: string): ReadonlyArray<string> => {
  const course: Array<string> = []
  const add = (text: string) => course.at(-1) !== text && course.push(text)
  for (const { from, message } of client.transcript.entries) {
    if (from === "client") continue
    const stopReason = at(message.result, "stopReason")
    if (stopReason !== undefined) add(`answer ${String(stopReason)}`)
    if (at(message.params, "sessionId") !== id) continue
    if (message.method === "_superpi/session/activity") add(String(at(message.params, "state")))
    const text = String(at(message.params, "update", "content", "text")).split(" ")[0]
    const kind = at(message.params, "update", "sessionUpdate")
    if (kind === "agent_message_chunk") add(`text ${text}`)
    if (kind === "user_message_chunk") add(`user ${text}`)
  }
  return course
}

const optionIn = (options: unknown, id: string): Json | undefined =>
  Array.isArray(options) ? options.find((option) => at(option, "id") === id)?.currentValue : undefined

export const sharing = (version: Version, transport: Transport): void => {
  if (!isShared(transport)) return
  const { alone, group } = suite(version, transport)

  group("a session that clients share", { config: unlimited }, (row) => {
    row(
      "VIE-06 MUST tell every view of a mode and of an option, whoever set it",
      {},
      Effect.fnUntraced(function* (test) {
        const { mine, theirs, two } = yield* together(test)
        yield* mine.setMode("plan")
        for (const session of [mine, theirs]) {
          assert.strictEqual((yield* session.told("current_mode_update")).currentModeId, "plan")
          const { configOptions } = yield* session.told("config_option_update")
          assert.strictEqual(optionIn(configOptions, "mode"), "plan")
        }
        const params = { sessionId: mine.id, configId: "mode", value: "accept-edits" }
        yield* two.client.request("session/set_config_option", params)
        for (const session of [mine, theirs]) {
          yield* session.told("current_mode_update", ({ currentModeId }) => currentModeId === "accept-edits")
          yield* session.told(
            "config_option_update",
            ({ configOptions }) => optionIn(configOptions, "mode") === "accept-edits"
          )
        }
        const three = yield* test.another()
        const { session } = yield* joins(three, mine.id, "session/resume")
        assert.strictEqual(session.modes?.currentModeId, "accept-edits")
      })
    )

    row(
      "VIE-08 MUST leave a session to the others when one closes it, and end it with the last",
      { steps: [says("Hello"), hangs] },
      Effect.fnUntraced(function* (test) {
        const { id, mine, one, theirs, two } = yield* together(test)
        yield* theirs.run()
        yield* idle(one.client, id)
        const turn = yield* theirs.prompt()
        yield* one.client.transcript.find(({ message }) =>
          at(message.params, "update", "sessionUpdate") === "user_message_chunk" ? true : undefined
        )
        assert.deepStrictEqual(yield* one.client.request("session/close", { sessionId: id }), {})
        const since = one.client.transcript.entries.length
        const { error } = yield* one.client.raw("session/prompt", { sessionId: id, prompt: [test.text("go")] })
        assert.strictEqual(error?.code, -32002)
        assert.deepStrictEqual(yield* two.client.request("session/close", { sessionId: id }), {})
        assert.strictEqual((yield* turn.answer).stopReason, "cancelled")
        yield* one.client.barrier
        assert.deepStrictEqual(mine.updates(since), [])
        const { working } = yield* joins(one, id)
        assert.isFalse(working)
      })
    )

    row(
      "VIE-08 MUST cancel what a client asked for when it closes the session, and not what others asked for",
      {
        steps: [
          { ...hangs, when: "mine" },
          { ...says("Hello"), when: "theirs" }
        ]
      },
      Effect.fnUntraced(function* (test) {
        const { id, mine, one, theirs, two } = yield* together(test)
        const running = yield* mine.prompt("mine")
        yield* begun(two, id)
        const waiting = yield* theirs.prompt("theirs")
        yield* two.client.barrier
        const more = yield* mine.prompt("mine")
        yield* one.client.barrier
        assert.deepStrictEqual(yield* one.client.request("session/close", { sessionId: id }), {})
        assert.strictEqual((yield* running.answer).stopReason, "cancelled")
        assert.strictEqual((yield* more.answer).stopReason, "cancelled")
        assert.strictEqual((yield* waiting.answer).stopReason, "end_turn")
        assert.deepStrictEqual(activitiesOf(two.client, id), ["working", "idle cancelled"])
      })
    )

    row(
      "VIE-09 MUST end a session for every view when one deletes it",
      { steps: [hangs] },
      Effect.fnUntraced(function* (test) {
        const { id, mine, one, two } = yield* together(test)
        const turn = yield* mine.prompt()
        yield* begun(two, id)
        assert.deepStrictEqual(yield* two.client.request("session/delete", { sessionId: id }), {})
        assert.strictEqual((yield* turn.answer).stopReason, "cancelled")
        for (const { client } of [one, two]) {
          const prompt = yield* client.raw("session/prompt", { sessionId: id, prompt: [test.text("go")] })
          assert.strictEqual(prompt.error?.code, -32002)
          const load = yield* client.raw("session/load", { sessionId: id, cwd: test.folder, mcpServers: [] })
          assert.strictEqual(load.error?.code, -32002)
          const { sessions } = yield* client.request("session/list", { cwd: test.folder })
          assert.notInclude(
            sessions.map(({ sessionId }) => sessionId),
            id
          )
        }
      })
    )

    row(
      "VIE-10 MUST cancel a turn for whoever asks, and answer the one that prompted",
      { steps: [writes, says("I go on")] },
      Effect.fnUntraced(function* (test) {
        const { id, mine, one, theirs, two } = yield* together(test)
        const turn = yield* mine.prompt()
        const questions = [
          [one, yield* mine.asked("session/request_permission")],
          [two, yield* theirs.asked("session/request_permission")]
        ] as const
        yield* theirs.cancel
        assert.strictEqual((yield* turn.answer).stopReason, "cancelled")
        for (const [asked, { id: question }] of questions) yield* withdrawn(asked, question)
        yield* idle(two.client, id)
        assert.deepStrictEqual(activitiesOf(two.client, id), ["working", "idle cancelled"])
        assert.strictEqual(callIn(mine.updates()).status, "failed")
        assert.strictEqual(callIn(theirs.updates()).status, "failed")
        assert.isFalse(existsSync(join(test.folder, "a.txt")))
        assert.strictEqual((yield* mine.run()).response.stopReason, "end_turn")
      })
    )

    const words = ["one", "two", "three"] as const
    row(
      "VIE-12 MUST run the prompts of several clients one after the other, each answered before the next begins",
      { steps: words.map((word) => ({ when: word, parts: [{ text: `${word} ` }, { delayMs: 20 }, { text: word }] })) },
      Effect.fnUntraced(function* (test) {
        const { id, mine, one, theirs, two } = yield* together(test, yolo)
        const first = yield* mine.prompt("one")
        yield* first.told("agent_message_chunk")
        const second = yield* theirs.prompt("two")
        yield* two.client.barrier
        const third = yield* mine.prompt("three")
        yield* one.client.barrier
        for (const { answer } of [first, second, third]) assert.strictEqual((yield* answer).stopReason, "end_turn")
        yield* idle(two.client, id, yield* second.answeredAt)
        assert.deepStrictEqual(courseOf(one, id), [
          "text one",
          "answer end_turn",
          "working",
          "user two",
          "text two",
          "idle",
          "text three",
          "answer end_turn"
        ])
        assert.deepStrictEqual(courseOf(two, id), [
          "working",
          "user one",
          "text one",
          "idle",
          "text two",
          "answer end_turn",
          "working",
          "user three",
          "text three",
          "idle"
        ])
      })
    )
  })

  alone(
    "VIE-07 MUST hold every view under the ceiling of its transport, and tell each the mode as it is for it",
    { config: '[remote]\nexecution_mode_ceiling = "accept-edits"\n', steps: [says("Hello")] },
    Effect.fnUntraced(function* (test) {
      const two = yield* test.another()
      const session = yield* test.open()
      yield* session.run()
      const { session: remote } = yield* joins(two, session.id, "session/resume")
      assert.deepStrictEqual(
        remote.modes?.availableModes.map(({ id }) => id),
        ["plan", "ask", "accept-edits"]
      )
      const above = { sessionId: session.id, modeId: "always-approve" }
      assert.strictEqual((yield* two.client.raw("session/set_mode", above)).error?.code, -32602)
      const isLocal = session.modes?.availableModes.some(({ id }) => id === "always-approve") === true
      const highest = isLocal ? "always-approve" : "accept-edits"
      yield* session.setMode(highest)
      yield* session.told("current_mode_update", ({ currentModeId }) => currentModeId === highest)
      const { configOptions } = yield* session.told("config_option_update")
      assert.strictEqual(optionIn(configOptions, "mode"), highest)
      assert.strictEqual((yield* remote.told("current_mode_update")).currentModeId, "accept-edits")
      assert.strictEqual(optionIn((yield* remote.told("config_option_update")).configOptions, "mode"), "accept-edits")
    })
  )

  alone(
    "VIE-11 MUST count a sign-in for the connection that signed in, and for no other",
    { ...guarded, steps: [says("Hello")] },
    Effect.fnUntraced(function* (test) {
      const { token } = yield* makeToken(test)
      const one = yield* test.another()
      const two = yield* test.another()
      const signIn = { methodId: "gateway-token", _meta: { token } }
      yield* one.client.request("authenticate", signIn)
      const session = yield* one.open()
      yield* session.run()
      assert.strictEqual((yield* newSession(two)).error?.code, -32000)
      const place = { sessionId: session.id, cwd: test.folder, mcpServers: [] }
      for (const method of ["session/load", "session/resume"]) {
        assert.strictEqual((yield* two.client.raw(method, place)).error?.code, -32000)
      }
      const prompt = yield* two.client.raw("session/prompt", { sessionId: session.id, prompt: [test.text("go")] })
      assert.strictEqual(prompt.error?.code, -32002)
      yield* two.client.request("authenticate", signIn)
      yield* joins(two, session.id)
      yield* two.client.request("logout", {})
      assert.strictEqual((yield* newSession(two)).error?.code, -32000)
      yield* one.open()
    })
  )
}
