/** Text files as bytes: encodings that can be read and written without losing a byte, and only those (F88). */
import * as Option from "effect/Option"

export type Encoding = "utf-8" | "utf-8-bom" | "utf-16le" | "utf-16be"

const marks: ReadonlyArray<readonly [Encoding, ReadonlyArray<number>]> = [
  ["utf-8-bom", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]]
]

const startsWith = (bytes: Uint8Array, start: ReadonlyArray<number>): boolean =>
  start.every((byte, index) => bytes[index] === byte)

/** Bytes at the start of a file in which a zero byte says that it is no text. */
const SNIFFED = 8_000

const decodeStrictly = Option.liftThrowable((bytes: Uint8Array, label: string) =>
  new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes)
)

/** None for what is not text in one of the encodings. The text comes without its byte order mark. */
export const decode = (bytes: Uint8Array): Option.Option<{ readonly text: string; readonly encoding: Encoding }> => {
  const [encoding, mark] = marks.find(([, start]) => startsWith(bytes, start)) ?? ["utf-8", []]
  const wide = encoding === "utf-16le" || encoding === "utf-16be"
  if (!wide && bytes.subarray(0, SNIFFED).includes(0)) return Option.none()
  return Option.map(decodeStrictly(bytes.subarray(mark.length), wide ? encoding : "utf-8"), (text) => ({
    text,
    encoding
  }))
}

const encodeWide = (text: string, littleEndian: boolean): Uint8Array => {
  const view = new DataView(new ArrayBuffer(2 + text.length * 2))
  view.setUint16(0, 0xfeff, littleEndian)
  for (let index = 0; index < text.length; index++) {
    view.setUint16(2 + index * 2, text.charCodeAt(index), littleEndian)
  }
  return new Uint8Array(view.buffer)
}

/** The bytes of a file with this text, its byte order mark included. */
export const encode = (text: string, encoding: Encoding): Uint8Array => {
  switch (encoding) {
    case "utf-8":
      return new TextEncoder().encode(text)
    case "utf-8-bom":
      return new TextEncoder().encode(`\ufeff${text}`)
    case "utf-16le":
      return encodeWide(text, true)
    case "utf-16be":
      return encodeWide(text, false)
  }
}
