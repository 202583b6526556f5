/** The output of commands, in each of the ways in which clients take it: conformance §10 and §12. */
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { callIn, callsIn, outputOf } from "../support/Calls.ts"
import { calls, placeOf, says, suite, type Test, type Version, yolo } from "../support/Harness.ts"
import { at } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

type Meta = Readonly<Record<string, unknown>>

const select = (optionId: string) => ({ outcome: { outcome: "selected", optionId } }) as const

const ofCalls = (updates: ReadonlyArray<SessionUpdate>) =>
  updates.flatMap((update) =>
    update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update" ? [update] : []
  )

const typesOf = ({ content }: { readonly content?: unknown }): ReadonlyArray<unknown> =>
  Array.isArray(content) ? content.map((item) => at(item, "type")) : []

/** What a client that has terminals shows in each of them, and how they ended. */
const screensOf = (updates: ReadonlyArray<SessionUpdate>, name: string) => {
  const screens = new Map<string, { data: string; exits: Array<unknown> }>()
  for (const update of ofCalls(updates)) {
    const info = at(update._meta, "terminal_info", "terminal_id")
    // Such a client makes the terminal with the call, and knows no other.
    if (update.sessionUpdate === "tool_call" && typeof info === "string") screens.set(info, { data: "", exits: [] })
    for (const item of update.content ?? []) {
      if (item.type === "terminal") assert.isTrue(screens.has(item.terminalId), item.terminalId)
    }
    const output = at(update._meta, name)
    if (output !== undefined) {
      const screen = screens.get(String(at(output, "terminal_id")))
      if (screen === undefined) return assert.fail(`output for no terminal: ${JSON.stringify(update)}`)
      screen.data += String(at(output, "data"))
    }
    const exit = at(update._meta, "terminal_exit")
    if (exit !== undefined) {
      screens
        .get(String(at(exit, "terminal_id")))
        ?.exits.push([at(exit, "exit_code") ?? null, at(exit, "signal") ?? null])
    }
  }
  return screens
}

const waiting = "echo first; until [ -e go ]; do sleep 0.02; done; printf 'a\\rb\\nlast'"

const deltaOf = (update: { readonly rawOutput?: unknown }): string => {
  const delta = at(update.rawOutput, "output_delta")
  return typeof delta === "string" ? delta : ""
}

const load = (test: Test, sessionId: string) => test.client.request("session/load", { sessionId, ...placeOf(test) })

