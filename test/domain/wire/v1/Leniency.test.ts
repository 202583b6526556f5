/** What an agent has to forgive (conformance §2), row by row and at random, beside the official SDK's agent. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { AgentRequests } from "../../../../src/domain/wire/v1/Contract.ts"
import { official } from "../../../support/Official.ts"
import { definitionsOf, isObject, methodsOf } from "../../../support/Schema.ts"
import { makeSdkAgent, type SdkAgent } from "../../../support/SdkAgent.ts"

type Json = Schema.Json

/** What our schema makes of params, in its wire form; undefined when they are refused. */
const readOurs = Effect.fnUntraced(function* (method: string, params: unknown) {
  const rpc = [...AgentRequests.requests.values()].find(({ _tag }) => _tag === method)
  if (rpc === undefined) return assert.fail(`no method ${method}`)
  const schema: Schema.Codec<unknown, unknown> = rpc.payloadSchema
  const decoded = yield* Effect.result(Schema.decodeUnknownEffect(schema)(params))
  return Result.isFailure(decoded) ? undefined : yield* Schema.encodeEffect(schema)(decoded.success)
})

const readTheirs = Effect.fnUntraced(function* (sdk: SdkAgent, method: string, params: unknown) {
  const reading = yield* sdk.read(method, params)
  return reading._tag === "Read" ? reading.params : undefined
})

/** Capabilities that hold flags only: the SDK writes them out when we leave them out. */
const flags = new Set(["clientCapabilities", "fs", "auth"])

/** Markers of which the SDK keeps keys that nobody knows. */
const openMarkers = new Set(["notices", "compaction"])

/** A missing key, `null` and, for a capability, `false` mean the same. */
const stated = (value: unknown, inCapabilities = false): unknown => {
  if (Array.isArray(value)) return value.map((item) => stated(item, inCapabilities))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [
        key,
        key === "_meta"
          ? inner
          : openMarkers.has(key) && typeof inner === "object" && inner !== null
            ? {}
            : stated(inner, inCapabilities || key === "clientCapabilities")
      ])
      .filter(([key, inner]) => {
        if (inner === undefined || inner === null || (inCapabilities && inner === false)) return false
        return !(typeof key === "string" && flags.has(key) && Object.keys(inner).length === 0)
      })
  )
}

const capability = (name: string, value: Json): Json => ({ protocolVersion: 1, clientCapabilities: { [name]: value } })
const prompt = (block: Json): Json => ({ sessionId: "s", prompt: [block] })
const server = (fields: Readonly<Record<string, Json>>): Json => ({ cwd: "/w", mcpServers: [{ name: "m", ...fields }] })

