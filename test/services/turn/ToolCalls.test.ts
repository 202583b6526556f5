import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type { Event } from "../../../src/domain/Event.ts"
import type { Answer, Question } from "../../../src/domain/permission/Permission.ts"
import { PermissionBroker } from "../../../src/services/PermissionBroker.ts"
import type { ScriptPart } from "../../../src/services/models/script/Script.ts"
import { Settings } from "../../../src/services/Settings.ts"
import { completed, echo, type FakeTool, fakeTools } from "../../support/fakeTools.ts"
import { nothingAsked, scripted, spoken, steps } from "../../support/models.ts"
import { platform, runTurn, unremembered } from "../../support/turns.ts"
import { makeSession, type SessionOptions } from "../../support/turnSession.ts"

type Fakes = Parameters<typeof fakeTools>[0]

const call = (name: string, input: unknown = {}, id?: string): ScriptPart => ({
  tool: { name, input: input as string, ...(id === undefined ? {} : { id }) }
})

/** One step that makes these calls, and a second one that sees what came of them. */
const run = Effect.fnUntraced(function* (
  calls: ReadonlyArray<ScriptPart>,
  tools: Fakes,
  options: SessionOptions = {},
  broker?: Layer.Layer<PermissionBroker>
) {
  const asked = nothingAsked()
  const recorded = makeSession(options)
  const outcome = yield* runTurn(recorded.session, "go", {
    models: scripted(steps(calls, [{ text: "Done." }]), asked),
    tools: fakeTools(tools),
    ...(broker === undefined ? {} : { broker })
  })
  const patches = recorded.events.filter((event) => event._tag === "ToolCallUpdated")
  return { ...recorded, outcome, patches, seen: spoken(asked.prompts[1] ?? []).slice(1) }
})

const started = (events: ReadonlyArray<Event>) => events.filter((event) => event._tag === "ToolCallStarted")

