/** Stores in memory: one that outlives an agent, and one that fails when a test says so. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { StoreFailed } from "../../src/domain/Failure.ts"
import type { SessionId } from "../../src/domain/Ids.ts"
import type { Entry } from "../../src/domain/session/Session.ts"
import { SessionStore } from "../../src/services/SessionStore.ts"
import * as SessionStoreSqlite from "../../src/services/store/SessionStoreSqlite.ts"

/** A store for several agents, one after the other: its layer gives the same one each time. */
export const sharedStore = Effect.map(Layer.build(Layer.fresh(SessionStoreSqlite.layerMemory)), (context) => {
  const store = Context.get(context, SessionStore)
  return { store, layer: Layer.succeed(SessionStore, store) }
})

/** Fails to write sessions for which `fails` is true. */
export const flakyStore = Effect.map(sharedStore, ({ store }) => {
  const control: { fails: (id: SessionId) => boolean } = { fails: () => false }
  const failure = new StoreFailed({ reason: "unavailable", message: "The disk is full" })
  const write = <A, E>(id: SessionId, effect: Effect.Effect<A, E>) =>
    Effect.suspend((): Effect.Effect<A, E | StoreFailed> => (control.fails(id) ? Effect.fail(failure) : effect))
  return {
    control,
    store,
    layer: Layer.succeed(SessionStore, {
      ...store,
      create: (record, entries?: ReadonlyArray<Entry>) => write(record.id, store.create(record, entries)),
      append: (id, seq, entries) => write(id, store.append(id, seq, entries))
    })
  }
})