/** Read in spite of what is wrong with it. */
const forgiven: ReadonlyArray<readonly [what: string, method: string, params: Json]> = [
  ["clientCapabilities that are no object", "initialize", { protocolVersion: 1, clientCapabilities: 5 }],
  ["clientCapabilities null", "initialize", { protocolVersion: 1, clientCapabilities: null }],
  ["fs malformed", "initialize", capability("fs", "yes")],
  ["fs.readTextFile malformed", "initialize", capability("fs", { readTextFile: "yes", writeTextFile: true })],
  ["fs.writeTextFile malformed", "initialize", capability("fs", { readTextFile: true, writeTextFile: null })],
  ["terminal malformed", "initialize", capability("terminal", 1)],
  ["session malformed", "initialize", capability("session", true)],
  ["session.configOptions malformed", "initialize", capability("session", { configOptions: 1, notices: {} })],
  ["boolean marker malformed", "initialize", capability("session", { configOptions: { boolean: true } })],
  ["compaction marker malformed", "initialize", capability("session", { compaction: true })],
  ["notices marker malformed", "initialize", capability("session", { notices: "on" })],
  ["auth malformed", "initialize", capability("auth", [])],
  ["auth.terminal malformed", "initialize", capability("auth", { terminal: {} })],
  ["elicitation malformed", "initialize", capability("elicitation", 1)],
  ["elicitation.form malformed", "initialize", capability("elicitation", { form: true, url: {} })],
  ["elicitation.url malformed", "initialize", capability("elicitation", { form: {}, url: 1 })],
  ["clientInfo malformed", "initialize", { protocolVersion: 1, clientInfo: { name: "x" } }],
  [
    "clientInfo.title malformed",
    "initialize",
    { protocolVersion: 1, clientInfo: { name: "x", version: "1", title: 2 } }
  ],
  ["_meta malformed", "session/new", { cwd: "/w", mcpServers: [], _meta: "x" }],
  [
    "unknown keys at every depth",
    "session/new",
    { cwd: "/w", mcpServers: [{ name: "m", command: "c", args: [], env: [], x: 1 }], y: 2 }
  ],
  ["annotations malformed", "session/prompt", prompt({ type: "text", text: "t", annotations: 3 })],
  [
    "an audience that is not known among others",
    "session/prompt",
    prompt({ type: "text", text: "t", annotations: { audience: ["user", "nobody", 1] } })
  ],
  [
    "mimeType of a resource malformed",
    "session/prompt",
    prompt({ type: "resource", resource: { uri: "u", text: "t", mimeType: 1 } })
  ],
  ["uri of an image malformed", "session/prompt", prompt({ type: "image", data: "", mimeType: "image/png", uri: 4 })],
  [
    "title, description, size of a link malformed",
    "session/prompt",
    prompt({ type: "resource_link", uri: "u", name: "n", title: 1, description: [], size: "big", mimeType: {} })
  ],
  ["mcpServers null", "session/new", { cwd: "/w", mcpServers: null }],
  ["mcpServers null on load", "session/load", { sessionId: "s", cwd: "/w", mcpServers: null }],
  ["mcpServers missing on resume", "session/resume", { sessionId: "s", cwd: "/w" }],
  ["mcpServers null on resume", "session/resume", { sessionId: "s", cwd: "/w", mcpServers: null }],
  ["additionalDirectories null", "session/new", { cwd: "/w", mcpServers: [], additionalDirectories: null }],
  ["args and env null", "session/new", server({ command: "c", args: null, env: null })],
  ["headers null", "session/new", server({ type: "http", url: "u", headers: null })],
  [
    "a stdio server with the type of version 2",
    "session/new",
    server({ type: "stdio", command: "c", args: [], env: [] })
  ],
  ["cwd and cursor null on list", "session/list", { cwd: null, cursor: null }],
  ["nothing on list", "session/list", {}],
  [
    "a choice with an unknown type",
    "session/set_config_option",
    { sessionId: "s", configId: "c", type: "x", value: "v" }
  ]
]

/** Refused: -32602, and nothing is changed. */
const refused: ReadonlyArray<readonly [what: string, method: string, params: Json]> = [
  ...[65_536, -1, 1.5, "1", null].map(
    (protocolVersion) =>
      [`protocolVersion ${JSON.stringify(protocolVersion)}`, "initialize", { protocolVersion }] as const
  ),
  ["protocolVersion missing", "initialize", {}],
  ["cwd missing", "session/new", { mcpServers: [] }],
  ["mcpServers missing", "session/new", { cwd: "/w" }],
  ["mcpServers missing on load", "session/load", { sessionId: "s", cwd: "/w" }],
  ["an element of mcpServers invalid", "session/new", { cwd: "/w", mcpServers: [{ name: "m" }] }],
  ["env missing", "session/new", server({ command: "c", args: [] })],
  [
    "env with a value that is no string",
    "session/new",
    server({ command: "c", args: [], env: [{ name: "A", value: 1 }] })
  ],
  ["an element of prompt invalid", "session/prompt", prompt({ type: "text" })],
  ["a block of an unknown type", "session/prompt", prompt({ type: "video", data: "" })],
  ["prompt null", "session/prompt", { sessionId: "s", prompt: null }],
  ["sessionId a number", "session/prompt", { sessionId: 5, prompt: [{ type: "text", text: "t" }] }],
  ["a cursor that is a number", "session/list", { cursor: 5 }],
  ["a boolean without its type", "session/set_config_option", { sessionId: "s", configId: "c", value: true }],
  ["params that are no object", "session/new", "x"]
]

