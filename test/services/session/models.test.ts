/** The model of a session: chosen, changed in mid-turn, gone. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { text } from "../../../src/domain/Content.ts"
import type { ModelInfo } from "../../../src/domain/Model.ts"
import { Models, ModelUnavailable } from "../../../src/services/Models.ts"
import type { ScriptPart } from "../../../src/services/models/script/Script.ts"
import * as ScriptedModel from "../../../src/services/models/script/ScriptedModel.ts"
import { agentLayer, connect, place } from "../../support/agents.ts"
import { makeEditor } from "../../support/editor.ts"
import { echo } from "../../support/fakeTools.ts"
import { info, steps } from "../../support/models.ts"

const one: ModelInfo = { ...info, id: "house/one", name: "One" }
const two: ModelInfo = {
  ...info,
  id: "house/two",
  name: "Two",
  efforts: [],
  price: { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 }
}
const other: ModelInfo = { ...info, id: "street/other", name: "Other", efforts: ["high", "max"] }

/** Models whose list a test changes, and which models were asked for. */
const changing = (answers: ReadonlyArray<ReadonlyArray<ScriptPart>> = []) => {
  const resolved: Array<string> = []
  const observers = new Set<Effect.Effect<void>>()
  let list: ReadonlyArray<ModelInfo> = [one, two, other]
  const layer = Layer.effect(
    Models,
    Effect.map(
      ScriptedModel.make({ steps: [...steps(...answers), { again: true, parts: [{ text: "More" }] }] }),
      (model) =>
        Models.of({
          list: Effect.sync(() => list),
          observe: (tell) => Effect.sync(() => void observers.add(tell)),
          resolve: (id, effort) =>
            Effect.suspend(() => {
              if (!list.some((known) => known.id === id) && !id.startsWith("open/")) {
                return Effect.fail(new ModelUnavailable({ model: id, message: "It is gone" }))
              }
              resolved.push(`${id} ${effort ?? ""}`.trim())
              return Effect.succeed(model)
            })
        })
    )
  )
  const become = (next: ReadonlyArray<ModelInfo>) =>
    Effect.suspend(() => {
      list = next
      return Effect.forEach([...observers], (tell) => tell, { discard: true })
    })
  /** As changed settings do, which nobody watches. */
  const quietly = (next: ReadonlyArray<ModelInfo>) =>
    Effect.sync(() => {
      list = next
    })
  return { layer, resolved, become, quietly }
}

