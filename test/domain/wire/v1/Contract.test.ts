/** Our contract against the official schema: nothing missing, nothing more, and every value passes both ways. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import {
  AgentNotifications,
  AgentRequests,
  ClientNotifications,
  ClientRequests
} from "../../../../src/domain/wire/v1/Contract.ts"
import { official } from "../../../support/Official.ts"
import { definitionsOf, methodsOf, problemsOf } from "../../../support/Schema.ts"

const agent = [...AgentRequests.requests.values(), ...AgentNotifications.requests.values()]
const client = [...ClientRequests.requests.values(), ...ClientNotifications.requests.values()]

interface Shape {
  readonly name: string
  readonly definition: string
  readonly schema: Schema.Codec<unknown, unknown>
}

const shape = (name: string, definition: string | undefined, schema: Schema.Codec<unknown, unknown>) =>
  definition === undefined ? [] : [{ name, definition, schema }]

/** Every schema of the contract beside the official definition of the same thing. */
const shapes: ReadonlyArray<Shape> = [
  ...agent.flatMap((rpc) => [
    ...shape(`params of ${rpc._tag}`, definitionsOf("agent", rpc._tag)?.params, rpc.payloadSchema),
    ...shape(`result of ${rpc._tag}`, definitionsOf("agent", rpc._tag)?.result, rpc.successSchema)
  ]),
  ...client.flatMap((rpc) => [
    ...shape(`params of ${rpc._tag}`, definitionsOf("client", rpc._tag)?.params, rpc.payloadSchema),
    ...shape(`result of ${rpc._tag}`, definitionsOf("client", rpc._tag)?.result, rpc.successSchema)
  ])
]

/** Where this agent wants more than the schema says: absolute paths, ids and prompts that are not empty. */
const path = Arbitrary.map(Arbitrary.schema(Schema.String), (rest) => `/${rest}`)
const stricter: Readonly<Record<string, Arbitrary.Arbitrary<Schema.Json>>> = {
  cwd: path,
  additionalDirectories: Arbitrary.array(path, { maxLength: 2 }),
  sessionId: Arbitrary.schema(Schema.NonEmptyString),
  prompt: Arbitrary.array(official("ContentBlock", { nulls: false, property: () => undefined }), {
    minLength: 1,
    maxLength: 3
  })
}
const property = (key: string, schema: Schema.JsonObject) =>
  key === "additionalDirectories" && schema["type"] !== "array" ? undefined : stricter[key]

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** What this agent writes without encoding it. */
const isSent = (name: string): boolean =>
  [...AgentRequests.requests.keys()].some((method) => name === `result of ${method}`) ||
  ["session/update", "session/request_permission", "fs/read_text_file"].some((method) => name === `params of ${method}`)

const arbitrary = { runs: 40 }

describe("the contract of version 1", () => {
  it("has every stable method, on the side where it is, and no other", () => {
    const tags = (rpcs: ReadonlyArray<{ readonly _tag: string }>) => rpcs.map(({ _tag }) => _tag).toSorted()
    assert.deepStrictEqual(tags(agent), [...methodsOf("agent")].toSorted())
    assert.deepStrictEqual(tags(client), [...methodsOf("client")].toSorted())
  })

  it("keeps what is never answered apart from requests", () => {
    const unanswered = (rpcs: typeof agent | typeof client, side: "agent" | "client") =>
      rpcs.map(({ _tag }) => _tag).filter((tag) => definitionsOf(side, tag)?.result === undefined)
    assert.deepStrictEqual(unanswered(agent, "agent"), [...AgentNotifications.requests.keys()])
    assert.deepStrictEqual(unanswered(client, "client"), [...ClientNotifications.requests.keys()])
  })

  for (const { name, definition, schema } of shapes) {
    describe(name, () => {
      const encode = (value: unknown) => Effect.map(Schema.encodeEffect(schema)(value), asJson)
      const decode = Schema.decodeUnknownEffect(schema)

      it.effect.prop(
        "what we write is what the official schema describes, and reads back the same",
        [schema],
        Effect.fnUntraced(function* ([value]) {
          const written = yield* encode(value)
          assert.deepStrictEqual(problemsOf(definition, written), [])
          assert.deepStrictEqual(yield* encode(yield* decode(written)), written)
        }),
        { arbitrary }
      )

      if (isSent(name)) {
        it.effect.prop(
          "what we write is what we hold, so that it needs no encoding",
          [schema],
          Effect.fnUntraced(function* ([value]) {
            assert.deepStrictEqual(yield* encode(value), asJson(value))
          }),
          { arbitrary }
        )
      }

      it.effect.prop(
        "of what the official schema describes nothing is lost",
        [official(definition, { nulls: false, property })],
        Effect.fnUntraced(function* ([value]) {
          assert.deepStrictEqual(problemsOf(definition, value), [])
          assert.deepStrictEqual(yield* encode(yield* decode(value)), asJson(value))
        }),
        { arbitrary }
      )

      it.effect.prop(
        "null is read wherever the official schema lets it be",
        [official(definition, { nulls: true, property })],
        Effect.fnUntraced(function* ([value]) {
          assert.deepStrictEqual(problemsOf(definition, value), [])
          yield* decode(value)
        }),
        { arbitrary }
      )
    })
  }
})
