/**
 * Keeps what a person gave a server in confidence out of everything that is shown or logged (MCP-08): all of it out of logs,
 * notices and errors, and what may be a secret also out of what tools say.
 */
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type { McpSpec, Pair } from "../../domain/McpSpec.ts"
import { clip } from "../../domain/text/Clip.ts"
import { isOrdinary } from "../../domain/text/Ordinary.ts"
import { visible } from "../../domain/text/Visible.ts"

const MAX_PROBLEM = 2_000

export interface Redactor {
  /** For logs: without any value that was given. */
  readonly strict: (text: string) => string
  /** For notices and errors: the same, and short. */
  readonly problem: (failure: { readonly message: string }) => string
  /**
   * For what tools are, get and give: only without what may be a secret, since a result may well speak of the rest. That is
   * what has a name like a credential, and what is no ordinary value.
   */
  readonly result: (json: Schema.Json) => Schema.Json
  /** The same for the fields of an object. */
  readonly fields: (json: Schema.JsonObject) => Schema.JsonObject
  /** The same for one text, such as a question of the server. */
  readonly said: (text: string) => string
}

/** Shorter values are words such as `1` or `dev`, which would tear holes into any text. */
const SHORTEST = 4
const SHORTEST_SECRET = 8
const credentialName = /key|token|secret|passw|auth|credential|cookie|session/i

/**
 * `Bearer abc` may come back as `abc`, a value of several lines line by line, and any value as it stands in JSON or in an
 * address.
 */
const spellings = (value: string): ReadonlyArray<string> => {
  const bare = value.replace(/^\w+ +/, "")
  return [value, bare, ...value.split(/\s*\n\s*/)].flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed())
  ])
}

const replacer = (values: ReadonlyArray<string>) => {
  const ordered = [...new Set(values)].sort((one, other) => other.length - one.length)
  return (text: string) => ordered.reduce((rest, value) => rest.replaceAll(value, "<redacted>"), text)
}

const given = (pairs: ReadonlyArray<Pair>): ReadonlyArray<string> =>
  pairs.flatMap(({ value }) => spellings(Redacted.value(value))).filter((value) => value.length >= SHORTEST)

/** Those that may be secrets. */
const secrets = (pairs: ReadonlyArray<Pair>): ReadonlyArray<string> =>
  pairs.flatMap(({ name, value }) =>
    spellings(Redacted.value(value)).filter(
      (text) => text.length >= SHORTEST_SECRET && (credentialName.test(name) || !isOrdinary(text))
    )
  )

const oneLine = (text: string): string => text.replace(/[\r\n]+/g, " ")

const isArray: (json: Schema.Json) => json is ReadonlyArray<Schema.Json> = Array.isArray

/** Replaces in every text of the value, names of fields included. */
const inside =
  (replace: (text: string) => string) =>
  (json: Schema.Json): Schema.Json => {
    if (typeof json === "string") return replace(json)
    if (isArray(json)) return json.map(inside(replace))
    if (json === null || typeof json !== "object") return json
    return fieldsWith(replace)(json)
  }

const fieldsWith =
  (replace: (text: string) => string) =>
  (json: Schema.JsonObject): Schema.JsonObject =>
    Object.fromEntries(Object.entries(json).map(([key, value]) => [replace(key), inside(replace)(value)]))

/** What an address holds beside where the server is: who asks, and with what. */
const pairsIn = (url: string): ReadonlyArray<Pair> => {
  const { password, searchParams, username } = URL.parse(url) ?? new URL("none:")
  return [["username", username], ["password", password], ...searchParams].flatMap(([name = "", value = ""]) =>
    [value, encodeURIComponent(value)].map((spelling) => ({ name, value: Redacted.make(spelling) }))
  )
}

/** Of what was given for a server. `read`: what its settings took from the environment, wherever it stands in them. */
export const makeFor = (spec: McpSpec, read: ReadonlyArray<Pair> = []): Redactor =>
  make(spec._tag === "Stdio" ? spec.env : [...spec.headers, ...pairsIn(spec.url)], read)

export const make = (pairs: ReadonlyArray<Pair>, read: ReadonlyArray<Pair> = []): Redactor => {
  const strict = replacer([...given(pairs), ...secrets(read)])
  const said = replacer(secrets([...pairs, ...read]))
  return {
    strict,
    // What nobody sees may also stand inside of a value.
    problem: ({ message }) => clip(oneLine(strict(visible(message))), MAX_PROBLEM),
    result: inside(said),
    fields: fieldsWith(said),
    said
  }
}