describe("ToolCalls", () => {
  it.effect("tells a call from its announcement to its outcome", () =>
    Effect.gen(function* () {
      const { events, patches } = yield* run([call("read", { value: "a" })], { read: echo })
      const id = started(events)[0]?.call.id
      assert.deepInclude(started(events)[0]?.call, {
        name: "read",
        title: "Use read",
        kind: "other",
        status: "pending"
      })
      assert.deepStrictEqual(
        patches.map(({ patch }) => patch),
        [
          { rawInput: { value: "a" } },
          { title: "read a", kind: "read", locations: [{ path: "/work/a" }] },
          { status: "in_progress" },
          { status: "completed", content: [{ type: "content", content: { type: "text", text: "echo a" } }] }
        ]
      )
      assert.isTrue(patches.every((patch) => patch.id === id))
    })
  )

  it.effect("tells a preview before it runs, and progress and plans while it runs", () =>
    Effect.gen(function* () {
      const preview = [{ type: "diff", path: "/work/a", oldText: "1", newText: "2" }] as const
      const write: FakeTool = {
        preview,
        run: (_value, context) =>
          context
            .progress({ rawOutput: "half" })
            .pipe(
              Effect.andThen(context.plan([{ content: "x", priority: "low", status: "pending" }])),
              Effect.as({ ...completed("ok"), locations: [{ path: "/work/a", line: 3 }], rawOutput: { lines: 1 } })
            )
      }
      const { events, patches } = yield* run([call("write", { value: "a" })], { write })
      assert.deepStrictEqual(patches[2]?.patch.content, preview)
      assert.deepInclude(patches.at(-1)?.patch, { locations: [{ path: "/work/a", line: 3 }], rawOutput: { lines: 1 } })
      const order = events.map(({ _tag }) => _tag)
      const progress = order.indexOf("ToolCallProgress")
      assert.isBelow(order.indexOf("ToolCallUpdated"), progress)
      assert.strictEqual(order[progress + 1], "PlanUpdated")
      assert.strictEqual(order[progress + 2], "ToolCallUpdated")
    })
  )

  it.effect("runs neighbours that only read at once, and their results keep the order of the calls", () =>
    Effect.gen(function* () {
      const begun: Array<string> = []
      const all = yield* Deferred.make<void>()
      const last = yield* Deferred.make<void>()
      // Each call waits until all three have begun, and the first one for the end of the last.
      const read: FakeTool = {
        run: (value) =>
          Effect.gen(function* () {
            begun.push(value)
            if (begun.length === 3) yield* Deferred.succeed(all, undefined)
            yield* Deferred.await(all)
            if (value === "a") yield* Deferred.await(last)
            if (value === "c") yield* Deferred.succeed(last, undefined)
            return completed(value)
          })
      }
      const calls = ["a", "b", "c"].map((value) => call("read", { value }))
      const { seen } = yield* run(calls, { read })
      assert.deepStrictEqual(seen.slice(3), ["result read a", "result read b", "result read c"])
    })
  )

  it.effect("runs no more than eight at once", () =>
    Effect.gen(function* () {
      let present = 0
      let most = 0
      const read: FakeTool = {
        run: (value) =>
          Effect.gen(function* () {
            present += 1
            most = Math.max(most, present)
            yield* Effect.yieldNow
            present -= 1
            return completed(value)
          })
      }
      yield* run(
        Array.from({ length: 20 }, () => call("read")),
        { read }
      )
      assert.strictEqual(most, 8)
    })
  )

  it.effect("runs the others one after the other, in the order of the model", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const tool = (name: string, concurrency: "shared" | "exclusive"): FakeTool => ({
        concurrency,
        run: (value) =>
          Effect.gen(function* () {
            log.push(`${name} ${value} begins`)
            yield* Effect.yieldNow
            log.push(`${name} ${value} ends`)
            return completed(value)
          })
      })
      yield* run(
        [
          call("read", { value: "1" }),
          call("read", { value: "2" }),
          call("write", { value: "3" }),
          call("write", { value: "4" }),
          call("read", { value: "5" })
        ],
        { read: tool("read", "shared"), write: tool("write", "exclusive") }
      )
      assert.deepStrictEqual(log, [
        "read 1 begins",
        "read 2 begins",
        "read 1 ends",
        "read 2 ends",
        "write 3 begins",
        "write 3 ends",
        "write 4 begins",
        "write 4 ends",
        "read 5 begins",
        "read 5 ends"
      ])
    })
  )

  it.effect("makes ids of its own, whatever ids the provider uses twice", () =>
    Effect.gen(function* () {
      const { events, seen, state } = yield* run(
        [call("read", { value: "a" }, "0"), call("read", { value: "b" }, "0")],
        { read: echo }
      )
      assert.lengthOf(new Set(started(events).map((event) => event.call.id)), 2)
      assert.deepStrictEqual(seen.slice(2), ["result read echo a", "result read echo b"])
      assert.strictEqual(state().openCalls.size, 0)
    })
  )

  it.effect("answers a call of an unknown tool with the names of those that are there", () =>
    Effect.gen(function* () {
      const { outcome, patches, seen } = yield* run([call("rm")], { read: echo, write: echo })
      assert.strictEqual(outcome.stopReason, "end_turn")
      assert.strictEqual(patches.at(-1)?.patch.status, "failed")
      assert.strictEqual(seen.at(-1), 'failed rm There is no tool named "rm". The tools are: read, write.')
    })
  )

  it.effect("answers input that does not fit, or is no JSON at all, with what is wrong", () =>
    Effect.gen(function* () {
      const { patches, seen } = yield* run([call("read", { value: 1 }), call("read", '{"value": "a')], { read: echo })
      assert.deepStrictEqual(seen.slice(2), [
        'failed read "value" of read has to be a text',
        'failed read "value" of read has to be a text'
      ])
      assert.deepInclude(patches[1]?.patch, { rawInput: '{"value": "a' })
      assert.isFalse(patches.some(({ patch }) => patch.status === "in_progress"))
    })
  )

  it.effect("survives a tool that dies, and tells its reason to the log only", () =>
    Effect.gen(function* () {
      const read: FakeTool = { run: () => Effect.die(new Error("secret detail")) }
      const { outcome, patches, seen } = yield* run([call("read")], { read })
      assert.strictEqual(outcome.stopReason, "end_turn")
      assert.strictEqual(patches.at(-1)?.patch.status, "failed")
      assert.strictEqual(seen.at(-1), 'failed read The tool "read" failed unexpectedly; the log has the details.')
      assert.notInclude(JSON.stringify(patches), "secret detail")
    })
  )

  it.effect("fails a call that was denied, with the reason, and never begins it", () =>
    Effect.gen(function* () {
      const write: FakeTool = {
        access: { _tag: "Edit", paths: ["/work/a"], outside: [] },
        run: () => Effect.die("it ran")
      }
      const { patches, seen } = yield* run([call("write")], { write }, {}, PermissionBroker.layerDeny)
      assert.isFalse(patches.some(({ patch }) => patch.status === "in_progress"))
      assert.strictEqual(patches.at(-1)?.patch.status, "failed")
      assert.match(seen.at(-1) ?? "", /^failed write Denied/)
    })
  )
})

