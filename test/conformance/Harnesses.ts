/** Kinds of agent: each has its own tools and no others, asks a person by forms, and remembers. */
import type { CreateElicitationResponse, ToolCallStatus } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { harnesses } from "../../src/domain/Harness.ts"
import { callIn, callsIn, outputOf } from "../support/Calls.ts"
import { calls, says, suite, type Version, yolo } from "../support/Harness.ts"
import { at, problemsOf } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

/** Every tool that there is, each with an input that would leave a trace. */
const everything: ReadonlyArray<readonly [name: string, input: Schema.JsonObject]> = Object.entries({
  read: { path: "kept.txt" },
  write: { path: "made.txt", content: "x" },
  edit: { path: "kept.txt", old_string: "kept", new_string: "lost" },
  apply_patch: { patch: "--- /dev/null\n+++ b/made.txt\n@@ -0,0 +1 @@\n+x\n" },
  grep: { pattern: "kept" },
  glob: { pattern: "*" },
  list: {},
  bash: { command: "touch made.txt; rm kept.txt" },
  bash_output: { id: "1" },
  bash_stop: { id: "1" },
  task: { agent: "explore", description: "x", prompt: "x" },
  todo: { entries: [] },
  web_fetch: { url: "http://127.0.0.1:1/" },
  ask_user: { questions: [{ question: "Which?" }] },
  note_write: { title: "made", text: "x" },
  note_search: {},
  mcp__files__write: { path: "made.txt" }
})

const questions = [
  {
    question: "Which colour?",
    header: "Colour",
    options: [{ label: "red" }, { label: "blue", description: "As the sky" }]
  },
  { question: "Which sizes?", options: [{ label: "S" }, { label: "M" }], multiSelect: true },
  { question: "Why?" }
]

const asksUser = { steps: [calls(["ask_user", { questions }]), says("Done")] }

/** What a person may do with a form, and what the model is told then. */
const answers: ReadonlyArray<
  readonly [string, CreateElicitationResponse | { readonly action: string }, ToolCallStatus, RegExp]
> = [
  [
    "answers",
    { action: "accept", content: { answer1: "blue", answer2: ["M", "XL"], words3: "Because." } },
    "completed",
    /^Which colour\?\n→ blue\n\nWhich sizes\?\n→ M\n\nWhy\?\n→ Because\.$/
  ],
  ["accepts without an answer", { action: "accept" }, "completed", /without an answer/],
  ["declines", { action: "decline" }, "failed", /declined to answer/],
  ["closes it", { action: "cancel" }, "failed", /closed the form/],
  ["does what nobody knows", { action: "shrug" }, "failed", /not understood/]
]

