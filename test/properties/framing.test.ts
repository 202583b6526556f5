import { type AnyMessage, ndJsonStream } from "@agentclientprotocol/sdk"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Frame } from "../../src/transports/Frames.ts"
import * as Lines from "../../src/transports/Lines.ts"

const options = { arbitrary: { runs: 300 } }

/** Pieces that break naive readers: characters of two, three and four bytes, half ones, marks and line ends. */
const piece = Schema.Literals([
  "a",
  "é",
  "漢",
  "🎉",
  "\ufffd",
  "\ufeff",
  "\r",
  "\n",
  "\r\n",
  " ",
  "\t",
  "\u2028",
  "{",
  '"',
  "\\"
])

const text = Arbitrary.map(Arbitrary.schema(Schema.Array(piece)), (pieces) => pieces.join(""))

const cuts = Arbitrary.schema(Schema.Array(Schema.Natural))

/** Cuts bytes into pieces; the sizes come round again as often as it takes. */
const split = (bytes: Uint8Array, sizes: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for (let from = 0, turn = 0; from < bytes.byteLength; turn++) {
    const size = 1 + ((sizes[turn % Math.max(1, sizes.length)] ?? 0) % 9)
    chunks.push(bytes.subarray(from, from + size))
    from += size
  }
  return chunks
}

const read = (chunks: ReadonlyArray<Uint8Array>, limit?: number): ReadonlyArray<Frame> => {
  const lines = Lines.make(limit)
  return [...chunks.flatMap((chunk) => lines.push(chunk)), ...lines.end()]
}

/** The plain meaning of the bytes: whole text, split at LF, trimmed, without what is blank. */
const meaning = (bytes: Uint8Array): ReadonlyArray<string> =>
  new TextDecoder("utf-8", { ignoreBOM: true })
    .decode(bytes)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

const messages = (chunks: ReadonlyArray<Uint8Array>) =>
  Effect.promise(async () => {
    const { readable } = ndJsonStream(new WritableStream(), ReadableStream.from(chunks))
    const read: Array<AnyMessage> = []
    for await (const message of readable) read.push(message)
    return read
  })

describe("framing", () => {
  it.effect.prop(
    "is the same under any chunking, and is what the text means",
    [text, cuts],
    ([input, sizes]) =>
      Effect.sync(() => {
        const bytes = new TextEncoder().encode(input)
        const frames = read(split(bytes, sizes))
        assert.deepStrictEqual(frames, read([bytes]))
        assert.deepStrictEqual(
          frames,
          meaning(bytes).map((line) => ({ _tag: "Text", text: line }))
        )
      }),
    options
  )

  it.effect.prop(
    "of lines over a limit loses those lines only, under any chunking",
    [Schema.Array(Schema.Array(piece)), cuts],
    ([pieces, sizes]) =>
      Effect.sync(() => {
        const limit = 12
        const lines = pieces.map((line) => line.join("").replaceAll(/[\r\n]/g, ""))
        const encoder = new TextEncoder()
        const expected = lines.flatMap((line): ReadonlyArray<Frame> => {
          const bytes = encoder.encode(line).byteLength
          if (bytes > limit) return [{ _tag: "TooLong", bytes }]
          return line.trim() === "" ? [] : [{ _tag: "Text", text: line.trim() }]
        })
        const bytes = encoder.encode(lines.map((line) => `${line}\n`).join(""))
        assert.deepStrictEqual(read(split(bytes, sizes), limit), expected)
      }),
    options
  )

  it.effect.prop(
    "finds the messages that the official reader finds",
    [
      Schema.Array(Schema.Struct({ text: Schema.Array(piece), end: Schema.Literals(["\n", "\r\n", "\n\r\n \n"]) })),
      cuts
    ],
    ([lines, sizes]) =>
      Effect.gen(function* () {
        const bytes = new TextEncoder().encode(
          lines.map(({ end, text }) => JSON.stringify({ jsonrpc: "2.0", method: text.join("") }) + end).join("")
        )
        const chunks = split(bytes, sizes)
        const ours = read(chunks).map((frame): unknown => (frame._tag === "Text" ? JSON.parse(frame.text) : frame))
        assert.deepStrictEqual(ours, yield* messages(chunks))
      }),
    { arbitrary: { runs: 100 } }
  )
})
