/** One lock for each key, kept only while somebody uses it. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** Runs the effect when no other of the same key runs; in the order of asking. */
export type KeyedLock<Key> = <A, E>(key: Key, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

export const make = <Key>(): KeyedLock<Key> => {
  const locks = new Map<Key, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return (key, effect) =>
    Effect.suspend(() => {
      const lock = locks.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
      locks.set(key, lock)
      lock.users += 1
      return Effect.ensuring(
        lock.semaphore.withPermits(1)(effect),
        Effect.sync(() => {
          lock.users -= 1
          if (lock.users === 0) locks.delete(key)
        })
      )
    })
}
