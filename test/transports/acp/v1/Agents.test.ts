import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeFakeAgent } from "../../../support/FakeAgent.ts"
import { at } from "../../../support/Schema.ts"
import { makeOpenWire } from "../../../support/Wire.ts"

const params = { sessionId: "s-1", name: "tidy", instructions: "Tidy up." }
const path = "/home/me/.supercharge/agents/reviewer.md"

describe("custom agents on the wire", () => {
  it.effect("EXT-01: are listed and created, with the underscore and without", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeOpenWire(fake.agent)
      const reviewer = { id: "reviewer", name: "reviewer", description: "Reads a change", scope: "user", path }
      for (const prefix of ["_", ""]) {
        const listed = yield* wire.request(`${prefix}supercharge/agents/list`, { sessionId: "s-1" })
        assert.deepStrictEqual(listed["result"], { agents: [reviewer], currentAgentId: null })
        const created = yield* wire.request(`${prefix}supercharge/agents/create`, { ...params, scope: "user" })
        assert.deepStrictEqual(created["result"], { agent: { ...reviewer, id: "tidy", name: "tidy" } })
      }
      assert.deepStrictEqual(fake.intents[1], {
        name: "createAgent",
        args: ["s-1", { name: "tidy", instructions: "Tidy up.", scope: "user" }]
      })
    })
  )

  it.effect("RPC-14: are refused by the name of the field", () =>
    Effect.gen(function* () {
      const wire = yield* makeOpenWire(makeFakeAgent().agent)
      for (const [wrong, field] of [
        [{ sessionId: "s-1", name: "x" }, "instructions"],
        [{ ...params, scope: "everyone" }, "scope"],
        [{ ...params, name: 3 }, "name"]
      ] as const) {
        const { error } = yield* wire.request("_supercharge/agents/create", wrong)
        assert.deepStrictEqual([at(error, "code"), at(error, "data", "field")], [-32602, field])
      }
      const { error } = yield* wire.request("__supercharge/agents/list", { sessionId: "s-1" })
      assert.strictEqual(at(error, "code"), -32601)
    })
  )

  it.effect("EXT-03: are wished for by name, or as they are", () =>
    Effect.gen(function* () {
      const fake = makeFakeAgent()
      const wire = yield* makeOpenWire(fake.agent)
      const wished = ["reviewer", { name: "x", prompt: "Do." }, 7, ""]
      for (const agentProfile of wished) {
        yield* wire.request("session/new", { cwd: "/w", mcpServers: [], _meta: { agentProfile } })
      }
      const wishes = fake.intents.filter(({ name }) => name === "newSession").map(({ args }) => args[1])
      assert.deepStrictEqual(wishes, [{ agentProfile: wished[0] }, { agentProfile: wished[1] }, {}, {}])
    })
  )
})
