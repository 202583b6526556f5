/**
 * Events on their way to one stream, whose reader may come, go and come again. Each is handed out once, in order; what
 * nobody has taken yet waits.
 */
import * as Effect from "effect/Effect"

/** Bytes of one write, unless a single event is longer. */
const batchBytes = 64 * 1024

export interface Reader {
  /** Waits until there is something to take, or the mailbox has ended. */
  readonly ready: Effect.Effect<void>
  /** What waits, at most one write of it; empty when nothing does. */
  readonly take: () => ReadonlyArray<Uint8Array>
  /** The mailbox has ended: nothing will ever be taken again. */
  readonly isOver: () => boolean
  /** Lets the next reader in. Harmless when repeated. */
  readonly release: () => void
}

export interface Mailbox {
  readonly put: (event: Uint8Array) => void
  /** `undefined`: it has a reader already, or has ended. `abort` cuts a reader off that does not come back to read. */
  readonly open: (abort: () => void) => Reader | undefined
  /** Waits until its reader has taken and written all of it, or has left. Does not wait when nobody reads. */
  readonly written: Effect.Effect<void>
  /** Waits until nobody reads. */
  readonly left: Effect.Effect<void>
  readonly hasReader: () => boolean
  readonly isEmpty: () => boolean
  /** Throws away what waits, and lets the reader end. */
  readonly end: () => void
  /** Cuts off a reader that is still there. */
  readonly abort: () => void
}

/** `onChange` is told of bytes and events that came (positive) or went, and of readers that came or went. */
export const make = (onChange: (bytes: number, events: number) => void): Mailbox => {
  let queue: Array<Uint8Array> = []
  let ended = false
  /** `idle`: the reader has written all that it took. */
  let reader: { readonly abort: () => void; idle: boolean } | undefined
  let wake: (() => void) | undefined
  const waiting = new Map<() => void, () => boolean>()

  const isWritten = (): boolean => ended || reader === undefined || (reader.idle && queue.length === 0)

  const hasLeft = (): boolean => reader === undefined

  const settle = (): void => {
    for (const [resume, holds] of waiting) {
      if (!holds()) continue
      waiting.delete(resume)
      resume()
    }
  }

  const until = (holds: () => boolean): Effect.Effect<void> =>
    Effect.callback((resume) => {
      if (holds()) return resume(Effect.void)
      const done = () => resume(Effect.void)
      waiting.set(done, holds)
      return Effect.sync(() => waiting.delete(done))
    })

  const open = (abort: () => void): Reader | undefined => {
    if (ended || reader !== undefined) return undefined
    const own = { abort, idle: false }
    reader = own
    onChange(0, 0)
    return {
      ready: Effect.callback((resume) => {
        own.idle = true
        settle()
        if (ended || queue.length > 0) return resume(Effect.void)
        wake = () => {
          wake = undefined
          resume(Effect.void)
        }
        return Effect.sync(() => {
          wake = undefined
        })
      }),
      take() {
        if (reader !== own) return []
        let bytes = 0
        let count = 0
        for (const event of queue) {
          if (count > 0 && bytes + event.byteLength > batchBytes) break
          bytes += event.byteLength
          count++
        }
        if (count === 0) return []
        own.idle = false
        const batch = queue.splice(0, count)
        onChange(-bytes, -count)
        return batch
      },
      isOver: () => ended,
      release() {
        if (reader !== own) return
        reader = undefined
        settle()
        onChange(0, 0)
      }
    }
  }

  return {
    put(event) {
      if (ended) return
      queue.push(event)
      onChange(event.byteLength, 1)
      wake?.()
    },
    open,
    written: until(isWritten),
    left: until(hasLeft),
    hasReader: () => reader !== undefined,
    isEmpty: () => queue.length === 0,
    end() {
      ended = true
      queue = []
      settle()
      wake?.()
    },
    abort: () => reader?.abort()
  }
}