/** Puts junk somewhere into a value, or takes something away. */
const damaged = (value: Json, path: ReadonlyArray<number>, junk: Json | undefined): Json => {
  const [step, ...rest] = path
  if (step === undefined) return junk ?? value
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item, index) => (index === step % value.length ? damaged(item, rest, junk) : item))
  }
  if (!isObject(value)) return junk ?? value
  const entries = Object.entries(value)
  if (entries.length === 0) return value
  return Object.fromEntries(
    entries.flatMap(([key, inner], index) => {
      if (index !== step % entries.length) return [[key, inner]]
      if (rest.length === 0 && junk === undefined) return []
      return [[key, damaged(inner, rest, junk)]]
    })
  )
}

const path = Arbitrary.map(Arbitrary.schema(Schema.String), (rest) => `/${rest}`)

/** What this agent takes only in a stricter form stays as it is: the comparison is about everything else. */
const property = (key: string, schema: Schema.JsonObject) =>
  key === "cwd"
    ? path
    : key === "additionalDirectories" && schema["type"] === "array"
      ? Arbitrary.Constant([])
      : key === "sessionId"
        ? Arbitrary.schema(Schema.NonEmptyString)
        : undefined

const isStricter = (params: Json): boolean => {
  if (!isObject(params)) return false
  const { cwd, additionalDirectories, sessionId, prompt: blocks, mcpServers } = params
  const isRelative = (it: Json) => typeof it === "string" && !it.startsWith("/")
  return (
    (cwd !== undefined && isRelative(cwd)) ||
    (Array.isArray(additionalDirectories) && additionalDirectories.some(isRelative)) ||
    sessionId === "" ||
    (Array.isArray(blocks) && blocks.length === 0) ||
    // A server of an unknown type is refused, also when it looks like a stdio server otherwise.
    (Array.isArray(mcpServers) &&
      mcpServers.some((it) => isObject(it) && it["type"] !== undefined && it["command"] !== undefined))
  )
}

describe("leniency of version 1", () => {
  describe("is forgiven", () => {
    for (const [what, method, params] of forgiven) {
      it.effect(`${method}: ${what}`, () =>
        Effect.gen(function* () {
          const sdk = yield* makeSdkAgent
          const ours = yield* readOurs(method, params)
          assert.isDefined(ours)
          assert.deepStrictEqual(stated(ours), stated(yield* readTheirs(sdk, method, params)))
        })
      )
    }
  })

  describe("is refused", () => {
    for (const [what, method, params] of refused) {
      it.effect(`${method}: ${what}`, () =>
        Effect.gen(function* () {
          const sdk = yield* makeSdkAgent
          assert.isUndefined(yield* readOurs(method, params))
          assert.isUndefined(yield* readTheirs(sdk, method, params))
        })
      )
    }
  })

  for (const method of methodsOf("agent").filter((name) => name !== "session/cancel")) {
    it.effect.prop(
      `${method}: damage anywhere is forgiven or refused just as by the official SDK`,
      [
        official(definitionsOf("agent", method)?.params ?? method, { nulls: true, property }),
        Arbitrary.array(Arbitrary.schema(Schema.Natural), { minLength: 1, maxLength: 5 }),
        Arbitrary.schema(Schema.UndefinedOr(Schema.Json))
      ],
      Effect.fnUntraced(function* ([value, where, junk]) {
        const params = damaged(value, where, junk)
        // The SDK forgets keys of that name.
        if (isStricter(params) || JSON.stringify(params).includes("__proto__")) return
        const sdk = yield* makeSdkAgent
        const ours = yield* readOurs(method, params)
        const theirs = yield* readTheirs(sdk, method, params)
        assert.deepStrictEqual(stated(ours), stated(theirs))
      }),
      { arbitrary: { runs: 50 } }
    )
  }
})