export const beingHarnesses = (version: Version, transport: Transport): void => {
  const { alone, group } = suite(version, transport)

  alone(
    "EXT-01, EXT-03 MAY tell in initialize which kinds of agent there are, and what each can do",
    { initialized: false },
    Effect.fnUntraced(function* (test) {
      const answer = yield* test.client.initialize()
      const told = at(answer._meta, "superPi", "harnesses")
      const records = Array.isArray(told) ? told : []
      assert.lengthOf(records, harnesses.length)
      for (const [index, { id, mcp, tools, unattended }] of harnesses.entries()) {
        const one = records[index]
        assert.deepInclude(one, { id, default: index === 0 })
        assert.deepInclude(at(one, "capabilities"), { tools: [...tools], mcp, unattended })
      }
      assert.deepStrictEqual(at(records[3], "capabilities", "modes"), ["plan"])
    })
  )

  group("kinds of agent", { capabilities: { elicitation: { form: {} } } }, (row) => {
    for (const { id, tools } of harnesses) {
      row(
        `EXT-01, TOL-01 MUST give ${id} no tool but its own, whatever its model makes up`,
        { steps: [calls(...everything.filter(([name]) => !tools.includes(name))), says("Done")] },
        Effect.fnUntraced(function* (test) {
          writeFileSync(join(test.folder, "kept.txt"), "kept")
          const session = yield* test.open({ _meta: { harness: id } })
          const modes = (session.modes?.availableModes ?? []).map((mode) => mode.id)
          yield* session.setMode(modes.at(-1) ?? "")
          const made = callsIn((yield* session.run()).updates())
          assert.lengthOf(made, everything.length - tools.length)
          for (const call of made) {
            assert.deepStrictEqual(call.statuses, ["pending", "failed"], call.title)
            assert.include(outputOf(call), `The tools are: ${tools.join(", ")}.`)
          }
          assert.deepStrictEqual(readdirSync(test.folder), ["kept.txt"])
          assert.strictEqual(readFileSync(join(test.folder, "kept.txt"), "utf8"), "kept")
        })
      )
    }

    row(
      "EXT-01 MUST refuse a kind of agent that there is not, and name those there are",
      {},
      Effect.fnUntraced(function* (test) {
        const { error } = yield* test.client.raw("session/new", {
          cwd: test.folder,
          mcpServers: [],
          _meta: { harness: "super-pi-hamster" }
        })
        assert.strictEqual(error?.code, -32602)
        for (const { id } of harnesses) assert.include(error?.message, id)
      })
    )

    for (const [what, answer, status, text] of answers) {
      row(
        `ELI-02, ELI-03, ELI-07 MUST ask by a form of the protocol, and tell the model what came of it when the person ${what}`,
        asksUser,
        Effect.fnUntraced(function* (test) {
          const session = yield* test.open({ _meta: { harness: "super-pi-assistant" } })
          const turn = yield* session.prompt()
          const question = yield* session.asked("elicitation/create")
          const { params } = question
          assert.deepStrictEqual(problemsOf("CreateElicitationRequest", params), [])
          const call = callIn(turn.updates())
          assert.deepInclude(params, { mode: "form", sessionId: session.id, toolCallId: call.toolCallId })
          assert.deepStrictEqual(Object.keys(Object(at(params, "requestedSchema", "properties"))), [
            "answer1",
            "words1",
            "answer2",
            "words2",
            "words3"
          ])
          yield* question.answer(answer)
          yield* turn.answer
          const ended = callIn(turn.updates())
          assert.deepInclude(ended, { kind: "other", status })
          assert.match(outputOf(ended), text)
        })
      )
    }

    row(
      "ELI-07, CAN-06 MUST take a form back when its turn is cancelled",
      asksUser,
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: { harness: "super-pi-planner" } })
        const turn = yield* session.prompt()
        const question = yield* session.asked("elicitation/create")
        yield* session.cancel
        assert.strictEqual((yield* turn.answer).stopReason, "cancelled")
        yield* question.answer({ action: "accept", content: { answer1: "blue" } })
        assert.deepInclude(callIn(turn.updates()), { status: "failed" })
      })
    )

    row(
      "EXT-01 MUST remember across sessions what a librarian notes, for its project",
      {
        steps: [
          { when: "note", ...calls(["note_write", { title: "Tests", text: "They run with make check." }]) },
          { when: "note", ...says("Noted") },
          { when: "recall", ...calls(["note_search", { query: "checks" }]) },
          { when: "recall", ...says("Recalled") },
          { when: "recall", ...calls(["note_search", { query: "checks" }]) },
          { when: "recall", ...says("Recalled") }
        ]
      },
      Effect.fnUntraced(function* (test) {
        const open = (cwd: string) => test.open({ cwd, _meta: { harness: "super-pi-librarian" } })
        const first = yield* open(test.folder)
        assert.include(outputOf(callIn((yield* first.run("note")).updates())), `"Tests"`)
        const recall = Effect.fnUntraced(function* (cwd: string) {
          const session = yield* open(cwd)
          const call = callIn((yield* session.run("recall")).updates())
          assert.deepInclude(call, { kind: "search", status: "completed" })
          return outputOf(call)
        })
        assert.include(yield* recall(test.folder), "Tests")
        assert.notInclude(yield* recall(test.home), "Tests")
      })
    )

    row(
      "PRM-01 MUST ask nobody in a session in which nobody is present: what would be asked is denied and the model told",
      { steps: [calls(["read", { path: "/etc/hostname" }]), says("Done")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: { harness: "super-pi-librarian" } })
        const call = callIn((yield* session.run()).updates())
        assert.deepStrictEqual(call.statuses, ["pending", "failed"])
        assert.include(outputOf(call), "nobody is present to give it")
      })
    )
  })

  group("without forms", {}, (row) => {
    row(
      "ELI-01, ELI-08 MUST ask for no form where the client has none, and have the model ask in words",
      asksUser,
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: { ...yolo, harness: "super-pi-assistant" } })
        const turn = yield* session.run()
        const call = callIn(turn.updates())
        assert.strictEqual(call.status, "failed")
        assert.match(outputOf(call), /no form can be shown .* Put the question into your answer and end your turn/)
      })
    )
  })
}
