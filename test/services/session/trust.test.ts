/** The question whether a folder is trusted: put once about the same content, by whoever is there. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { text } from "../../../src/domain/Content.ts"
import { SessionId, ToolCallId } from "../../../src/domain/Ids.ts"
import { Projects } from "../../../src/services/Projects.ts"
import * as Trust from "../../../src/services/session/Trust.ts"
import { agentLayer, connect, place } from "../../support/agents.ts"

const script = [{ again: true, parts: [{ text: "Fine." }] }]

/** A project that wants trust until it was decided; `change` gives it another hook. */
const project = () => {
  const decisions: Array<boolean> = []
  let hook = "./check.sh"
  const projects = Layer.succeed(Projects, {
    of: (root) =>
      Effect.sync(() => ({
        root,
        trust: decisions.length === 0 ? "undecided" : decisions.at(-1) === true ? "trusted" : "declined",
        permission: { allow: [], ask: [], deny: [] },
        hooks: [],
        choices: {},
        mcpServers: [],
        withheld: [`the hook PreToolUse: ${hook}`],
        content: { ".supercharge/hooks/check.json": [hook] },
        warnings: []
      })),
    decide: (_root, trusted) => Effect.sync(() => void decisions.push(trusted))
  })
  const change = (to: string) => {
    hook = to
  }
  return { change, decisions, layer: agentLayer({ script, projects }) }
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

  it.effect("what changes in mid-session is asked about at the next prompt, once, and in its new words", () =>
    Effect.gen(function* () {
      const { change, decisions, layer } = project()
      yield* Effect.gen(function* () {
        const { open, questions, until } = yield* connect()
        const { say } = yield* open
        const answered = Effect.fnUntraced(function* (count: number, kind: "reject_once" | "allow_always") {
          const prompt = yield* Effect.forkChild(say("go"))
          yield* until(() => questions.length === count)
          const question = questions.at(-1)
          yield* question?.choose(kind) ?? Effect.void
          yield* Fiber.join(prompt)
          return JSON.stringify(question?.question.call.patch)
        })
        assert.include(yield* answered(1, "reject_once"), "./check.sh")
        yield* say("not asked")
        change("./other.sh")
        assert.include(yield* answered(2, "reject_once"), "./other.sh")
        yield* say("not asked")
        change("./third.sh")
        assert.include(yield* answered(3, "allow_always"), "./third.sh")
        yield* say("not asked")
        assert.deepStrictEqual([questions.length, decisions], [3, [true]])
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("a yes that came from elsewhere is told once, so that what it brings is fetched", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { settle } = Trust.make({
        sessionId: SessionId.make("s"),
        cwd: "/w",
        projects,
        ask: undefined,
        callId: Effect.succeed(ToolCallId.make("c"))
      })
      const settled = settle(() => Effect.void)
      assert.isFalse(yield* settled)
      yield* projects.decide({ root: "/w" }, true)
      assert.isTrue(yield* settled)
      assert.isFalse(yield* settled)
    }).pipe(Effect.provide(Projects.layerTest({ trust: "undecided", withheld: ["the hook Stop: ./x"] })))
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
