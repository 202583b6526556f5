/** Prompts of an MCP server: listed in pages and in bounds, and made into what a model reads. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as McpPrompts from "../../../src/services/mcp/McpPrompts.ts"
import { makePrompt } from "../../../src/services/mcp/McpPromptCommand.ts"
import { McpFailed } from "../../../src/services/mcp/transport/McpTransport.ts"

const asked: Array<readonly [method: string, params: Schema.JsonObject]> = []

const answering = (answers: Readonly<Record<string, unknown>>) =>
  McpPrompts.make((method, params) => {
    asked.push([method, params])
    const cursor = typeof params["cursor"] === "string" ? params["cursor"] : ""
    const answer = answers[`${method}${cursor}`]
    return answer === undefined ? Effect.fail(new McpFailed({ message: "is gone" })) : Effect.succeed(answer)
  })

describe("prompts of a server", () => {
  it.effect("are listed page by page, without those that are none", () =>
    Effect.gen(function* () {
      const { list } = answering({
        "prompts/list": {
          prompts: [{ name: "a", arguments: [{ name: "x", required: true }] }, { name: 5 }],
          nextCursor: "2"
        },
        "prompts/list2": { prompts: [{ name: "b", title: "B", arguments: null }] }
      })
      assert.deepStrictEqual(yield* list, [
        { name: "a", arguments: [{ name: "x", required: true }] },
        { name: "b", title: "B", arguments: [] }
      ])
    })
  )

  it.effect("are no more than can be used, from a server that never stops", () =>
    Effect.gen(function* () {
      const page = { prompts: Array.from({ length: 30 }, (_, index) => ({ name: `p${index}` })), nextCursor: "x" }
      const { list } = answering({ "prompts/list": page, "prompts/listx": page })
      assert.lengthOf(yield* list, 200)
    })
  )

  it.effect("are made into content, with what the model is to have said marked as that", () =>
    Effect.gen(function* () {
      const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const
      const { get } = answering({
        "prompts/get": {
          messages: [
            { role: "user", content: { type: "text", text: "Look" } },
            { role: "assistant", content: { type: "text", text: "I see" } },
            { role: "user", content: image },
            { role: "user", content: { type: "hologram" } }
          ]
        }
      })
      assert.deepStrictEqual(yield* get("a", { x: "1" }), [
        { type: "text", text: "Look" },
        { type: "text", text: "<assistant>\nI see\n</assistant>" },
        image,
        { type: "text", text: '[content of an unknown kind] {"type":"hologram"}' }
      ])
      assert.deepStrictEqual(asked.at(-1), ["prompts/get", { name: "a", arguments: { x: "1" } }])
    })
  )

  it.effect("become commands whose names can be typed, and failures that name the server", () =>
    Effect.gen(function* () {
      const command = makePrompt(
        { name: "find / replace", description: "Does\n\u001b[2Jit", arguments: [{ name: "what" }] },
        {
          name: "my server",
          alias: "my_server",
          get: () => Effect.fail(new McpFailed({ message: "is gone" })),
          problem: ({ message }) => message
        }
      )
      assert.strictEqual(command.name, "mcp__my_server__find_replace")
      assert.strictEqual(command.description, "Does [2Jit")
      assert.deepStrictEqual(command.arguments, [{ name: "what", required: false }])
      assert.strictEqual((yield* Effect.flip(command.get({}))).message, 'The MCP server "my server" is gone.')
    })
  )
})
