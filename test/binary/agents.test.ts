/** Custom agents and subagents of the built program, as the official SDK's client meets them over stdio. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { placeOf, says, suite } from "../support/Harness.ts"
import { folder, run } from "../support/Program.ts"
import { at } from "../support/Schema.ts"
import { stdio } from "../support/Transports.ts"

const { alone } = suite(1, stdio)

const idsOf = (value: unknown): ReadonlyArray<unknown> =>
  (Array.isArray(value) ? value : []).map((one: unknown) => at(one, "id"))

alone(
  "EXT-01, MOD-01, MOD-03, MOD-04 MAY list and create agents, and take one as the mode of a session, which a load brings back",
  { steps: [says("Mine"), says("Again")] },
  Effect.fnUntraced(function* (test) {
    const { client } = test
    const session = yield* test.open()
    const listed = yield* client.raw("_supercharge/agents/list", { sessionId: session.id })
    assert.deepStrictEqual(listed.result, { agents: [], currentAgentId: null })
    const asked = { sessionId: session.id, name: "reviewer", instructions: "Look for mistakes.", scope: "project" }
    const created = yield* client.raw("_supercharge/agents/create", { ...asked, description: "Reads a change" })
    const path = join(test.folder, ".supercharge/agents/reviewer.md")
    assert.deepStrictEqual(at(created.result, "agent"), {
      id: "reviewer",
      name: "reviewer",
      description: "Reads a change",
      scope: "project",
      path
    })
    assert.include(readFileSync(path, "utf8"), "Look for mistakes.")
    const offered = yield* session.told("config_option_update")
    assert.include(JSON.stringify(offered.configOptions), `"value":"reviewer"`)
    for (const wrong of [
      { name: "reviewer" },
      { name: "../x" },
      { name: "plan" },
      { name: "new", instructions: " " }
    ]) {
      const refused = yield* client.raw("_supercharge/agents/create", { ...asked, ...wrong })
      assert.strictEqual(at(refused.error, "code"), -32602)
      assert.isString(at(refused.error, "data", "field"))
    }
    const unknown = yield* client.raw("session/set_mode", { sessionId: session.id, modeId: "nobody" })
    assert.strictEqual(at(unknown.error, "code"), -32602)
    yield* session.setMode("reviewer")
    assert.strictEqual((yield* session.told("current_mode_update")).currentModeId, "reviewer")
    yield* session.run()
    const again = yield* client.request("session/load", { sessionId: session.id, ...placeOf(test) })
    assert.strictEqual(again.modes?.currentModeId, "reviewer")
    assert.include(idsOf(again.modes?.availableModes), "reviewer")
    const current = yield* client.raw("supercharge/agents/list", { sessionId: session.id })
    assert.deepInclude(current.result, { currentAgentId: "reviewer" })
  })
)

describe("--agent-profile", () => {
  it.live("that cannot be used ends the program before it serves, with exit code 1", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const broken = join(place, "broken.md")
      writeFileSync(broken, "no agent")
      for (const path of [broken, join(place, "missing.md"), place]) {
        for (const args of [
          ["acp", "--agent-profile", path],
          ["agent", "--agent-profile", path, "serve", "--bind", "127.0.0.1:0"]
        ]) {
          const { end, stderr, stdout } = yield* run(args)
          assert.strictEqual(end, 1, stderr)
          assert.strictEqual(stdout, "")
          assert.include(stderr, `error: --agent-profile: ${path}`)
        }
      }
      const late = yield* run(["agent", "stdio", "--agent-profile", broken])
      assert.strictEqual(late.end, 2)
      assert.include(late.stderr, "stands after the transport's name")
    }).pipe(Effect.scoped)
  )
})
