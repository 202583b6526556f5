/** Plans, modes and options: conformance §14. */
import type { SessionConfigOption } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { callsIn } from "../support/Calls.ts"
import { calls, hangs, says, suite, type Version } from "../support/Harness.ts"
import { at } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

const valuesOf = (option: SessionConfigOption | undefined): ReadonlyArray<string> =>
  option?.type === "select"
    ? option.options.flatMap((choice) =>
        "value" in choice ? [choice.value] : choice.options.map(({ value }) => value)
      )
    : []

const named = (options: ReadonlyArray<SessionConfigOption>, id: string): SessionConfigOption | undefined =>
  options.find((option) => option.id === id)

export const choosing = (version: Version, transport: Transport): void => {
  const { group } = suite(version, transport)

  group("plans, modes and options", {}, (row) => {
    row(
      "PLN-01 SHOULD tell the whole plan each time, with priorities and statuses",
      {
        steps: [
          calls([
            "todo",
            {
              entries: [
                { content: "One", status: "in_progress", priority: "high" },
                { content: "Two", status: "pending" }
              ]
            }
          ]),
          calls([
            "todo",
            {
              entries: [
                { content: "One", status: "completed", priority: "high" },
                { content: "Two", status: "in_progress" },
                { content: "Never", status: "cancelled" }
              ]
            }
          ]),
          says("Done")
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.run()
        const plans = turn.updates().flatMap((update) => (update.sessionUpdate === "plan" ? [update.entries] : []))
        assert.deepStrictEqual(plans, [
          [
            { content: "One", status: "in_progress", priority: "high" },
            { content: "Two", status: "pending", priority: "medium" }
          ],
          [
            { content: "One", status: "completed", priority: "high" },
            { content: "Two", status: "in_progress", priority: "medium" }
          ]
        ])
      })
    )

    row(
      "MOD-01 MAY offer modes, of which the present one is one, in every answer that opens a session",
      { steps: [says("Hello")] },
      Effect.fnUntraced(function* (test) {
        const { client, folder } = test
        const session = yield* test.open()
        yield* session.run()
        const place = { sessionId: session.id, cwd: folder, mcpServers: [] }
        const loaded = yield* client.request("session/load", place)
        const resumed = yield* client.request("session/resume", place)
        for (const modes of [session.modes, loaded.modes, resumed.modes]) {
          const ids = modes?.availableModes.map(({ id }) => id) ?? []
          assert.deepStrictEqual(ids, ["plan", "ask", "accept-edits", "auto", "always-approve"])
          assert.strictEqual(modes?.currentModeId, "ask")
        }
      })
    )

    row(
      "MOD-02, MOD-03, MOD-04 MUST set a mode, tell it, keep the option in step, and act by it",
      {
        steps: [
          calls(["write", { path: "a.txt", content: "x" }]),
          says("Done"),
          calls(["write", { path: "b.txt", content: "x" }]),
          says("Done")
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        assert.deepStrictEqual(yield* session.setMode("accept-edits"), {})
        assert.strictEqual((yield* session.told("current_mode_update")).currentModeId, "accept-edits")
        const { configOptions } = yield* session.told("config_option_update")
        assert.strictEqual(named(configOptions, "mode")?.currentValue, "accept-edits")
        yield* session.run()
        assert.isTrue(existsSync(join(test.folder, "a.txt")))
        yield* session.setMode("plan")
        const turn = yield* session.run()
        assert.deepStrictEqual(
          callsIn(turn.updates()).map(({ status }) => status),
          ["failed"]
        )
        assert.isFalse(existsSync(join(test.folder, "b.txt")))
        const loaded = yield* test.client.request("session/load", {
          sessionId: session.id,
          cwd: test.folder,
          mcpServers: []
        })
        assert.strictEqual(loaded.modes?.currentModeId, "plan")
      })
    )

    row(
      "MOD-02 MUST refuse a mode that it does not offer with -32602, and change nothing",
      {},
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        for (const modeId of ["autopilot", "yolo", "", "ASK", 5]) {
          const { error } = yield* test.client.raw("session/set_mode", { sessionId: session.id, modeId })
          assert.strictEqual(error?.code, -32602, String(modeId))
        }
        yield* test.client.barrier
        const told: ReadonlyArray<string> = session.updates().map(({ sessionUpdate }) => sessionUpdate)
        assert.notInclude(told, "current_mode_update")
      })
    )

    row(
      "MOD-02, CFG-06 MUST set modes and options while a turn runs, which counts from the next call on",
      {
        steps: [
          calls(["bash", { command: "touch asked" }], ["write", { path: "unasked", content: "x" }]),
          says("Done"),
          hangs
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const question = yield* session.asked("session/request_permission")
        yield* session.setMode("always-approve")
        yield* question.answer({ outcome: { outcome: "selected", optionId: "allow-once" } })
        yield* turn.answer
        assert.deepStrictEqual(
          ["asked", "unasked"].map((name) => existsSync(join(test.folder, name))),
          [true, true]
        )
        const hung = yield* session.prompt()
        const { configOptions } = yield* test.client.request("session/set_config_option", {
          sessionId: session.id,
          configId: "mode",
          value: "ask"
        })
        assert.strictEqual(named(configOptions, "mode")?.currentValue, "ask")
        yield* session.cancel
        yield* hung.answer
      })
    )

    row(
      "CFG-01, CFG-02 MAY offer options: choices with a present value among them, the most important first, no booleans",
      {},
      Effect.fnUntraced(function* (test) {
        const { options } = yield* test.open()
        assert.deepStrictEqual(
          options.map(({ category, id, type }) => [id, type, category]),
          [
            ["model", "select", "model"],
            ["mode", "select", "mode"]
          ]
        )
        for (const option of options) assert.include(valuesOf(option), option.currentValue as string)
      })
    )

    row(
      "CFG-03, CFG-04, MOD-04 MUST answer with all options and the new value, and tell the others",
      {},
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        for (const [value, more] of [
          ["plan", {}],
          ["always-approve", { type: "id" }],
          ["ask", { type: "something-later" }],
          ["accept-edits", { type: "boolean" }]
        ] as const) {
          const params = { sessionId: session.id, configId: "mode", value, ...more }
          const { result } = yield* test.client.raw("session/set_config_option", params)
          const options = at(result, "configOptions") as never as ReadonlyArray<SessionConfigOption>
          assert.deepStrictEqual(
            options.map(({ id }) => id),
            session.options.map(({ id }) => id)
          )
          assert.strictEqual(named(options, "mode")?.currentValue, value)
          yield* session.told("current_mode_update", ({ currentModeId }) => currentModeId === value)
          yield* session.told(
            "config_option_update",
            ({ configOptions }) => named(configOptions, "mode")?.currentValue === value
          )
        }
      })
    )

    row(
      "CFG-03 MUST refuse an option or a value that it does not offer with -32602, and change nothing",
      {},
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        for (const params of [
          { configId: "nothing", value: "ask" },
          { configId: "mode", value: "nothing" },
          { configId: "mode", value: "autopilot" },
          { configId: "model", value: "local/none" },
          { configId: "reasoning_effort", value: "high" },
          { configId: "mode", value: true },
          { configId: "mode", value: true, type: "boolean" },
          { configId: "mode" },
          { value: "ask" },
          { configId: 5, value: "ask" }
        ]) {
          const { error } = yield* test.client.raw("session/set_config_option", { sessionId: session.id, ...params })
          assert.strictEqual(error?.code, -32602, JSON.stringify(params))
        }
        yield* test.client.barrier
        const told: ReadonlyArray<string> = session.updates().map(({ sessionUpdate }) => sessionUpdate)
        assert.notInclude(told, "config_option_update")
      })
    )

    row(
      "CFG-05 MUST NOT depend on categories: an option is set by its id alone",
      {},
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const model = named(session.options, "model")
        const params = { sessionId: session.id, configId: "model", value: String(model?.currentValue) }
        const { configOptions } = yield* test.client.request("session/set_config_option", params)
        assert.deepStrictEqual(named(configOptions, "model"), model)
        const byCategory = { ...params, configId: "thought_level" }
        assert.strictEqual((yield* test.client.raw("session/set_config_option", byCategory)).error?.code, -32602)
      })
    )
  })
}
