/** The question whether a folder is trusted: put once, by whoever is there. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { text } from "../../../src/domain/Content.ts"
import { Projects } from "../../../src/services/Projects.ts"
import { agentLayer, connect, place } from "../../support/agents.ts"

const script = [{ again: true, parts: [{ text: "Fine." }] }]

/** A project that wants trust until it was decided. */
const project = () => {
  const decisions: Array<boolean> = []
  const projects = Layer.succeed(Projects, {
    of: (root) =>
      Effect.sync(() => ({
        root,
        trust: decisions.length === 0 ? "undecided" : decisions.at(-1) === true ? "trusted" : "declined",
        permission: { allow: [], ask: [], deny: [] },
        hooks: [],
        mcpServers: [],
        withheld: ["the hook PreToolUse: ./check.sh"],
        warnings: []
      })),
    decide: (_root, trusted) => Effect.sync(() => void decisions.push(trusted))
  })
  return { decisions, layer: agentLayer({ script, projects }) }
}

describe("trust", () => {
  it.effect.each([
    ["allow_always", [true], "completed"],
    ["reject_once", [], "failed"],
    ["reject_always", [false], "failed"]
  ] as const)("%s keeps %s", ([kind, kept, status]) =>
    Effect.gen(function* () {
      const { decisions, layer } = project()
      yield* Effect.gen(function* () {
        const { events, open, questions, until } = yield* connect()
        const { say } = yield* open
        const first = yield* Effect.forkChild(say("one"))
        yield* until(() => questions.length === 1)
        const [question] = questions
        assert.include(JSON.stringify(question?.question.call.patch), "the hook PreToolUse: ./check.sh")
        yield* question?.choose(kind) ?? Effect.void
        assert.strictEqual((yield* Fiber.join(first)).stopReason, "end_turn")
        assert.deepStrictEqual(decisions, [...kept])
        assert.isTrue(
          events.some(([, event]) => event._tag === "ToolCallUpdated" && event.patch.status === status),
          "the call that asked has its final status"
        )
        yield* say("two")
        assert.strictEqual(questions.length, 1)
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("where nobody is there to ask, it is told what is not used and how to trust", () =>
    Effect.gen(function* () {
      const { decisions, layer } = project()
      yield* Effect.gen(function* () {
        const { events, newSession, prompt, questions } = yield* connect()
        const { sessionId } = yield* newSession(place(), { harness: "super-pi-librarian" })
        yield* prompt(sessionId, [text("go")])
        const thoughts = JSON.stringify(events)
        assert.include(thoughts, "is not trusted")
        assert.include(thoughts, "super-pi trust /")
        assert.deepStrictEqual([questions.length, decisions.length], [0, 0])
      }).pipe(Effect.provide(layer))
    })
  )
})
