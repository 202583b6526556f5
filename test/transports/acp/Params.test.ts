/** Errors of params: they name the field and what is expected there, and never a value (RPC-14, MCP-08). */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AgentRequests } from "../../../src/domain/wire/v1/Contract.ts"
import { decodeParams } from "../../../src/transports/acp/Params.ts"

const failure = Effect.fnUntraced(function* (method: string, params: unknown) {
  const rpc = [...AgentRequests.requests.values()].find(({ _tag }) => _tag === method)
  if (rpc === undefined) return assert.fail(method)
  const schema: Schema.ConstraintDecoder<unknown> = rpc.payloadSchema
  return yield* Effect.flip(Effect.asVoid(decodeParams(method, schema)(params)))
})

const cases: ReadonlyArray<readonly [method: string, params: unknown, message: string]> = [
  ["session/new", { cwd: "/w" }, "mcpServers is missing"],
  ["session/new", {}, "cwd is missing"],
  ["session/new", { cwd: "w", mcpServers: [] }, "cwd: expected an absolute path, such as /home/me/project"],
  ["session/new", { cwd: "C:\\work", mcpServers: 5 }, "mcpServers: expected array | null"],
  [
    "session/new",
    { cwd: "/w", mcpServers: [], additionalDirectories: ["/a", "b"] },
    "additionalDirectories[1]: expected an absolute path, such as /home/me/project"
  ],
  ["session/new", { cwd: "/w", mcpServers: [{ name: "m", command: "c", args: [] }] }, "mcpServers[0].env is missing"],
  [
    "session/new",
    { cwd: "/w", mcpServers: [{ type: "http", name: "m", headers: [] }] },
    "mcpServers[0].url is missing"
  ],
  [
    "session/new",
    { cwd: "/w", mcpServers: [{ type: "acp", name: "m", command: "c", args: [], env: [] }] },
    'mcpServers[0].type: expected "http", "stdio" or no type'
  ],
  [
    "session/new",
    { cwd: "/w", mcpServers: [{ name: "m", command: "c", args: [], env: [{ name: "A", value: 1 }] }] },
    "mcpServers[0].env[0].value: expected string"
  ],
  ["session/prompt", { sessionId: "s", prompt: [] }, "prompt: expected at least one content block"],
  ["session/prompt", { sessionId: "s", prompt: [{ type: "text" }] }, "prompt[0].text is missing"],
  [
    "session/prompt",
    { sessionId: "s", prompt: [{ type: "video" }] },
    "prompt[0]: expected a content block of type text, image, audio, resource_link or resource"
  ],
  ["session/set_config_option", { sessionId: "s", configId: "c", value: 5 }, "value: expected string"],
  ["session/set_mode", { sessionId: "", modeId: "ask" }, "sessionId: expected a value with a length of at least 1"],
  ["session/new", "text", "params: expected object"]
]

/** Text that is in no message of ours. */
const secret = Arbitrary.map(Arbitrary.schema(Schema.Natural), (number) => `sk-${number}-Zz`)

const secretIn = (value: string): ReadonlyArray<readonly [method: string, params: unknown]> => [
  ["session/new", { cwd: value, mcpServers: [] }],
  ["session/new", { cwd: "/w", mcpServers: [value] }],
  ["session/new", { cwd: "/w", mcpServers: [{ name: value, command: value, args: [value], env: [{ value }] }] }],
  ["session/new", { cwd: "/w", mcpServers: [{ name: value, command: 1, args: [], env: [{ name: value, value }] }] }],
  ["session/new", { cwd: "/w", mcpServers: [{ name: "m", command: "c", args: [], env: [{ name: 1, value }] }] }],
  ["session/new", { cwd: "/w", mcpServers: [{ name: "m", command: "c", args: [], env: { [value]: value } }] }],
  ["session/new", { cwd: "/w", mcpServers: [{ type: "http", name: "m", url: 1, headers: [{ name: "a", value }] }] }],
  ["session/new", { cwd: "/w", mcpServers: [{ type: value, name: "m", url: value, headers: [{ value }] }] }],
  ["session/load", { sessionId: [value], cwd: { [value]: value }, mcpServers: { [value]: value } }],
  ["authenticate", { methodId: { token: value }, _meta: { token: value } }],
  ["session/prompt", { sessionId: "s", prompt: [{ type: value, text: value }] }],
  ["session/prompt", { sessionId: "s", prompt: [{ type: "image", data: value }] }]
]

describe("params that do not fit", () => {
  for (const [method, params, message] of cases) {
    it.effect(`${method} ${JSON.stringify(params)}`, () =>
      Effect.gen(function* () {
        const error = yield* failure(method, params)
        assert.strictEqual(error.code, -32602)
        assert.strictEqual(error.message, `Invalid params for ${method}: ${message}`)
      })
    )
  }

  it.effect("data has the field by itself", () =>
    Effect.gen(function* () {
      const error = yield* failure("session/new", { cwd: "/w", mcpServers: [{ name: "m" }] })
      assert.deepStrictEqual(error.data, { field: "mcpServers[0].command" })
    })
  )

  it.effect("however many problems there are, the error stays short", () =>
    Effect.gen(function* () {
      const error = yield* failure("session/new", {
        cwd: "/w",
        mcpServers: Array.from({ length: 100_000 }, () => ({}))
      })
      assert.isAtMost(error.message.length, 500)
      assert.isAtMost(JSON.stringify(error.data).length, 500)
    })
  )

  it.effect.prop(
    "no value of env, headers, tokens or anything else is in the error",
    [secret],
    Effect.fnUntraced(function* ([value]) {
      for (const [method, params] of secretIn(value)) {
        const error = yield* failure(method, params)
        assert.notInclude(JSON.stringify([error.message, error.data, error.stack, error.cause]), value)
      }
    }),
    { arbitrary: { runs: 50 } }
  )
})
