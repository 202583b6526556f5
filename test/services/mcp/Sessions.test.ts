import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { polite, serveRaw } from "../../support/mcp/hostile.ts"
import { begin, call, gone, http, isAlive, manager, odd, wanted } from "../../support/mcp/session.ts"

/** The process that a session has of the server. */
const processOf = (connection: Parameters<typeof call>[0]) =>
  Effect.map(call(connection, "mcp__odd__where"), ({ text }) => Number(JSON.parse(text).pid))

describe("several sessions with the same server in one process", () => {
  it.live("each have a program of their own: one that hangs, dies or ends holds up no other", () =>
    Effect.gen(function* () {
      const open = Effect.gen(function* () {
        const scope = yield* Scope.make()
        yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
        const connection = yield* Scope.provide(begin([wanted(odd("odd"))]), scope)
        const tools = yield* connection.tools
        return { connection, pid: yield* processOf({ tools }), scope, tools }
      })
      const [hanging, dying, other] = yield* Effect.all([open, open, open], { concurrency: "unbounded" })
      assert.strictEqual(new Set([hanging.pid, dying.pid, other.pid]).size, 3)

      const calls = yield* Effect.forEach(Array.from({ length: 20 }), () =>
        Effect.forkChild(call(hanging, "mcp__odd__hang"), { startImmediately: true })
      )
      assert.strictEqual((yield* call(dying, "mcp__odd__die")).status, "failed")
      assert.strictEqual((yield* call(other, "mcp__odd__fail")).text, "that went wrong")
      assert.isTrue(
        calls.every((fiber) => fiber.pollUnsafe() === undefined),
        "and no other death ends its calls"
      )
      assert.deepStrictEqual(hanging.connection.notices, [])

      yield* Effect.forEach(calls, Fiber.interrupt)
      yield* Scope.close(hanging.scope, Exit.void)
      yield* gone(hanging.pid)
      assert.isTrue(isAlive(other.pid))
      assert.strictEqual(yield* processOf(other), other.pid)
      assert.strictEqual((yield* call(dying, "mcp__odd__fail")).text, "that went wrong", "started again for itself")
    }).pipe(Effect.scoped, Effect.provide(manager))
  )

  it.live("each have connections and a session of their own behind one address", () =>
    Effect.gen(function* () {
      const hanging = yield* Deferred.make<void>()
      let calls = 0
      const { asked, url } = yield* serveRaw(
        polite({
          "tools/call": (one, socket) => {
            calls += 1
            if (calls === 1) Deferred.doneUnsafe(hanging, Effect.void)
            else polite()(one, socket)
          }
        })
      )
      const scope = yield* Scope.make()
      const first = yield* Scope.provide(begin([wanted(http(url))]), scope)
      const second = yield* begin([wanted(http(url))])
      const tools = yield* first.tools
      const fiber = yield* Effect.forkChild(call({ tools }, "mcp__remote__echo"), { startImmediately: true })
      yield* Deferred.await(hanging)
      const others = { tools: yield* second.tools }
      assert.strictEqual((yield* call(others, "mcp__remote__echo")).text, "echoed")
      assert.isUndefined(fiber.pollUnsafe())
      yield* Fiber.interrupt(fiber)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* call(others, "mcp__remote__echo")).text, "echoed")
      assert.lengthOf(
        asked.filter(({ body }) => body.method === "initialize"),
        2
      )
    }).pipe(Effect.scoped, Effect.provide(manager))
  )
})
