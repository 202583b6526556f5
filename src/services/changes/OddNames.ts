/**
 * Names that are not UTF-8. A path made of such a name would lead to another file or to none, so what has one is neither
 * recorded nor taken back; it is looked at by its bytes, to be able to say so.
 */
import { type BigIntStats, lstatSync, readdirSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

const SLASH = 47

/** Files of such names that are looked at; of more of them it is not known whether they changed. */
export const ODD_LIMIT = 1_000

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Undefined where the bytes are no text. */
export const decodeName = (bytes: Uint8Array): string | undefined =>
  Option.getOrUndefined(Option.liftThrowable(() => strict.decode(bytes))())

/** Whether it may come from a name that could not be decoded. */
export const mayBeOdd = (name: string): boolean => name.includes("\ufffd")

/** For a person: each byte that belongs to no character as `\xff`. */
export const escapeName = (bytes: Uint8Array): string => {
  let text = ""
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at] ?? 0
    const size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    const character = at + size <= bytes.length ? decodeName(bytes.subarray(at, at + size)) : undefined
    text += character ?? `\\x${lead.toString(16).padStart(2, "0")}`
    at += character === undefined ? 1 : size
  }
  return text
}

const join = (folder: Uint8Array, name: Uint8Array): Buffer =>
  Buffer.concat([folder, ...(folder.at(-1) === SLASH ? [] : [Buffer.from([SLASH])]), name])

const keyOf = ({ ctimeNs, ino, mode, mtimeNs, size }: BigIntStats): string =>
  `${mtimeNs}.${ctimeNs}.${size}.${ino}.${mode}`

const statOf = Option.liftThrowable((path: Buffer) => lstatSync(path, { bigint: true, throwIfNoEntry: false }))

const entriesOf = Option.liftThrowable((folder: Buffer) => readdirSync(folder, { encoding: "buffer" }))

/** Notes what is at these paths: by their escaped names, what changes with them. */
const noteAll = Effect.fnUntraced(function* (found: Map<string, string>, start: Iterable<Buffer>) {
  const left = [...start]
  for (let path = left.pop(); path !== undefined && found.size < ODD_LIMIT; path = left.pop()) {
    const stat = Option.getOrUndefined(statOf(path))
    if (stat === undefined) continue
    if (stat.isDirectory()) {
      for (const name of Option.getOrElse(entriesOf(path), () => [])) left.push(join(path, name))
      if (found.size % 100 === 99) yield* Effect.yieldNow
    }
    // What a folder holds is looked at by itself.
    found.set(escapeName(path), stat.isDirectory() ? "folder" : keyOf(stat))
  }
})

/** Those of a list of names below a folder, which git gives. */
export const noteNames = (found: Map<string, string>, folder: string, names: Iterable<Uint8Array>) =>
  noteAll(
    found,
    [...names].map((name) => join(Buffer.from(folder), name))
  )

/** Those that a folder itself has, and all that is in them. */
export const noteIn = (found: Map<string, string>, folder: string) =>
  noteNames(
    found,
    folder,
    Option.getOrElse(entriesOf(Buffer.from(folder)), () => []).filter((name) => decodeName(name) === undefined)
  )
