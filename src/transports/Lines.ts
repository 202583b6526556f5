/**
 * Cuts bytes into frames at each LF (TR-03). White space, CR and a byte order mark around a line mean nothing, and blank
 * lines are no frames. A line over the limit is thrown away up to its LF, in flat memory, and reported (TR-04).
 */
import { type Frame, maxFrameBytes } from "./Frames.ts"

const lineFeed = 0x0a

/** Buffers up to this size are kept from line to line. */
const kept = 64 * 1024

export interface Lines {
  /** The frames that `chunk` completes. */
  readonly push: (chunk: Uint8Array) => ReadonlyArray<Frame>
  /** The last line, when the bytes ended without LF. */
  readonly end: () => ReadonlyArray<Frame>
}

/** Not an Effect: the caller owns it, and calls it from one fiber. */
export const make = (limit: number = maxFrameBytes): Lines => {
  // The start of a line whose end has not come: the first `held` bytes of `buffer`, unless the line is already too long.
  let buffer = Buffer.alloc(0)
  let held = 0

  const hold = (part: Uint8Array): void => {
    const needed = held + part.byteLength
    if (needed > limit) {
      buffer = Buffer.alloc(0)
    } else {
      if (needed > buffer.byteLength) {
        // Doubling keeps a line that comes in many parts linear.
        const larger = Buffer.allocUnsafe(Math.max(needed, Math.min(limit, buffer.byteLength * 2), 1024))
        buffer.copy(larger, 0, 0, held)
        buffer = larger
      }
      buffer.set(part, held)
    }
    held = needed
  }

  const take = (into: Array<Frame>): void => {
    const bytes = held
    held = 0
    if (bytes > limit) {
      into.push({ _tag: "TooLong", bytes })
      return
    }
    // Decoding whole lines is what keeps a character that straddles two chunks whole (F01).
    const text = buffer.toString("utf8", 0, bytes).trim()
    if (buffer.byteLength > kept) buffer = Buffer.alloc(0)
    if (text !== "") into.push({ _tag: "Text", text })
  }

  return {
    push(chunk) {
      const frames: Array<Frame> = []
      let start = 0
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
        hold(chunk.subarray(start, end))
        take(frames)
        start = end + 1
      }
      if (start < chunk.byteLength) hold(chunk.subarray(start))
      return frames
    },
    end() {
      const frames: Array<Frame> = []
      take(frames)
      return frames
    }
  }
}
