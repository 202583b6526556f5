/** Services that are loaded when they are needed first, so that no editor waits for them at the start. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * Loads and builds a service's layer once, in the scope of the process. Whoever needs it first waits for that; its
 * interruption does not stop what others wait for too.
 */
export const late = <Id, Shape, R>(
  service: Context.Key<Id, Shape>,
  load: () => Promise<{ readonly layer: Layer.Layer<Id, never, R> }>,
  make: (loaded: Effect.Effect<Shape>) => Shape
): Layer.Layer<Id, never, R> =>
  Layer.effect(
    service,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const context = yield* Effect.context<R>()
      const loaded = yield* Effect.promise(load).pipe(
        Effect.flatMap(({ layer }) => Layer.buildWithScope(layer, scope)),
        Effect.map(Context.get(service)),
        Effect.provideContext(context),
        Effect.uninterruptible,
        Effect.cached
      )
      return make(loaded)
    })
  )
