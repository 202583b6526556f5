/** One question and several editors. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { SessionId, ToolCallId } from "../../../src/domain/Ids.ts"
import type { Question } from "../../../src/domain/permission/Permission.ts"
import * as Questions from "../../../src/services/session/Questions.ts"
import { makeEditor } from "../../support/editor.ts"

const question: Question = {
  sessionId: SessionId.make("s"),
  call: { id: ToolCallId.make("t"), patch: { title: "Run ls" } },
  options: [
    { id: "yes", name: "Allow", kind: "allow_once" },
    { id: "no", name: "Reject", kind: "reject_once" }
  ]
}

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const attached = Effect.fnUntraced(function* (questions: Questions.Questions) {
  const fake = makeEditor()
  const scope = yield* Scope.make()
  yield* Scope.provide(questions.attach({ editor: fake.editor, ceiling: "ask" }), scope)
  return { ...fake, leave: Scope.close(scope, Exit.void), asked: fake.until(() => fake.questions.length === 1) }
})

describe("Questions", () => {
  it.effect("are put to every view; the first answer wins, and the others are told", () =>
    Effect.gen(function* () {
      const questions = Questions.make()
      const one = yield* attached(questions)
      const two = yield* attached(questions)
      const asking = yield* fork(questions.ask(question))
      yield* one.asked
      yield* two.asked
      yield* two.questions[0]!.choose("allow_once")
      assert.deepStrictEqual(yield* Fiber.join(asking), { _tag: "Selected", optionId: "yes" })
      assert.deepStrictEqual([one.questions[0]?.withdrawn, two.questions[0]?.withdrawn], [true, false])
    })
  )

  it.effect("count the first of two answers that come at once", () =>
    Effect.gen(function* () {
      const questions = Questions.make()
      const one = yield* attached(questions)
      const two = yield* attached(questions)
      const asking = yield* fork(questions.ask(question))
      yield* one.asked
      yield* two.asked
      yield* Effect.all([one.questions[0]!.choose("reject_once"), two.questions[0]!.choose("allow_once")])
      assert.deepStrictEqual(yield* Fiber.join(asking), { _tag: "Selected", optionId: "no" })
    })
  )

  it.effect("are put to whoever comes later, and wait while nobody is there", () =>
    Effect.gen(function* () {
      const questions = Questions.make()
      const asking = yield* fork(questions.ask(question))
      const one = yield* attached(questions)
      yield* one.asked
      yield* one.leave
      assert.isTrue(one.questions[0]?.withdrawn)
      assert.isUndefined(asking.pollUnsafe())
      const two = yield* attached(questions)
      yield* two.asked
      yield* two.questions[0]!.choose("allow_once")
      assert.deepStrictEqual(yield* Fiber.join(asking), { _tag: "Selected", optionId: "yes" })
      const three = yield* attached(questions)
      assert.deepStrictEqual(three.questions, [])
    })
  )

  it.effect("wait for somebody else when an editor went away", () =>
    Effect.gen(function* () {
      const questions = Questions.make()
      const one = yield* attached(questions)
      const asking = yield* fork(questions.ask(question))
      yield* one.asked
      yield* one.questions[0]!.answer({ _tag: "Gone" })
      yield* Effect.yieldNow
      assert.isUndefined(asking.pollUnsafe())
    })
  )

  it.effect("are unanswered only when none of those who are there can ask", () =>
    Effect.gen(function* () {
      const questions = Questions.make()
      const one = yield* attached(questions)
      const two = yield* attached(questions)
      const asking = yield* fork(questions.ask(question))
      yield* one.asked
      yield* two.asked
      yield* one.questions[0]!.answer({ _tag: "Unanswered", reason: "It cannot ask" })
      yield* Effect.yieldNow
      assert.isUndefined(asking.pollUnsafe())
      yield* two.leave
      assert.deepStrictEqual(yield* Fiber.join(asking), { _tag: "Unanswered", reason: "It cannot ask" })
    })
  )

  it.effect("are withdrawn from everyone with the turn", () =>
    Effect.gen(function* () {
      const questions = Questions.make()
      const one = yield* attached(questions)
      const two = yield* attached(questions)
      const asking = yield* fork(questions.ask(question))
      yield* one.asked
      yield* two.asked
      yield* Fiber.interrupt(asking)
      assert.deepStrictEqual([one.questions[0]?.withdrawn, two.questions[0]?.withdrawn], [true, true])
    })
  )
})
