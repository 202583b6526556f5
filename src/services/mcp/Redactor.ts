/** Keeps what a person gave a server in confidence out of everything that is shown or logged (MCP-08). */
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type { McpSpec, Pair } from "../../domain/McpSpec.ts"

const MAX_PROBLEM = 2_000

export interface Redactor {
  /** For logs: without any value that was given. */
  readonly strict: (text: string) => string
  /** For notices and errors: the same, and short. */
  readonly problem: (failure: { readonly message: string }) => string
  /** For results of tools: only without what is named like a credential, since a result may well speak of the rest. */
  readonly result: (json: Schema.Json) => Schema.Json
  /** The same for one text, such as a question of the server. */
  readonly said: (text: string) => string
}

/** Shorter values are words such as `1` or `dev`, which would tear holes into any text. */
const SHORTEST = 4
const SHORTEST_CREDENTIAL = 8
const credentialName = /key|token|secret|passw|auth|credential|cookie|session/i

/** `Bearer abc` may come back as `abc`, a value of several lines line by line, and any value as it stands in JSON. */
const spellings = (value: string): ReadonlyArray<string> => {
  const bare = value.replace(/^\w+ +/, "")
  return [value, bare, ...value.split(/\s*\n\s*/)].flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
}

const replacer = (pairs: ReadonlyArray<Pair>, shortest: number) => {
  const values = pairs
    .flatMap(({ value }) => spellings(Redacted.value(value)))
    .filter((value) => value.length >= shortest)
    .sort((one, other) => other.length - one.length)
  return (text: string) => values.reduce((rest, value) => rest.replaceAll(value, "<redacted>"), text)
}

const isArray: (json: Schema.Json) => json is ReadonlyArray<Schema.Json> = Array.isArray

/** Replaces in every text of the value. */
const inside =
  (replace: (text: string) => string) =>
  (json: Schema.Json): Schema.Json => {
    if (typeof json === "string") return replace(json)
    if (isArray(json)) return json.map(inside(replace))
    if (json === null || typeof json !== "object") return json
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, inside(replace)(value)]))
  }

/** What an address holds beside where the server is: who asks, and with what. */
const pairsIn = (url: string): ReadonlyArray<Pair> => {
  const { password, searchParams, username } = URL.parse(url) ?? new URL("none:")
  return [["username", username], ["password", password], ...searchParams].flatMap(([name = "", value = ""]) =>
    [value, encodeURIComponent(value)].map((spelling) => ({ name, value: Redacted.make(spelling) }))
  )
}

/** Of what was given for a server. */
export const makeFor = (spec: McpSpec): Redactor =>
  make(spec._tag === "Stdio" ? spec.env : [...spec.headers, ...pairsIn(spec.url)])

export const make = (pairs: ReadonlyArray<Pair>): Redactor => {
  const strict = replacer(pairs, SHORTEST)
  const credentials = pairs.filter(({ name }) => credentialName.test(name))
  const said = replacer(credentials, SHORTEST_CREDENTIAL)
  return {
    strict,
    problem: ({ message }) => strict(message).slice(0, MAX_PROBLEM),
    result: inside(said),
    said
  }
}
