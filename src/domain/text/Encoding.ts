/** Text files as bytes: encodings that can be read and written without losing a byte, and only those (F88). */
import * as Option from "effect/Option"
import { byteOf, isWestern } from "./Windows1252.ts"

/** `bom`: the file begins with a byte order mark. Files of UTF-16 do, unless they are `bare`. */
export type Encoding =
  | "utf-8"
  | "utf-8-bom"
  | "utf-16le"
  | "utf-16be"
  | "utf-16le-bare"
  | "utf-16be-bare"
  | "windows-1252"

/** As people write them. */
export const encodingNames: Readonly<Record<Encoding, string>> = {
  "utf-8": "UTF-8",
  "utf-8-bom": "UTF-8 with a byte order mark",
  "utf-16le": "UTF-16LE",
  "utf-16be": "UTF-16BE",
  "utf-16le-bare": "UTF-16LE without a byte order mark",
  "utf-16be-bare": "UTF-16BE without a byte order mark",
  "windows-1252": "Windows-1252"
}

export interface Decoded {
  readonly text: string
  readonly encoding: Encoding
}

const marks: ReadonlyArray<readonly [Encoding, ReadonlyArray<number>]> = [
  ["utf-8-bom", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]]
]

const labels: Readonly<Record<Encoding, string>> = {
  "utf-8": "utf-8",
  "utf-8-bom": "utf-8",
  "utf-16le": "utf-16le",
  "utf-16be": "utf-16be",
  "utf-16le-bare": "utf-16le",
  "utf-16be-bare": "utf-16be",
  "windows-1252": "windows-1252"
}

/** `%PDF-`: the one kind of document that can look like text all through. */
const PDF = [0x25, 0x50, 0x44, 0x46, 0x2d]

const decodeStrictly = Option.liftThrowable((bytes: Uint8Array, encoding: Encoding) =>
  new TextDecoder(labels[encoding], { fatal: true, ignoreBOM: true }).decode(bytes)
)

const decodeAs = (bytes: Uint8Array, encoding: Encoding): Option.Option<Decoded> =>
  Option.map(decodeStrictly(bytes, encoding), (text) => ({ text, encoding }))

const startsWith = (bytes: Uint8Array, start: ReadonlyArray<number>): boolean =>
  start.every((byte, index) => bytes[index] === byte)

/** In bytes: less is not enough to tell UTF-16 by its looks. */
const TELLING = 8

/** In characters: the head that is looked at closely. */
const HEAD = 4_096

/** Nothing but plain text may look like this: every character is printable, and three of four are ASCII. */
const isPlain = (text: string): boolean => {
  const head = text.slice(0, HEAD)
  const ascii = head.match(/[\t\n\r\x20-\x7e]/g)?.length ?? 0
  // oxlint-disable-next-line no-control-regex -- control characters are what tells other data
  return ascii * 4 >= head.length * 3 && !/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]/.test(text)
}

const decodeBare = (bytes: Uint8Array): Option.Option<Decoded> => {
  if (bytes.length < TELLING || bytes.length % 2 !== 0) return Option.none()
  const encoding = bytes[0] === 0 ? "utf-16be-bare" : "utf-16le-bare"
  return Option.filter(decodeAs(bytes, encoding), ({ text }) => isPlain(text))
}

/** None for what is not text in one of the encodings. The text comes without its byte order mark, and holds no NUL. */
export const decode = (bytes: Uint8Array): Option.Option<Decoded> => {
  const [marked, mark] = marks.find(([, start]) => startsWith(bytes, start)) ?? []
  if (marked !== undefined && mark !== undefined) {
    const decoded = decodeAs(bytes.subarray(mark.length), marked)
    return Option.filter(decoded, ({ text }) => !text.includes("\0"))
  }
  if (bytes.includes(0)) return decodeBare(bytes)
  const unicode = decodeAs(bytes, "utf-8")
  if (Option.isSome(unicode) || startsWith(bytes, PDF) || !isWestern(bytes)) return unicode
  return decodeAs(bytes, "windows-1252")
}

const encodeWide = (text: string, littleEndian: boolean): Uint8Array => {
  const view = new DataView(new ArrayBuffer(text.length * 2))
  for (let index = 0; index < text.length; index++) view.setUint16(index * 2, text.charCodeAt(index), littleEndian)
  return new Uint8Array(view.buffer)
}

const QUESTION_MARK = 0x3f

/** The bytes of a file with this text, its byte order mark included. Ask `unwritable` before. */
export const encode = (text: string, encoding: Encoding): Uint8Array => {
  switch (encoding) {
    case "utf-8":
      return new TextEncoder().encode(text)
    case "utf-8-bom":
      return new TextEncoder().encode(`\ufeff${text}`)
    case "utf-16le":
    case "utf-16be":
      return encodeWide(`\ufeff${text}`, encoding === "utf-16le")
    case "utf-16le-bare":
    case "utf-16be-bare":
      return encodeWide(text, encoding === "utf-16le-bare")
    case "windows-1252":
      return Uint8Array.from(text.split(""), (character) => byteOf(character) ?? QUESTION_MARK)
  }
}

/** The first character that a file of this encoding could not keep, and where it stands. */
export const unwritable = (
  text: string,
  encoding: Encoding
): { readonly character: string; readonly at: number } | undefined => {
  if (encoding !== "windows-1252") {
    const at = text.isWellFormed() ? -1 : text.search(/\p{Surrogate}/u)
    return at === -1 ? undefined : { character: text.charAt(at), at }
  }
  for (let at = 0; at < text.length; at++) {
    if (byteOf(text.charAt(at)) === undefined) return { character: String.fromCodePoint(text.codePointAt(at) ?? 0), at }
  }
  return undefined
}
