import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { put } from "../support/commands.ts"
import { configFor, conversationOf } from "../support/LocalProvider.ts"
import { folder } from "../support/Program.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import { load, newSession, open, turn } from "../support/Probe.ts"
import { mark, textOf, updatesOf } from "../support/Updates.ts"

const small = ['{ id = "qwen", context_window = 8000 }']
const usage = (input: number) => ({ input, cached: 0, output: 10, reasoning: 0 })
const tooLong = { status: 400, message: "This model's maximum context length is 8000 tokens" }

describe("1n. and 1o. skills, commands and long conversations", () => {
  it.live("F63 the model is told of the skills of the project and of the person", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const server = yield* ProviderServer.start
      server.answer({ pieces: [{ text: "ok" }] })
      const agent = yield* open({ config: configFor(server) })
      put(join(place, ".agents/skills/x/SKILL.md"), "---\nname: x\ndescription: Does x\n---\nThe body of x")
      put(join(agent.home, "skills/mine/SKILL.md"), "---\nname: mine\ndescription: Does mine\n---\nThe body of mine")
      const session = yield* newSession(agent, place)
      yield* turn(agent, session, "what skills?")
      const [system = ""] = conversationOf(server.seen()[0])
      for (const skill of ["- x: Does x", "- mine: Does mine"]) assert.include(system, skill)
      assert.notInclude(system, "The body of")
    })
  )

  it.live("F115 a conversation is summed up before it is too long, and when the provider finds it so", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const server = yield* ProviderServer.start
      server.answer(
        { pieces: [{ text: "blue ".repeat(1_200) }], usage: usage(7_000) },
        { pieces: [{ text: "FIRST SUMMARY" }], usage: usage(100) },
        { pieces: [{ text: "green ".repeat(1_200) }], usage: usage(3_000) },
        tooLong,
        { pieces: [{ text: "SECOND SUMMARY" }], usage: usage(100) },
        { pieces: [{ text: "red" }], usage: usage(900) }
      )
      const agent = yield* open({ config: configFor(server, { models: small }) })
      const session = yield* newSession(agent, place)
      for (const words of ["one", "two", "three"]) assert.strictEqual(yield* turn(agent, session, words), "end_turn")
      const asked = server.seen().map((request) => conversationOf(request).slice(1).join("\n"))
      assert.lengthOf(asked, 6)
      assert.include(asked[2], "FIRST SUMMARY")
      assert.notInclude(asked[2], "blue blue")
      assert.include(asked[5], "SECOND SUMMARY")
      assert.notInclude(asked[5], "green green")
      for (const [at, words] of [
        [2, "two"],
        [5, "three"]
      ] as const) {
        assert.strictEqual(asked[at]?.split(`"${words}"`).length, 2, "the prompt is there once")
      }
      const from = mark(agent)
      yield* load(agent, session, place)
      const told = textOf(updatesOf(agent, session, from))
      for (const words of ["blue blue", "green green", "red"]) assert.include(told, words)
    })
  )

  it.live("F117 commands are told and act; what is none reaches the model as it is", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const server = yield* ProviderServer.start
      const answers = ["one", "two", "three", "four"]
      server.answer(...answers.map((text) => ({ pieces: [{ text }] })))
      const agent = yield* open({ config: configFor(server) })
      put(join(place, ".supercharge/commands/greet.md"), "Greet $1 and $2.")
      const session = yield* newSession(agent, place)
      assert.strictEqual(yield* turn(agent, session, "/status"), "end_turn")
      assert.lengthOf(server.seen(), 0)
      for (const words of ["/nope x", "/usr/bin is a path", "/greet Ann 'Bob B'"]) yield* turn(agent, session, words)
      yield* turn(agent, session, [
        { type: "text", text: "look" },
        { type: "text", text: "/clear" }
      ])
      const asked = server.seen().map((request) => conversationOf(request).at(-1) ?? "")
      assert.lengthOf(asked, 4)
      for (const [at, words] of ["/nope x", "/usr/bin is a path", "Greet Ann and Bob B.", "/clear"].entries()) {
        assert.include(asked[at], words)
      }
    })
  )
})
