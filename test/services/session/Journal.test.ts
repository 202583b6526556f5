import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { Event } from "../../../src/domain/Event.ts"
import { MessageId, SessionId, ToolCallId } from "../../../src/domain/Ids.ts"
import type { Entry } from "../../../src/domain/session/Session.ts"
import { closing, empty } from "../../../src/domain/session/SessionState.ts"
import * as Journal from "../../../src/services/session/Journal.ts"
import { makeEditor } from "../../support/editor.ts"

const id = SessionId.make("s")
const delta = (text: string): Event => ({ _tag: "TextDelta", messageId: MessageId.make("m"), text })

const make = Effect.gen(function* () {
  const entries: Array<Entry> = []
  const log = {
    append: (entry: Entry) => Effect.sync(() => void entries.push(entry)),
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
      yield* attach(one, Effect.void)
      yield* emit(delta("a"))
      yield* emit({ _tag: "Notice", severity: "info", title: "Look" })
      assert.deepStrictEqual(told(id), ["text a", "notice Look"])
      assert.deepStrictEqual<ReadonlyArray<unknown>>(entries, [delta("a")])
    })
  )

  it.effect("tells nothing between the history of a new view and what comes then", () =>
    Effect.gen(function* () {
      const { attach, emit } = yield* make
      const { editor, told, view: one } = view()
      const telling = yield* Deferred.make<void>()
      const attaching = yield* fork(
        attach(one, Effect.andThen(editor.emit(id, delta("then ")), Deferred.await(telling)))
      )
      const emitting = yield* fork(emit(delta("now")))
      yield* Deferred.succeed(telling, undefined)
      yield* Fiber.joinAll([attaching, emitting])
      assert.deepStrictEqual(told(id), ["text then now"])
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
      yield* attach(one.view, Effect.void)
      yield* attach(two.view, Effect.void)
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
      yield* Scope.provide(attach({ editor: fake.editor, ceiling: "ask" }, Effect.void), old)
      yield* attach({ editor: fake.editor, ceiling: "ask" }, Effect.void)
      yield* emit(delta("a"))
      yield* Scope.close(old, Exit.void)
      yield* emit(delta("b"))
      assert.deepStrictEqual(fake.told(id), ["text ab"])
      const own = yield* Scope.make()
      yield* Scope.provide(attach({ editor: fake.editor, ceiling: "ask" }, Effect.void), own)
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
