/** The JSON-RPC envelope: conformance §4. */
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { callsIn, outputOf } from "../support/Calls.ts"
import type { Client } from "../support/Client.ts"
import { calls, says, suite, type Test, type Version, yolo } from "../support/Harness.ts"
import { at, isObject } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

type Json = Schema.Json

const unknown = -32601
const invalid = -32600

/** Sends a line that is no request, and gives the error that answers it under no id. */
const refusal = Effect.fnUntraced(function* (client: Client, line: string) {
  const since = yield* client.line(line)
  return yield* client.transcript.find(
    ({ from, message }) => (from === "agent" && message.id === null ? message.error : undefined),
    since
  )
})

/** What the agent says to some lines and nothing else. */
const answersTo = Effect.fnUntraced(function* (client: Client, lines: ReadonlyArray<string>) {
  const since = client.transcript.entries.length
  for (const line of lines) yield* client.line(line)
  yield* client.barrier
  return client.transcript.entries.slice(since, -1).filter(({ from }) => from === "agent")
})

const note = (method: string, params: object): string => JSON.stringify({ jsonrpc: "2.0", method, params })

/** Two reads outside the workspace: they run side by side, so both questions are open at once. */
const twoQuestions = [calls(["read", { path: "/etc/hostname" }], ["read", { path: "/etc/passwd" }]), says("Read")]

const questionAbout = Effect.fnUntraced(function* (test: Test, path: string) {
  return yield* test.client.asked(
    "session/request_permission",
    ({ toolCall }) => toolCall.title?.includes(path) === true
  )
})

const allow = { outcome: { outcome: "selected", optionId: "allow-once" } } as const

/** Keys of everything that has a shape of the protocol's: what is free-form is left out. */
const keysOf = (value: Json): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(keysOf)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    ["_meta", "rawInput", "rawOutput"].includes(key) || inner === undefined ? [] : [key, ...keysOf(inner)]
  )
}

const discriminators = new Set(["sessionUpdate", "type", "kind", "status", "stopReason", "priority", "outcome"])

const tagsOf = (value: Json): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(tagsOf)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (["_meta", "rawInput", "rawOutput"].includes(key) || inner === undefined) return []
    return discriminators.has(key) && typeof inner === "string" ? [inner] : tagsOf(inner)
  })
}

