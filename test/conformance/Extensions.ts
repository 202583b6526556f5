/** Extensions: conformance §17. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { calls, says, suite, type Version, yolo } from "../support/Harness.ts"
import { at, definitionsOf, methodsOf, problemsOf } from "../support/Schema.ts"
import type { Transport } from "../support/Transports.ts"

type Json = Schema.Json

export const extending = (version: Version, transport: Transport): void => {
  const { alone } = suite(version, transport)

  alone(
    "EXT-01, EXT-02, EXT-03 MUST keep what is its own in _meta and in methods with an underscore, and announce it",
    { initialized: false, steps: [calls(["bash", { command: "echo x" }]), { parts: [{ error: { status: 401 } }] }] },
    Effect.fnUntraced(function* (test) {
      const { client } = test
      const opened = yield* client.initialize()
      const session = yield* test.open({ _meta: { ...yolo, unknown: [1] } })
      const { response } = yield* session.run()
      assert.isObject(at(response._meta, "superPi"))
      assert.deepStrictEqual(problemsOf("PromptResponse", response), [])
      const methods = at(opened.agentCapabilities?._meta, "superPi", "methods") as ReadonlyArray<Json>
      assert.isNotEmpty(methods)
      for (const method of methods) assert.match(String(method), /^_/)
      // The judge of the transcript held every line against the keys of its definition: see that it would have told.
      assert.isNotEmpty(problemsOf("PromptResponse", { ...response, superPi: {} }))
      const known = methodsOf("client")
      for (const { from, message } of client.transcript.entries) {
        if (from === "agent" && message.method !== undefined) assert.include(known, message.method)
      }
      assert.isUndefined(definitionsOf("client", "superPi/anything"))
    })
  )

  alone(
    "EXT-03 SHOULD ignore notifications and keys that it does not know",
    { steps: [says("Hello")] },
    Effect.fnUntraced(function* (test) {
      const { client, folder } = test
      for (const method of ["_vendor/hello", "vendor/hello", "$/progress", "session/updated"]) {
        yield* client.line(JSON.stringify({ jsonrpc: "2.0", method, params: { a: [1], sessionId: 5 } }))
      }
      const later = { vendor: { deep: [null] } }
      const { result } = yield* client.raw("session/new", { cwd: folder, mcpServers: [], _meta: later, later })
      const sessionId = at(result, "sessionId")
      assert.isString(sessionId)
      const prompt = [{ ...test.text("x"), later, _meta: later, annotations: { later } }]
      const params = JSON.parse(JSON.stringify({ sessionId, prompt, later }))
      assert.strictEqual(at((yield* client.raw("session/prompt", params)).result, "stopReason"), "end_turn")
    })
  )
}
