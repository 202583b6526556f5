import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { configFor } from "../support/LocalProvider.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { newSession, open, turn } from "../support/Probe.ts"
import { at, isObject } from "../support/Schema.ts"

describe("1n. authentication", () => {
  it.live("F106 a key that is put in place while the agent runs counts from the next sign-in on", () =>
    Effect.gen(function* () {
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "ok" }] })
      const agent = yield* open()
      const methods = at(agent.seen[0]!["result"], "authMethods")
      const [first] = Array.isArray(methods) ? methods.filter(isObject) : []
      const methodId = first?.["id"] ?? ""
      const params = { cwd: agent.home, mcpServers: [] }
      assert.strictEqual((yield* agent.request("session/new", params)).error?.["code"], -32000)
      // A sign-in that cannot work is no success.
      assert.strictEqual((yield* agent.request("authenticate", { methodId })).error?.["code"], -32000)
      writeFileSync(join(agent.home, "config.toml"), configFor(server))
      yield* agent.ok("authenticate", { methodId })
      const session = yield* newSession(agent, agent.home)
      assert.strictEqual(yield* turn(agent, session, "hi"), "end_turn")
    })
  )
})