export const envelope = (version: Version, transport: Transport): void => {
  const { alone, group } = suite(version, transport)

  group("messages", {}, (row) => {
    row(
      "RPC-01 MUST answer with exactly one of result and error, of the right types",
      {},
      Effect.fnUntraced(function* (test) {
        const { client } = test
        const good = yield* client.raw("session/list", {})
        const bad = [yield* client.raw("session/new", { cwd: 5 }), yield* client.raw("no/such")]
        assert.deepStrictEqual(Object.keys(good).toSorted(), ["id", "jsonrpc", "result"])
        for (const message of bad) {
          assert.deepStrictEqual(Object.keys(message).toSorted(), ["error", "id", "jsonrpc"])
          assert.isTrue(Number.isInteger(message.error?.code))
          assert.isString(message.error?.message)
        }
      })
    )

    row(
      "RPC-02 MUST echo the id with its value and type",
      {},
      Effect.fnUntraced(function* (test) {
        const { client } = test
        for (const id of [0, -1, 9007199254740991, "", "x", "0", 'ein längerer "id" 🎉']) {
          const { answeredAt } = yield* client.rawAsk("no/such", {}, id)
          assert.strictEqual(client.transcript.entries[yield* answeredAt]?.message.id, id)
        }
        // Beyond what a number of this language can hold; a client in another language may count on.
        for (const id of ["9007199254740993", "-12345678901234567890"]) {
          const since = yield* client.line(`{"jsonrpc":"2.0","id":${id},"method":"no/such"}`)
          yield* client.transcript.find(
            ({ from, line }) => (from === "agent" && line.includes(`"id":${id},`) ? true : undefined),
            since
          )
        }
      })
    )

    row(
      "RPC-03 MUST answer a request whose id is null",
      {},
      Effect.fnUntraced(function* (test) {
        const error = yield* refusal(test.client, '{"jsonrpc":"2.0","id":null,"method":"no/such"}')
        assert.include([unknown, invalid], error.code)
      })
    )

    row(
      "RPC-05 MUST never answer a notification, good or bad, known or not",
      {},
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        yield* session.told("available_commands_update")
        const told = yield* answersTo(test.client, [
          note("session/cancel", { sessionId: session.id }),
          note("session/cancel", { sessionId: 5 }),
          '{"jsonrpc":"2.0","method":"session/cancel"}',
          note("_x/y", {}),
          note("x/y", {}),
          note("$/z", {}),
          note("$/cancel_request", { requestId: "none" }),
          note("$/cancel_request", {}),
          note("session/list", {}),
          note("session/prompt", { sessionId: session.id, prompt: [test.text("quietly")] }),
          note("initialize", { protocolVersion: 1 })
        ])
        assert.deepStrictEqual(told, [])
      })
    )

    row(
      "RPC-06, RPC-07 MUST answer a method that it does not know with -32601, and live on",
      {},
      Effect.fnUntraced(function* (test) {
        for (const method of ["_tck/does_not_exist", "foo/bar", "", "constructor", "__proto__", "toString"]) {
          assert.strictEqual((yield* test.client.raw(method, {})).error?.code, unknown, method)
        }
        yield* test.open()
      })
    )

    row(
      "RPC-08 MUST answer a line that is not JSON with -32700 under no id, and live on",
      {},
      Effect.fnUntraced(function* (test) {
        for (const line of ["not json", "{", '{"jsonrpc":"2.0","id":1,"method":"session/list"', "{'a':1}", "\u0000"]) {
          assert.strictEqual((yield* refusal(test.client, line)).code, -32700, line)
        }
        yield* test.open()
      })
    )

    row(
      "RPC-09 MUST answer JSON that is no message with -32600 under no id, and live on",
      {},
      Effect.fnUntraced(function* (test) {
        for (const line of [
          "42",
          '"session/list"',
          "null",
          "true",
          "{}",
          '{"id":1,"method":"session/list"}',
          '{"jsonrpc":"1.0","id":1,"method":"session/list"}',
          '{"jsonrpc":"2.0","id":1,"method":5}',
          '{"jsonrpc":"2.0","id":{},"method":"session/list"}',
          '{"jsonrpc":"2.0","id":[1],"method":"session/list"}'
        ]) {
          assert.strictEqual((yield* refusal(test.client, line)).code, invalid, line)
        }
        yield* test.open()
      })
    )

    row(
      "RPC-10 MUST answer any array with one -32600 under no id, and do nothing of it",
      {},
      Effect.fnUntraced(function* (test) {
        const request = {
          jsonrpc: "2.0",
          id: "in-a-batch",
          method: "session/new",
          params: { cwd: test.folder, mcpServers: [] }
        }
        for (const batch of [[], [request], [request, request], [{ jsonrpc: "2.0", method: "_x" }], [1, "2"]]) {
          const told = yield* answersTo(test.client, [JSON.stringify(batch)])
          assert.deepStrictEqual(
            told.map(({ message }) => [message.id, message.error?.code]),
            [[null, invalid]]
          )
        }
      })
    )

    row(
      "RPC-11 MUST drop an answer that nothing waits for, and one that is none",
      {},
      Effect.fnUntraced(function* (test) {
        const told = yield* answersTo(test.client, [
          '{"jsonrpc":"2.0","id":999,"result":{}}',
          '{"jsonrpc":"2.0","id":"nobody","error":{"code":1,"message":"no"}}',
          '{"jsonrpc":"2.0","id":999}',
          '{"jsonrpc":"2.0","id":null,"result":{}}',
          '{"jsonrpc":"2.0","result":{}}',
          '{"id":0,"result":{}}'
        ])
        assert.deepStrictEqual(told, [])
      })
    )

    row(
      "RPC-12, PRM-07 MUST match answers by id in any order",
      { steps: twoQuestions },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        const first = yield* questionAbout(test, "/etc/hostname")
        const second = yield* questionAbout(test, "/etc/passwd")
        assert.notStrictEqual(first.id, second.id)
        yield* second.answer(allow)
        yield* first.answer({ outcome: { outcome: "selected", optionId: "reject-once" } })
        yield* turn.answer
        const [hostname, passwd] = callsIn(turn.updates())
        assert.deepStrictEqual([hostname?.status, passwd?.status], ["failed", "completed"])
        assert.include(outputOf(passwd ?? {}), "root:")
      })
    )

    row(
      "RPC-12 MUST let an error and a nonsense answer fail their own call only",
      { steps: [...twoQuestions.slice(0, 1), ...twoQuestions, says("Still here")] },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open()
        const turn = yield* session.prompt()
        yield* (yield* questionAbout(test, "/etc/hostname")).refuse(-32603, "The window is gone")
        yield* (yield* questionAbout(test, "/etc/passwd")).answer(allow)
        yield* (yield* questionAbout(test, "/etc/hostname")).say({ result: ["nonsense"] })
        yield* (yield* questionAbout(test, "/etc/passwd")).answer(allow)
        assert.strictEqual((yield* turn.answer).stopReason, "end_turn")
        assert.deepStrictEqual(
          callsIn(turn.updates()).map(({ status }) => status),
          ["failed", "completed", "failed", "completed"]
        )
      })
    )

    row(
      "RPC-14 SHOULD put one short line into an error's message",
      {},
      Effect.fnUntraced(function* (test) {
        const { client } = test
        const long = "x".repeat(10_000)
        const answers = [
          yield* client.raw(`no/${long}`),
          yield* client.raw("session/new", {}),
          yield* client.raw("session/new", { cwd: `${long}\n${long}`, mcpServers: [] }),
          yield* client.raw("session/new", { cwd: `/${long}`, mcpServers: [] }),
          yield* client.raw("session/prompt", { sessionId: `a\nb${long}`, prompt: [test.text("x")] }),
          yield* client.raw("session/set_mode", { sessionId: long, modeId: long }),
          yield* client.raw("session/list", { cursor: long }),
          yield* client.raw("authenticate", { methodId: long })
        ]
        for (const { error } of answers) {
          assert.match(error?.message ?? "", /^\S.{0,499}$/)
        }
      })
    )

    row(
      "RPC-15 SHOULD take a request without params where nothing is required",
      {},
      Effect.fnUntraced(function* (test) {
        assert.isArray(at((yield* test.client.raw("session/list")).result, "sessions"))
        assert.isObject((yield* test.client.raw("logout")).result)
        assert.strictEqual((yield* test.client.raw("session/new")).error?.code, -32602)
      })
    )

    row(
      "RPC-16 MUST say absolute paths, lines from 1, camelCase keys and snake_case values",
      {
        steps: [
          {
            parts: [
              { thought: "First the plan" },
              { tool: { name: "todo", input: { entries: [{ content: "Look", status: "in_progress" }] } } },
              { tool: { name: "write", input: { path: "a.txt", content: "one\ntwo\n" } } },
              { tool: { name: "read", input: { path: "a.txt", offset: 2 } } },
              { tool: { name: "bash", input: { command: "pwd" } } }
            ]
          },
          says("Done")
        ]
      },
      Effect.fnUntraced(function* (test) {
        const session = yield* test.open({ _meta: yolo })
        const turn = yield* session.run()
        const told: ReadonlyArray<SessionUpdate> = turn.updates()
        const places = callsIn(told).flatMap(({ locations }) => locations ?? [])
        assert.deepStrictEqual(places, [
          { path: `${test.folder}/a.txt`, line: 1 },
          { path: `${test.folder}/a.txt`, line: 2 }
        ])
        for (const { from, message } of test.client.transcript.entries) {
          if (from !== "agent") continue
          for (const key of keysOf(message.params ?? message.result ?? null))
            assert.match(key, /^(_meta|[a-z][a-zA-Z0-9]*)$/)
          for (const tag of tagsOf(message.params ?? message.result ?? null)) assert.match(tag, /^[a-z]+(_[a-z]+)*$/)
        }
      })
    )
  })

  alone(
    "RPC-13 MUST refuse requests before initialize with -32600, ignore notifications, and then begin",
    { initialized: false },
    Effect.fnUntraced(function* (test) {
      const { client } = test
      const place = { cwd: test.folder, mcpServers: [] }
      for (const [method, params] of [
        ["session/new", place],
        ["session/list", {}],
        ["no/such", {}]
      ] as const) {
        assert.strictEqual((yield* client.raw(method, params)).error?.code, invalid)
      }
      yield* client.line(note("session/cancel", { sessionId: "x" }))
      assert.strictEqual((yield* client.raw("initialize", { protocolVersion: "one" })).error?.code, -32602)
      assert.strictEqual((yield* client.raw("session/new", place)).error?.code, invalid)
      yield* client.initialize()
      yield* test.open()
    })
  )
}
