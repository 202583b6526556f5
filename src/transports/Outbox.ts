/**
 * What waits for the writer: bounded by frames and by bytes, first in, first out. A fiber that puts two frames sees them
 * leave in that order.
 */
import * as Effect from "effect/Effect"

/** A frame on its way. The writer marks it when it takes it. */
export interface Outgoing {
  readonly text: string
  readonly bytes: number
  taken: boolean
}

export const outgoing = (text: string): Outgoing => ({ text, bytes: Buffer.byteLength(text), taken: false })

export interface Outbox {
  /** Waits while the outbox is full. Does nothing once it has ended. */
  readonly put: (frame: Outgoing) => Effect.Effect<void>
  /** Takes a place if there is one; `false` when it is full. */
  readonly offer: (frame: Outgoing) => boolean
  /** Waits until half of it is free, or it has ended. */
  readonly halfEmpty: Effect.Effect<void>
  /** Takes a place from a reserve of `spare` frames first, so that short frames pass while others wait. */
  readonly putSpare: (frame: Outgoing, spare: number) => Effect.Effect<void>
  /** Never waits, for frames whose number is bounded elsewhere. */
  readonly push: (frame: Outgoing) => void
  /** Takes a frame back; `false` when the writer already has it. */
  readonly withdraw: (frame: Outgoing) => boolean
  /** Hands all that waits to `write`, batch after batch, until the outbox has ended and is empty. */
  readonly drain: (write: (batch: ReadonlyArray<Outgoing>) => Effect.Effect<void>) => Effect.Effect<void>
  /** Accepts nothing more. What is in it can still be taken. */
  readonly end: () => void
}

interface Waiter {
  readonly frame: Outgoing
  readonly resume: (effect: Effect.Effect<void>) => void
}

export const make = (limits: { readonly frames: number; readonly bytes: number }): Outbox => {
  let queue: Array<Outgoing> = []
  let bytes = 0
  let ended = false
  let wakeWriter: (() => void) | undefined
  const waiters = new Set<Waiter>()
  /** Those who wait for it to be half empty. */
  const watchers = new Set<() => void>()

  // A frame larger than the whole limit passes alone.
  const hasRoom = (frame: Outgoing): boolean =>
    queue.length === 0 || (queue.length < limits.frames && bytes + frame.bytes <= limits.bytes)

  const push = (frame: Outgoing): void => {
    if (ended) return
    queue.push(frame)
    bytes += frame.bytes
    wakeWriter?.()
  }

  /** Resuming runs the waiting fiber at once, which may put again: the outbox must be in order before each resume. */
  const admit = (): void => {
    for (const waiter of waiters) {
      if (!ended && !hasRoom(waiter.frame)) return
      waiters.delete(waiter)
      push(waiter.frame)
      waiter.resume(Effect.void)
    }
  }

  const wait = (frame: Outgoing): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const waiter = { frame, resume }
      waiters.add(waiter)
      return Effect.sync(() => {
        waiters.delete(waiter)
        admit()
      })
    })

  const put = (frame: Outgoing): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (!ended && (waiters.size > 0 || !hasRoom(frame))) return wait(frame)
      push(frame)
      return Effect.void
    })

  const isHalfEmpty = (): boolean => ended || (queue.length <= limits.frames / 2 && bytes <= limits.bytes / 2)

  const halfEmpty: Effect.Effect<void> = Effect.callback((resume) => {
    if (isHalfEmpty()) return resume(Effect.void)
    const waiting = () => resume(Effect.void)
    watchers.add(waiting)
    return Effect.sync(() => watchers.delete(waiting))
  })

  const tellWatchers = (): void => {
    if (!isHalfEmpty()) return
    const told = [...watchers]
    watchers.clear()
    for (const resume of told) resume()
  }

  const filled: Effect.Effect<void> = Effect.callback((resume) => {
    if (queue.length > 0 || ended) return resume(Effect.void)
    wakeWriter = () => {
      wakeWriter = undefined
      resume(Effect.void)
    }
    return Effect.sync(() => {
      wakeWriter = undefined
    })
  })

  const isLive = (): boolean => !ended || queue.length > 0

  const takeAll = (): ReadonlyArray<Outgoing> => {
    const batch = queue
    queue = []
    bytes = 0
    for (const frame of batch) frame.taken = true
    admit()
    tellWatchers()
    return batch
  }

  return {
    put,
    offer(frame) {
      if (!ended && (waiters.size > 0 || !hasRoom(frame))) return false
      push(frame)
      return true
    },
    halfEmpty,
    putSpare: (frame, spare) =>
      Effect.suspend(() => {
        if (queue.length >= limits.frames + spare) return put(frame)
        push(frame)
        return Effect.void
      }),
    push,
    withdraw(frame) {
      const index = queue.indexOf(frame)
      if (index !== -1) {
        queue.splice(index, 1)
        bytes -= frame.bytes
        admit()
      }
      return !frame.taken
    },
    drain: Effect.fnUntraced(function* (write) {
      while (isLive()) {
        yield* filled
        // What is put in the same turn of the event loop leaves in the same write.
        yield* Effect.yieldNow
        if (queue.length > 0) yield* write(takeAll())
      }
    }),
    end() {
      ended = true
      wakeWriter?.()
      admit()
      tellWatchers()
    }
  }
}
