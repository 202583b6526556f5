import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { Event } from "../../../src/domain/Event.ts"
import { MessageId, SessionId, ToolCallId } from "../../../src/domain/Ids.ts"
import { isDelta } from "../../../src/domain/session/Delta.ts"
import { positionOf } from "../../../src/domain/session/Position.ts"
import type { Entry } from "../../../src/domain/session/Session.ts"
import { closing, empty } from "../../../src/domain/session/SessionState.ts"
import * as Journal from "../../../src/services/session/Journal.ts"
import { makeEditor } from "../../support/editor.ts"

const id = SessionId.make("s")
const delta = (text: string): Event => ({ _tag: "TextDelta", messageId: MessageId.make("m"), text })

const commands: Event = { _tag: "CommandsChanged", commands: [] }

const make = Effect.gen(function* () {
  const entries: Array<Entry> = []
  const log = {
    append: (entry: Entry) => Effect.sync(() => positionOf({ seq: entries.push(entry) - 1, entry })),
    position: () => {
      const entry = entries.at(-1)
      return entry === undefined ? undefined : positionOf({ seq: entries.length - 1, entry })
    },
    flush: Effect.void,
    isStored: () => true,
    kept: Effect.void
  }
  return { entries, ...(yield* Journal.make(id, log, empty)) }
})

const view = (fake = makeEditor()) => ({ ...fake, view: { editor: fake.editor, ceiling: "ask" } as const })

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

describe("Journal", () => {
  it.effect("logs what is kept and tells everything", () =>
    Effect.gen(function* () {
      const { attach, emit, entries } = yield* make
      const { told, view: one } = view()
      yield* attach(one)
      yield* emit(delta("a"))
      yield* emit({ _tag: "Notice", severity: "info", title: "Look" })
      assert.deepStrictEqual(told(id), ["text a", "notice Look"])
      assert.deepStrictEqual<ReadonlyArray<unknown>>(entries, [delta("a")])
    })
  )

  it.effect(
    "tells nothing between the history of a new view and what comes then, and never holds up the others for it",
    () =>
      Effect.gen(function* () {
        const { attachAfter, emit, entries } = yield* make
        const { editor, told, view: one } = view()
        yield* emit(delta("one "))
        const telling = yield* Deferred.make<void>()
        const read = yield* Deferred.make<void>()
        const passes: Array<unknown> = []
        const history: Journal.History<never> = (after, upTo) =>
          Effect.gen(function* () {
            passes.push([after?.seq, upTo.seq])
            const known = entries.slice(after === undefined ? 0 : after.seq + 1, upTo.seq + 1)
            for (const entry of known) if (isDelta(entry)) yield* editor.emit(id, entry)
            yield* Deferred.succeed(telling, undefined)
            yield* Deferred.await(read)
          })
        const attaching = yield* fork(attachAfter(one, undefined, history, editor.emit(id, commands)))
        yield* Deferred.await(telling)
        yield* emit(delta("two "))
        yield* Deferred.succeed(read, undefined)
        yield* Fiber.join(attaching)
        yield* emit(delta("three"))
        assert.deepStrictEqual(told(id), ["text one two ", "CommandsChanged", "text three"])
        assert.deepStrictEqual(passes, [
          [undefined, 0],
          [0, 1]
        ])
      })
  )

  it.effect("tells a view that comes back what it missed, and everything to one whose position the log never had", () =>
    Effect.gen(function* () {
      const { attachAfter, emit } = yield* make
      yield* emit(delta("one"))
      yield* emit(delta("two"))
      const passes: Array<unknown> = []
      const history: Journal.History<never> = (after, upTo) => Effect.sync(() => passes.push([after?.seq, upTo.seq]))
      for (const after of [
        { seq: 0, length: 3 },
        { seq: 1, length: 3 },
        { seq: 1, length: 4 },
        { seq: 9, length: 0 }
      ]) {
        yield* attachAfter(view().view, after, history, Effect.void)
      }
      assert.deepStrictEqual(passes, [
        [0, 1],
        [undefined, 1],
        [undefined, 1]
      ])
    })
  )

  it.effect("tells to the end what it has logged, whatever interrupts", () =>
    Effect.gen(function* () {
      const { attach, emit, entries } = yield* make
      const reading = yield* Deferred.make<void>()
      const { editor, ...slow } = makeEditor()
      const one = view({
        ...slow,
        editor: { ...editor, emit: (of, event) => Effect.andThen(Deferred.await(reading), editor.emit(of, event)) }
      })
      const two = view()
      yield* attach(one.view)
      yield* attach(two.view)
      const first = yield* fork(emit(delta("a")))
      const second = yield* fork(emit(delta("b")))
      const notice = yield* fork(emit({ _tag: "Notice", severity: "info", title: "Look" }))
      yield* Fiber.interrupt(second)
      yield* Fiber.interrupt(notice)
      const stopping = yield* fork(Fiber.interrupt(first))
      yield* Deferred.succeed(reading, undefined)
      yield* Fiber.join(stopping)
      assert.deepStrictEqual([one.told(id), two.told(id)], [["text a"], ["text a"]])
      assert.lengthOf(entries, 1)
    })
  )

  it.effect("forgets a view with its scope, and only that one", () =>
    Effect.gen(function* () {
      const { attach, emit } = yield* make
      const fake = makeEditor()
      const old = yield* Scope.make()
      yield* Scope.provide(attach({ editor: fake.editor, ceiling: "ask" }), old)
      yield* attach({ editor: fake.editor, ceiling: "ask" })
      yield* emit(delta("a"))
      yield* Scope.close(old, Exit.void)
      yield* emit(delta("b"))
      assert.deepStrictEqual(fake.told(id), ["text ab"])
      const own = yield* Scope.make()
      yield* Scope.provide(attach({ editor: fake.editor, ceiling: "ask" }), own)
      yield* Scope.close(own, Exit.void)
      yield* emit(delta("c"))
      assert.deepStrictEqual(fake.told(id), ["text ab"])
    })
  )

  it.effect("knows what a running call has shown, so that one that is stopped ends with it", () =>
    Effect.gen(function* () {
      const { emit, entries, state } = yield* make
      const call = ToolCallId.make("c")
      yield* emit({
        _tag: "ToolCallStarted",
        call: { id: call, name: "bash", title: "Run", kind: "execute", status: "pending", locations: [], content: [] }
      })
      const content = [{ type: "content", content: { type: "text", text: "half" } }] as const
      yield* emit({ _tag: "ToolCallProgress", id: call, patch: { content, rawOutput: 1 } })
      assert.lengthOf(entries, 1)
      assert.deepStrictEqual(closing(state(), "Stopped"), [
        {
          _tag: "ToolCallUpdated",
          id: call,
          patch: {
            status: "failed",
            content: [...content, { type: "content", content: { type: "text", text: "Stopped" } }],
            rawOutput: 1
          }
        }
      ])
    })
  )
})
