/** Where hooks stand in a turn, and what becomes of it when they say no. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { HookOccasion } from "../../../src/domain/Hook.ts"
import { Changes } from "../../../src/services/Changes.ts"
import { Confinements } from "../../../src/services/Confinements.ts"
import { Hooks } from "../../../src/services/Hooks.ts"
import type { ScriptPart } from "../../../src/services/models/script/Script.ts"
import { PermissionBroker } from "../../../src/services/PermissionBroker.ts"
import * as TurnHooks from "../../../src/services/turn/TurnHooks.ts"
import { echo, fakeTools } from "../../support/fakeTools.ts"
import { nothingAsked, scripted, spoken, steps } from "../../support/models.ts"
import { runTurn } from "../../support/turns.ts"
import { makeSession } from "../../support/turnSession.ts"

const read: ScriptPart = { tool: { name: "read", input: { value: "a" } } }

/** A turn whose model calls `read` once, beside hooks that answer with `denied`. */
const turn = Effect.fnUntraced(function* (
  denied: (occasion: HookOccasion, count: number) => string | undefined,
  { broker = PermissionBroker.layerAllow }: { readonly broker?: Layer.Layer<PermissionBroker> } = {}
) {
  const heard: Array<HookOccasion> = []
  const count = (event: string) => heard.filter((occasion) => occasion.event === event).length
  const hooks = Layer.succeed(Hooks, {
    run: (_session, occasion) =>
      Effect.sync(() => {
        heard.push(occasion)
        return { denied: denied(occasion, count(occasion.event)), problems: [] }
      })
  })
  const asked = nothingAsked()
  const lifetime = Scope.makeUnsafe()
  const recorded = makeSession({ workspace: { ...makeSession().session.workspace, lifetime } })
  const outcome = yield* runTurn(recorded.session, "go", {
    models: scripted(
      steps([read], [{ text: "Done." }], [{ text: "Again." }], [{ text: "Once more." }], [{ text: "x" }]),
      asked
    ),
    tools: fakeTools({ read: echo }),
    guards: Layer.mergeAll(hooks, Changes.layerNone, Confinements.layerOff),
    broker
  })
  return { ...recorded, lifetime, outcome, asked, heard, names: () => heard.map(({ event }) => event) }
})

describe("hooks of a turn", () => {
  it.effect("hear of the session, the prompt, each call and the end, in that order", () =>
    Effect.gen(function* () {
      const { heard, lifetime, names, outcome } = yield* turn(() => undefined)
      assert.strictEqual(outcome.stopReason, "end_turn")
      assert.deepStrictEqual(names(), ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"])
      assert.deepInclude(heard[1], { prompt: "go" })
      assert.deepInclude(heard[2], { tool: "read", input: { value: "a" } })
      assert.deepInclude(heard[3], { tool: "read", output: "echo a", failed: false })
      assert.deepInclude(heard[4], { text: "Done." })
      yield* Scope.close(lifetime, Exit.void)
      assert.strictEqual(names().at(-1), "SessionEnd")
    })
  )

  it.effect("a prompt that is refused never reaches the model, and leaves nothing in the context", () =>
    Effect.gen(function* () {
      const { asked, outcome, state, told } = yield* turn(({ event }) =>
        event === "UserPromptSubmit" ? "Denied by a hook: no" : undefined
      )
      assert.deepInclude(outcome, { stopReason: "refusal" })
      assert.deepStrictEqual(asked.prompts, [])
      assert.deepStrictEqual(state().context, [])
      assert.deepStrictEqual(told(), ["text Denied by a hook: no"])
    })
  )

  it.effect("a call that is refused does not run, and nobody is asked about it", () =>
    Effect.gen(function* () {
      const { asked, names } = yield* turn(({ event }) => (event === "PreToolUse" ? "Denied by a hook: no" : undefined))
      assert.deepStrictEqual(names(), ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"])
      assert.include(JSON.stringify(spoken(asked.prompts[1] ?? [])), "Denied by a hook: no")
    })
  )

  it.effect("hear of a call that was not permitted, with the reason", () =>
    Effect.gen(function* () {
      const { heard, names } = yield* turn(() => undefined, {
        broker: Layer.succeed(PermissionBroker, {
          decide: () => Effect.succeed({ _tag: "Denied", reason: "because" }),
          readable: () => Effect.succeedNone
        })
      })
      assert.deepStrictEqual(names(), ["SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionDenied", "Stop"])
      assert.deepInclude(heard[3], { tool: "read", reason: "because" })
    })
  )

  it.effect("what has begun or was not permitted goes its way, whatever a hook says of it", () =>
    Effect.gen(function* () {
      const { asked, names, outcome } = yield* turn(
        ({ event }) => (event === "SessionStart" || event === "PermissionDenied" ? "Denied by a hook: no" : undefined),
        {
          broker: Layer.succeed(PermissionBroker, {
            decide: () => Effect.succeed({ _tag: "Denied", reason: "because" }),
            readable: () => Effect.succeedNone
          })
        }
      )
      assert.strictEqual(outcome.stopReason, "end_turn")
      assert.deepStrictEqual(names(), ["SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionDenied", "Stop"])
      const result = JSON.stringify(spoken(asked.prompts[1] ?? []))
      assert.include(result, "because")
      assert.notInclude(result, "Denied by a hook")
    })
  )

  it.effect("an objection to what a call did reaches the model behind its result", () =>
    Effect.gen(function* () {
      const { asked } = yield* turn(({ event }) => (event === "PostToolUse" ? "Denied by a hook: lint" : undefined))
      assert.include(JSON.stringify(spoken(asked.prompts[1] ?? [])), "echo a\\n\\nDenied by a hook: lint")
    })
  )

  it.effect("the model goes on when a hook objects to the end, but not for ever", () =>
    Effect.gen(function* () {
      const { asked, names, outcome } = yield* turn(({ event }) => (event === "Stop" ? "not yet" : undefined))
      assert.strictEqual(outcome.stopReason, "end_turn")
      assert.strictEqual(names().filter((name) => name === "Stop").length, 3)
      assert.strictEqual(asked.prompts.length, 5)
      assert.include(JSON.stringify(spoken(asked.prompts[2] ?? [])), "not yet")
    })
  )

  it.effect("hear of the end of a session whose first prompt was cancelled while they heard of its start", () =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      const begun = yield* Deferred.make<void>()
      const { begin } = TurnHooks.make({
        run: (_session, { event }) =>
          Effect.suspend(() => {
            heard.push(event)
            const answer = Effect.succeed({ denied: undefined, problems: [] })
            return event === "SessionStart" ? Effect.andThen(Deferred.succeed(begun, undefined), Effect.never) : answer
          })
      })
      const lifetime = yield* Scope.make()
      const { session } = makeSession({ workspace: { ...makeSession().session.workspace, lifetime } })
      const prompt = yield* Effect.forkChild(begin(session, []))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(prompt)
      yield* Scope.close(lifetime, Exit.void)
      assert.deepStrictEqual(heard, ["SessionStart", "SessionEnd"])
    })
  )
})