export const showingCommands = (version: Version, transport: Transport): void => {
  const { group } = suite(version, transport)

  group("the output of commands", {}, (row) => {
    row(
      "TOL-05, TER-06 MUST show a view of bounded size, and tell exit code, folder and time in the end",
      {
        steps: [
          calls(
            ["bash", { command: "seq 1 300000" }],
            ["bash", { command: "mkdir sub; cd sub; pwd; exit 3" }],
            ["bash", { command: "kill -9 $$" }],
            ["bash", { command: "pwd", cwd: "sub" }]
          ),
          says("Done")
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: yolo })
        const turn = yield* session.run()
        for (const update of ofCalls(turn.updates())) assert.isBelow(JSON.stringify(update).length, 40_000)
        const made = callsIn(turn.updates())
        const [long, failing, killed, placed] = made
        assert.deepStrictEqual(
          made.map(({ status }) => status),
          ["completed", "failed", "failed", "completed"]
        )
        assert.match(
          outputOf(long ?? {}),
          /^```\n1\n2\n[^]*\[… \d+ lines, \d+ characters left out; the whole output is in/
        )
        assert.match(outputOf(long ?? {}), /\n299999\n300000\n```\n\[exit code 0, [\d.]+ s\]$/)
        assert.deepInclude(failing?.rawOutput, { exitCode: 3, cwd: test.folder, timedOut: false })
        assert.isNumber(at(failing?.rawOutput, "durationMs"))
        assert.match(outputOf(failing ?? {}), /\[exit code 3, /)
        assert.deepInclude(killed?.rawOutput, { signal: "SIGKILL" })
        assert.match(outputOf(killed ?? {}), /\[ended by SIGKILL, /)
        assert.strictEqual(placed?.title, "pwd (in sub)")
        assert.deepInclude(placed?.rawOutput, { cwd: join(test.folder, "sub") })
      })
    )

    row(
      "TOL-10 MAY keep the whole of long output in a file of the session, which the model can read and which goes with it",
      {
        steps: [calls(["bash", { command: "seq 1 20000" }]), says("Done")]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: yolo })
        const call = callIn((yield* session.run()).updates())
        const file = String(at(call.rawOutput, "spilled"))
        assert.include(outputOf(call), `the whole output is in ${file} `)
        assert.isTrue(file.startsWith(join(test.home, "sessions", session.id)))
        assert.strictEqual(readFileSync(file, "utf8").split("\n").length, 20_001)
        yield* test.client.request("session/delete", { sessionId: session.id })
        assert.isFalse(existsSync(file))
      })
    )

    row(
      "TOL-01 SHOULD start a command in the background at once, and show its output when it is read",
      {
        steps: [
          calls([
            "bash",
            { command: "echo up; until [ -e go ]; do sleep 0.02; done; echo over; exit 4", background: true }
          ]),
          calls(["bash_output", {}], ["bash_output", { id: "bg2" }], ["bash_stop", { id: "bg2" }]),
          says("First"),
          calls(["bash_output", { id: "bg1", wait: 10_000 }]),
          says("Second")
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: yolo })
        const [started, listed, unread, unstopped] = callsIn((yield* session.run()).updates())
        assert.match(started?.title ?? "", /^\[background\] echo up; /)
        assert.strictEqual(started?.status, "completed")
        assert.deepInclude(started?.rawOutput, { id: "bg1", cwd: test.folder })
        assert.match(outputOf(listed ?? {}), /^```\nbg1 \[running for /)
        for (const unknown of [unread, unstopped]) {
          assert.strictEqual(unknown?.status, "failed")
          assert.include(outputOf(unknown ?? {}), "The ids are: bg1.")
        }
        // Nothing of what it writes between two prompts is lost.
        writeFileSync(join(test.folder, "go"), "")
        const [read] = callsIn((yield* session.run()).updates())
        assert.match(outputOf(read ?? {}), /^```\nup\nover\n```\nbg1 \[exit code 4, /)
        assert.deepInclude(read?.rawOutput, { id: "bg1", running: false, exitCode: 4 })
      })
    )
  })

  const incremental: ReadonlyArray<readonly [name: string, meta: Meta]> = [
    ["x.ai/incrementalBashOutput", { "x.ai/incrementalBashOutput": true }],
    ["superPi.incrementalOutput", { superPi: { incrementalOutput: true } }]
  ]
  for (const [name, _meta] of incremental) {
    group(`a client that keeps output, as ${name}`, { capabilities: { _meta } }, (row) => {
      row(
        "TOL-05, EXT-01 MUST tell what is new and nothing twice, and the whole in the end",
        { steps: [calls(["bash", { command: waiting }]), says("Done")] },
        Effect.fnUntraced(function* (test) {
          const session = yield* test.open({ _meta: yolo })
          const turn = yield* session.prompt()
          yield* turn.told("tool_call_update", (update) => deltaOf(update) === "first\n")
          writeFileSync(join(test.folder, "go"), "")
          yield* turn.answer
          const updates = ofCalls(turn.updates())
          assert.strictEqual(updates.map(deltaOf).join(""), "first\na\rb\nlast")
          for (const update of updates) if (deltaOf(update) !== "") assert.notProperty(update, "content")
          const call = callIn(turn.updates())
          assert.match(outputOf(call), /^```\nfirst\nb\nlast\n```\n\[exit code 0/)
          assert.deepInclude(call.rawOutput, { exitCode: 0 })
        })
      )
    })
  }

  for (const name of ["terminal_output", "terminal_output_delta"]) {
    group(
      `a client that shows terminals of the agent, fed by ${name}`,
      { capabilities: { _meta: { [name]: true } } },
      (row) => {
        row(
          "TOL-08, TER-06, EXT-01 MUST announce a command with its terminal, feed it with what is new, and end it",
          { steps: [calls(["bash", { command: waiting }], ["bash", { command: "kill -9 $$" }]), says("Done")] },
          Effect.fnUntraced(function* (test) {
            const session = yield* test.open({ _meta: yolo })
            const turn = yield* session.prompt()
            yield* turn.told("tool_call_update", (update) => at(update._meta, name, "data") === "first\n")
            writeFileSync(join(test.folder, "go"), "")
            yield* turn.answer
            const [one, two] = callsIn(turn.updates())
            const screens = screensOf(turn.updates(), name)
            assert.deepStrictEqual(
              [...screens.values()],
              [
                { data: "first\na\rb\nlast", exits: [[0, null]] },
                { data: "", exits: [[null, "SIGKILL"]] }
              ]
            )
            assert.deepStrictEqual([...screens.keys()], [one?.toolCallId, two?.toolCallId])
            for (const call of [one, two]) assert.deepStrictEqual(typesOf(call ?? {}), ["terminal"])
            assert.deepInclude(two?.rawOutput, { signal: "SIGKILL", cwd: test.folder })
          })
        )

        row(
          "SES-06, TOL-08 MUST show it in a terminal again when the session is loaded",
          { steps: [calls(["bash", { command: "echo one; echo two >&2; exit 5" }]), says("Done")] },
          Effect.fnUntraced(function* (test) {
            const session = yield* test.open({ _meta: yolo })
            const live = yield* session.run()
            const since = test.client.transcript.entries.length
            yield* load(test, session.id)
            const replayed = session.updates(since)
            const [before, after] = [live.updates(), replayed].map((updates) => [...screensOf(updates, name).values()])
            assert.deepStrictEqual(after, before)
            assert.deepStrictEqual(after, [{ data: "one\ntwo\n", exits: [[5, null]] }])
            assert.deepStrictEqual(typesOf(callIn(replayed)), ["terminal"])
          })
        )

        row(
          "PRM-02, TOL-08 MUST show the command in the question, and the terminal once it runs",
          { steps: [calls(["bash", { command: "touch made; echo hi", description: "Makes it" }]), says("Done")] },
          Effect.fnUntraced(function* (test) {
            const session = yield* test.open()
            const turn = yield* session.prompt()
            const question = yield* session.asked("session/request_permission")
            assert.include(outputOf(question.params.toolCall), "touch made; echo hi")
            yield* question.answer(select("allow-once"))
            yield* turn.answer
            const started = ofCalls(turn.updates()).find(({ status }) => status === "in_progress")
            assert.deepStrictEqual(typesOf(started ?? {}), ["terminal"])
            assert.strictEqual([...screensOf(turn.updates(), name).values()][0]?.data, "hi\n")
          })
        )

        row(
          "TOL-06 MUST show why a command did not run, and what runs on, as text",
          {
            steps: [
              calls(
                ["bash", { command: "sleep 1 &" }],
                ["bash", { command: "sleep 300", background: true }],
                ["bash_stop", { id: "bg1" }]
              ),
              says("Done")
            ]
          },
          Effect.fnUntraced(function* (test) {
            const session = yield* test.open({ _meta: yolo })
            const turn = yield* session.run()
            const [refused, started, stopped] = callsIn(turn.updates())
            assert.include(outputOf(refused ?? {}), 'set "background"')
            assert.include(outputOf(started ?? {}), "Started in the background as bg1")
            assert.match(outputOf(stopped ?? {}), /^bg1 \[ended by SIG/)
            for (const call of [refused, started, stopped]) assert.deepStrictEqual(typesOf(call ?? {}), ["content"])
          })
        )
      }
    )
  }
}
