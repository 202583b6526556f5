/** The arguments of a call as a person judges them: all of them, in short, and without what looks like a secret. */
import type * as Schema from "effect/Schema"
import { textContent, type ToolContent } from "../../../domain/Tool.ts"
import { clip } from "../../../domain/text/Clip.ts"

const MAX_PREVIEW = 10_000
const MAX_VALUE = 2_000

const secretName =
  /pass(word|phrase)?$|passwd|secret|token$|api[_-]?key|credential|authorization|cookie|private[_-]?key/i
/** Keys and tokens of the usual services, and what is signed or encrypted as they are. */
const secretValue =
  /\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])*[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bxox[abprs]-[\w-]{10,}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*-----|$)|\b(?:Bearer|Basic) +[\w.~+/=-]{8,}/g

const shorten = (text: string): string =>
  text.length > MAX_VALUE ? `${clip(text, MAX_VALUE)}… (${text.length} characters)` : text

const isArray: (json: Schema.Json) => json is ReadonlyArray<Schema.Json> = Array.isArray

const shownOf = (json: Schema.Json, name = ""): Schema.Json => {
  const isScalar = typeof json === "string" || typeof json === "number"
  if (isScalar && secretName.test(name) && json !== "") return "<redacted>"
  if (typeof json === "string") return shorten(json.replace(secretValue, "<redacted>"))
  if (isArray(json)) return json.map((item) => shownOf(item, name))
  if (json === null || typeof json !== "object") return json
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, shownOf(value, key)]))
}

/** Nothing for a call without arguments. */
export const previewOf = (input: Readonly<Record<string, Schema.Json>>): ReadonlyArray<ToolContent> => {
  if (Object.keys(input).length === 0) return []
  const text = JSON.stringify(shownOf(input), null, 2)
  const isCut = text.length > MAX_PREVIEW
  return [textContent(isCut ? `${clip(text, MAX_PREVIEW)}\n… ${text.length - MAX_PREVIEW} more characters` : text)]
}
