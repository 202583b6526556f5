/** What a server says that it sends, and the bytes as text by that. */
import * as Option from "effect/Option"

export interface MediaType {
  /** In lower case, such as `text/html`; empty when the server names none. */
  readonly type: string
  readonly charset: string | undefined
}

export const parseMediaType = (header: string | undefined): MediaType => {
  const [type = "", ...parameters] = (header ?? "").split(";")
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)/i.exec(parameter)?.[1])
    .find((name) => name !== undefined)
  return { type: type.trim().toLowerCase(), charset }
}

export const isHtml = (type: string): boolean => type === "text/html" || type === "application/xhtml+xml"

const textual =
  /^(text\/.+|application\/(json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-javascript|typescript|graphql|x-sh|x-ndjson|jsonlines|sql|rtf|x-www-form-urlencoded)|.+\+(json|xml|yaml))$/

/** Whether it can be read as text. */
export const isTextual = (type: string): boolean => isHtml(type) || textual.test(type)

/** The first bytes of a page tell its charset, if anything in it does. */
const HEAD = 2_048

const marks: ReadonlyArray<readonly [charset: string, bytes: ReadonlyArray<number>]> = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]]
]

const decoderOf = Option.liftThrowable((charset: string) => new TextDecoder(charset))
const strictly = Option.liftThrowable((bytes: Uint8Array) => new TextDecoder("utf-8", { fatal: true }).decode(bytes))

const named = (charset: string | undefined) =>
  charset === undefined ? Option.none() : decoderOf(charset.toLowerCase())

const declared = (bytes: Uint8Array): string | undefined => {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, HEAD))
  return (
    /<meta[^>]+charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1] ??
    /^<\?xml[^>]+encoding=["']([\w.-]+)/i.exec(head)?.[1]
  )
}

/** A page in UTF-16 cannot declare that in ASCII. */
const believable = (charset: string | undefined): string | undefined =>
  charset !== undefined && /^utf-?(16|32)/i.test(charset) ? "utf-8" : charset

/** By its byte order mark, by the header, by the page itself; else UTF-8, and where it is none, Windows-1252. */
export const decode = (bytes: Uint8Array, { charset }: MediaType): string => {
  const mark = marks.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))
  const decoder = named(mark?.[0]).pipe(
    Option.orElse(() => named(charset)),
    Option.orElse(() => named(believable(declared(bytes))))
  )
  if (Option.isSome(decoder)) return decoder.value.decode(bytes)
  return Option.getOrElse(strictly(bytes), () => new TextDecoder("windows-1252").decode(bytes))
}

/** The type of what a server sent without one; undefined for what is no text. */
export const sniff = (bytes: Uint8Array): string | undefined => {
  const head = bytes.subarray(0, HEAD)
  if (head.includes(0)) return undefined
  return /^\s*(<!doctype html|<html|<head|<body)/i.test(new TextDecoder().decode(head)) ? "text/html" : "text/plain"
}