describe("the model of a session", () => {
  it.effect("can be changed in mid-turn, which counts from the next request on, for its price too (CFG-06)", () => {
    const { layer, resolved } = changing([[{ tool: { name: "read", input: { value: "a" } } }], [{ text: "Done" }]])
    let during: Effect.Effect<unknown> = Effect.void
    const read = { ...echo, run: (...input: Parameters<typeof echo.run>) => Effect.andThen(during, echo.run(...input)) }
    return Effect.gen(function* () {
      const { events, newSession, prompt, setOption } = yield* connect()
      const { sessionId } = yield* newSession(place(), { effort: "high" })
      during = Effect.orDie(setOption(sessionId, "model", "house/two"))
      yield* prompt(sessionId, [text("Go")])
      assert.deepStrictEqual(resolved, ["house/one high", "house/two"])
      const costs = events.flatMap(([, event]) => (event._tag === "UsageUpdated" ? [event.cost] : []))
      assert.isUndefined(costs[0])
      assert.isDefined(costs.at(-1))
    }).pipe(Effect.provide(agentLayer({ models: layer, tools: { read } })))
  })

  it.effect("that changes is told to every view, with the efforts that go with it (CFG-04)", () => {
    const { layer } = changing()
    return Effect.gen(function* () {
      const [mine, theirs] = [makeEditor(), makeEditor()]
      const first = yield* connect(mine)
      const second = yield* connect(theirs)
      const { sessionId } = yield* first.newSession(place(), {})
      yield* first.prompt(sessionId, [text("Hi")])
      yield* second.loadSession(sessionId, place(), {})
      const options = yield* second.setOption(sessionId, "model", "street/other")
      assert.deepStrictEqual(
        options.map(({ currentValue, id }) => [id, currentValue]),
        [
          ["model", "street/other"],
          ["reasoning_effort", "high"],
          ["mode", "ask"]
        ]
      )
      for (const { events } of [mine, theirs]) {
        const told = events.flatMap(([, event]) => (event._tag === "ConfigChanged" ? [event.options] : []))
        assert.deepStrictEqual(told.at(-1), options)
      }
      const third = yield* connect()
      const loaded = yield* third.loadSession(sessionId, place(), {})
      assert.deepStrictEqual(loaded.options, options)
    }).pipe(Effect.provide(agentLayer({ models: layer })))
  })

  it.effect("is grouped by provider, that of the default first", () => {
    const { layer } = changing()
    return Effect.gen(function* () {
      const { newSession } = yield* connect()
      const { options } = yield* newSession(place(), { model: "street/other" })
      assert.deepStrictEqual(
        options[0]?.options.map(({ group, value }) => [group?.id, value]),
        [
          ["house", "house/one"],
          ["house", "house/two"],
          ["street", "street/other"]
        ]
      )
    }).pipe(Effect.provide(agentLayer({ models: layer })))
  })

  it.effect("that is gone gives way to the default at the next request, with a notice and to every view (F43)", () => {
    const { become, layer, resolved } = changing()
    return Effect.gen(function* () {
      const { events, newSession, prompt, told } = yield* connect(makeEditor({ notices: true }))
      const { sessionId } = yield* newSession(place(), { model: "street/other" })
      yield* prompt(sessionId, [text("Hi")])
      yield* become([one, two])
      yield* prompt(sessionId, [text("Hi")])
      yield* prompt(sessionId, [text("Hi")])
      assert.deepStrictEqual(resolved, ["street/other high", "house/one medium", "house/one medium"])
      const notices = told(sessionId).filter((line) => line.startsWith("notice"))
      assert.deepStrictEqual(notices, ["notice The model street/other is not offered any more"])
      const last = events.flatMap(([, event]) => (event._tag === "ConfigChanged" ? [event.options[0]] : [])).at(-1)
      assert.strictEqual(last?.currentValue, "house/one")
    }).pipe(Effect.provide(agentLayer({ models: layer })))
  })

  it.effect(
    "that went while the session was closed is another one in the answer to the load, which the prompt tells",
    () => {
      const { become, layer } = changing()
      return Effect.gen(function* () {
        const { closeSession, loadSession, newSession, prompt, told } = yield* connect()
        const { sessionId } = yield* newSession(place(), { model: "street/other" })
        yield* prompt(sessionId, [text("Hi")])
        yield* closeSession(sessionId)
        yield* become([one])
        const { options } = yield* loadSession(sessionId, place(), {})
        assert.strictEqual(options[0]?.currentValue, "house/one")
        assert.notMatch(told(sessionId).join(), /street\/other is not offered/)
        yield* prompt(sessionId, [text("Hi")])
        assert.match(told(sessionId).join(), /street\/other is not offered any more.*uses house\/one instead/)
      }).pipe(Effect.provide(agentLayer({ models: layer })))
    }
  )

  it.effect("that is in no list, and can be used all the same, stays", () => {
    const { become, layer, resolved } = changing()
    const unheard = { ...other, id: "open/unheard" }
    return Effect.gen(function* () {
      const { closeSession, loadSession, newSession, prompt, told } = yield* connect()
      yield* become([one, unheard])
      const { sessionId } = yield* newSession(place(), { model: "open/unheard" })
      yield* prompt(sessionId, [text("Hi")])
      yield* closeSession(sessionId)
      yield* become([one])
      const { options } = yield* loadSession(sessionId, place(), {})
      assert.strictEqual(options[0]?.currentValue, "open/unheard")
      yield* prompt(sessionId, [text("Hi")])
      assert.strictEqual(resolved.at(-1), "open/unheard")
      assert.notMatch(told(sessionId).join(), /not offered/)
    }).pipe(Effect.provide(agentLayer({ models: layer })))
  })

  it.effect("is told anew when an endpoint said what it offers", () => {
    const { become, layer } = changing()
    return Effect.gen(function* () {
      const { events, newSession } = yield* connect()
      yield* newSession(place(), {})
      const more = { ...one, id: "house/three" }
      yield* become([one, two, more])
      const [told] = events.flatMap(([, event]) => (event._tag === "ConfigChanged" ? [event.options[0]] : []))
      assert.isTrue(told?.options.some(({ value }) => value === "house/three"))
    }).pipe(Effect.provide(agentLayer({ models: layer })))
  })

  it.effect("is told anew with the next request when the settings offer others, and once", () => {
    const { layer, quietly } = changing()
    return Effect.gen(function* () {
      const { events, newSession, prompt } = yield* connect()
      const { sessionId } = yield* newSession(place(), {})
      const told = () =>
        events.flatMap(([, event]) =>
          event._tag === "ConfigChanged" ? [event.options[0]?.options.map(({ value }) => value)] : []
        )
      yield* prompt(sessionId, [text("Hi")])
      assert.deepStrictEqual(told(), [])
      yield* quietly([one, two])
      yield* prompt(sessionId, [text("And now?")])
      yield* prompt(sessionId, [text("And then?")])
      assert.deepStrictEqual(told(), [["house/one", "house/two"]])
    }).pipe(Effect.provide(agentLayer({ models: layer })))
  })
})
