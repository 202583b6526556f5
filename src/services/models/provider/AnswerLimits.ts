/** How much a model may answer. No model says so much: beyond it a server is broken, or means to fill the memory. */
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"

const MIB = 1024 * 1024

/** In bytes: of a stream, whose frames are many times its text, and of every other answer. */
const LARGEST_STREAM = 256 * MIB
const LARGEST_OTHER = 16 * MIB

/** In characters of text, thoughts and input of tools. */
const LONGEST = 16 * MIB

/** A call is announced, asked about and told of, however short it is. */
const CALL = 4096

/** The body, which breaks where it becomes too large. */
export const bounded = (
  body: ReadableStream<Uint8Array>,
  isStream: boolean,
  onBytes: () => void
): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  const largest = isStream ? LARGEST_STREAM : LARGEST_OTHER
  let size = 0
  return new ReadableStream(
    {
      pull: (controller) =>
        reader.read().then(({ done, value }) => {
          onBytes()
          if (done) return controller.close()
          size += value.length
          if (size <= largest) return controller.enqueue(value)
          const problem = new Error(`the answer has more than ${largest / MIB} MiB`)
          controller.error(problem)
          return reader.cancel(problem)
        }),
      cancel: (reason) => reader.cancel(reason)
    },
    { highWaterMark: 0 }
  )
}

/** Counts what a model says; false when it is too much. */
export const makeCount = () => {
  let size = 0
  return (part: LanguageModelV4StreamPart): boolean => {
    size += 1
    if ("delta" in part) size += part.delta.length
    if (part.type === "tool-call") size += CALL
    return size <= LONGEST
  }
}

export const tooLong = `the model did not stop: its answer has more than ${LONGEST} characters`
