/** Slash commands as a client sees them: what it is told, and what becomes of one that is typed. Conformance §14. */
import type { AvailableCommand, SessionUpdate } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { put } from "../support/commands.ts"
import { placeOf, says, suite, type Test, type Version } from "../support/Harness.ts"
import { at } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

const echo = { again: true, parts: [{ text: "Heard: " }, { echo: true as const }] }

const prepare = ({ folder }: Test) =>
  Effect.sync(() => {
    put(join(folder, ".git/HEAD"), "")
    put(
      join(folder, ".claude/commands/fix.md"),
      "---\ndescription: Fix it\nargument-hint: [number]\n---\nFix $ARGUMENTS!"
    )
    put(join(folder, ".agents/skills/pdf/SKILL.md"), "---\ndescription: Fill forms\n---\nFill them")
  })

const find = (commands: ReadonlyArray<AvailableCommand>, wanted: string) => commands.find(({ name }) => name === wanted)

export const typingCommands = (version: Version, transport: Transport): void => {
  const { group } = suite(version, transport)

  group("slash commands", {}, (row) => {
    row(
      "CMD-01, SES-05, SES-06 MAY tell built-in ones, those of files and skills, after a new session and before a load's answer",
      { steps: [says("Hi")] },
      Effect.fnUntraced(function* (test) {
        yield* prepare(test)
        const session = yield* test.open()
        const { availableCommands } = yield* session.told("available_commands_update")
        for (const name of ["help", "model", "compact", "clear", "init", "review"]) {
          assert.isDefined(find(availableCommands, name), name)
        }
        assert.deepStrictEqual(find(availableCommands, "fix"), {
          name: "fix",
          description: "Fix it",
          input: { hint: "[number]" }
        })
        assert.deepStrictEqual(find(availableCommands, "pdf"), { name: "pdf", description: "Fill forms" })
        yield* session.run("Hello")
        const since = test.client.transcript.entries.length
        yield* test.client.request("session/load", { sessionId: session.id, ...placeOf(test) })
        const last = session.updates(since).at(-1)
        assert.strictEqual(last?.sessionUpdate, "available_commands_update")
      })
    )

    row(
      "CMD-02 MUST give a command of a file to the model with its arguments, and what is no command as it is",
      { steps: [echo] },
      Effect.fnUntraced(function* (test) {
        yield* prepare(test)
        const session = yield* test.open()
        assert.match((yield* session.run("/fix 12")).text(), /^Heard: Fix 12 #\d+!$/)
        for (const words of ["/nope x", "/usr/bin is a path"]) {
          assert.isTrue((yield* session.run(words)).text().startsWith(`Heard: ${words} #`))
        }
        // Only a prompt that begins with it is one.
        const later = yield* session.run([test.text("Look:"), { type: "text", text: "/clear" }])
        assert.match(later.text(), /^Heard: Look:[^]*\/clear$/)
      })
    )

    row(
      "CMD-03, CFG-04, MOD-03 MUST end the turn as any other, and tell every option when a command changed one, as if the client had",
      { steps: [] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.run([{ type: "text", text: "/mode plan" }])
        assert.strictEqual(turn.response.stopReason, "end_turn")
        assert.strictEqual(turn.text(), "Mode: `plan`.")
        const update = turn.updates().find(({ sessionUpdate }) => sessionUpdate === "config_option_update")
        const options = update?.sessionUpdate === "config_option_update" ? update.configOptions : []
        assert.deepStrictEqual(
          options.map(({ id }) => id),
          session.options.map(({ id }) => id)
        )
        assert.strictEqual(options.find(({ id }) => id === "mode")?.currentValue, "plan")
        assert.isDefined(turn.updates().find(({ sessionUpdate }) => sessionUpdate === "current_mode_update"))
      })
    )

    row(
      "SES-06, CMD-01 MUST keep the whole history for a load when the model forgot it or reads a summary",
      { steps: [says("Blue is the colour"), says("A SUMMARY"), says("Well")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        yield* session.run("Which colour?")
        assert.match((yield* session.run("/compact")).text(), /reads a summary/)
        assert.match((yield* session.run([{ type: "text", text: "/clear" }])).text(), /has forgotten/)
        yield* session.run("And now?")
        const since = test.client.transcript.entries.length
        yield* test.client.request("session/load", { sessionId: session.id, ...placeOf(test) })
        const told = JSON.stringify(session.updates(since))
        for (const part of ["Which colour?", "Blue is the colour", "/compact", "Well"]) assert.include(told, part)
        assert.notInclude(told, "A SUMMARY")
      })
    )
  })

  group(
    "a client that shows where a conversation was summed up",
    { capabilities: { session: { compaction: {} } } },
    (row) => {
      row(
        "TRN-14, SES-06 MUST tell it of a summary from its beginning to its end, and again when the session is loaded",
        { steps: [says("Blue is the colour"), says("A SUMMARY")] },
        Effect.fnUntraced(function* (test) {
          const session = yield* test.open()
          yield* session.run("Which colour?")
          const turn = yield* session.run("/compact")
          const toldIn = (updates: ReadonlyArray<SessionUpdate>) =>
            updates.filter(({ sessionUpdate }) => sessionUpdate === "compaction_update")
          const told = toldIn(turn.updates())
          const compactionId = String(at(told[0], "compactionId"))
          assert.deepStrictEqual(told, [
            { sessionUpdate: "compaction_update", compactionId, status: "in_progress" },
            {
              sessionUpdate: "compaction_update",
              compactionId,
              status: "completed",
              summary: [{ type: "text", text: "A SUMMARY" }]
            }
          ])
          assert.isFalse(turn.updates().some(({ sessionUpdate }) => sessionUpdate === "agent_thought_chunk"))
          const since = test.client.transcript.entries.length
          yield* test.client.request("session/load", { sessionId: session.id, ...placeOf(test) })
          assert.deepStrictEqual(toldIn(session.updates(since)), told)
        })
      )
    }
  )
}