describe("a call that needs an answer", () => {
  const broker = PermissionBroker.layer.pipe(Layer.provide([Settings.layerValues(), unremembered, platform]))
  const write: FakeTool = {
    access: { _tag: "Edit", paths: ["/work/a"], outside: [] },
    preview: [{ type: "diff", path: "/work/a", oldText: null, newText: "x" }],
    run: (value) => Effect.succeed(completed(`wrote ${value}`))
  }

  const answering = (pick: (question: Question) => Answer) => {
    const questions: Array<Question> = []
    const options: SessionOptions = {
      mode: Effect.succeed("ask"),
      ask: (question) =>
        Effect.sync(() => {
          questions.push(question)
          return pick(question)
        })
    }
    return { questions, options }
  }

  const option =
    (kind: string) =>
    (question: Question): Answer => ({
      _tag: "Selected",
      optionId: question.options.find((known) => known.kind === kind)?.id ?? ""
    })

  it.effect("is pending until it is allowed, and the question shows what it would do", () =>
    Effect.gen(function* () {
      const { options, questions } = answering(option("allow_once"))
      const { events, patches } = yield* run([call("write", { value: "a" })], { write }, options, broker)
      assert.strictEqual(questions[0]?.call.id, started(events)[0]?.call.id)
      assert.deepInclude(questions[0]?.call.patch ?? {}, {
        title: "write a",
        content: write.preview ?? [],
        rawInput: { value: "a" },
        locations: [{ path: "/work/a" }]
      })
      assert.deepStrictEqual(
        patches.flatMap(({ patch }) => patch.status ?? []),
        ["in_progress", "completed"]
      )
    })
  )

  it.effect("fails without running when the answer is no, or no answer", () =>
    Effect.gen(function* () {
      const answers: ReadonlyArray<(question: Question) => Answer> = [
        option("reject_once"),
        () => ({ _tag: "Cancelled" }),
        () => ({ _tag: "Unanswered", reason: "gone" }),
        () => ({ _tag: "Selected", optionId: "made up" })
      ]
      for (const answer of answers) {
        const { options } = answering(answer)
        const { outcome, patches, seen } = yield* run([call("write")], { write }, options, broker)
        assert.strictEqual(outcome.stopReason, "end_turn")
        assert.deepStrictEqual(
          patches.flatMap(({ patch }) => patch.status ?? []),
          ["failed"]
        )
        assert.match(seen.at(-1) ?? "", /^failed write /)
      }
    })
  )

  it.effect("is asked once when the answer is always", () =>
    Effect.gen(function* () {
      const { options, questions } = answering(option("allow_always"))
      const { state } = yield* run(
        [call("write"), call("write")],
        { write: { ...write, concurrency: "exclusive" } },
        options,
        broker
      )
      assert.lengthOf(questions, 1)
      assert.isAtLeast(state().grants.length, 1)
    })
  )

  it.effect("is judged by the mode of that moment", () =>
    Effect.gen(function* () {
      const { options, questions } = answering(option("allow_once"))
      let mode: "ask" | "accept-edits" = "ask"
      const watched: SessionOptions = {
        ...options,
        mode: Effect.sync(() => mode),
        ask: (question) =>
          Effect.suspend(() => {
            mode = "accept-edits"
            return options.ask?.(question) ?? Effect.never
          })
      }
      yield* run([call("write"), call("write")], { write: { ...write, concurrency: "exclusive" } }, watched, broker)
      assert.lengthOf(questions, 1)
    })
  )

  it.effect("waits for several answers at once, which come in any order", () =>
    Effect.gen(function* () {
      const open: Array<Deferred.Deferred<Answer>> = []
      const both = yield* Deferred.make<void>()
      const options: SessionOptions = {
        mode: Effect.succeed("ask"),
        ask: (question) =>
          Effect.gen(function* () {
            const answer = yield* Deferred.make<Answer>()
            open.push(answer)
            if (open.length === 2) yield* Deferred.succeed(both, undefined)
            const given = yield* Deferred.await(answer)
            return given._tag === "Selected" ? option(given.optionId)(question) : given
          })
      }
      const running = yield* Effect.forkChild(
        run([call("write", { value: "a" }), call("write", { value: "b" })], { write }, options, broker)
      )
      yield* Deferred.await(both)
      const answer = (index: number, optionId: string) => {
        const deferred = open[index]
        return deferred === undefined
          ? Effect.die("not asked")
          : Deferred.succeed(deferred, { _tag: "Selected", optionId })
      }
      yield* answer(1, "allow_once")
      yield* answer(0, "reject_once")
      const { seen } = yield* Fiber.join(running)
      assert.match(seen[2] ?? "", /^failed write /)
      assert.strictEqual(seen[3], "result write wrote b")
    })
  )
})
