/**
 * Writes `src/services/models/Snapshot.ts`: the facts about models that the catalogue is made of. They come from the npm
 * package `@earendil-works/pi-ai` (MIT), which publishes what the providers document of each model. Which models are
 * listed, and in which order, is decided here; models of the source that are neither listed nor passed over are named.
 *
 *   npm pack @earendil-works/pi-ai@1.6.0 && tar xzf earendil-works-pi-ai-1.6.0.tgz
 *   node scripts/catalogue.ts package && npx oxfmt src/services/models/Snapshot.ts
 */
import * as Schema from "effect/Schema"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

type Kind = "anthropic" | "openai" | "google"

const Level = Schema.optionalKey(Schema.NullOr(Schema.String))

const Model = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  reasoning: Schema.Boolean,
  input: Schema.Array(Schema.String),
  contextWindow: Schema.Int,
  maxTokens: Schema.Int,
  cost: Schema.Struct({
    input: Schema.Finite,
    output: Schema.Finite,
    cacheRead: Schema.Finite,
    cacheWrite: Schema.Finite
  }),
  thinkingLevelMap: Schema.optionalKey(
    Schema.Struct({
      off: Level,
      minimal: Level,
      low: Level,
      medium: Level,
      high: Level,
      xhigh: Level,
      max: Level
    })
  )
})
type Model = typeof Model.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))
const decodeModels = Schema.decodeUnknownSync(Schema.Record(Schema.String, Model))

/** The part of the source that holds the models of a provider's usual interface. */
const interfaces: { readonly [K in Kind]: string } = {
  anthropic: "anthropic-messages",
  openai: "openai-responses",
  google: "google-generative-ai"
}

/** The default of a provider first. */
const listed: { readonly [K in Kind]: string } = {
  anthropic: `claude-sonnet-5-5 claude-opus-5-5 claude-haiku-5-5 claude-fable-5-2 claude-fable-5-1 claude-fable-5
    claude-opus-5 claude-sonnet-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-sonnet-4-6 claude-opus-4-5
    claude-sonnet-4-5 claude-haiku-4-5`,
  openai: `gpt-6.2-sol gpt-6.2-astra gpt-6.1-sol gpt-6.1-terra gpt-6-astra gpt-6-sol gpt-6-luna gpt-5.6-sol gpt-5.6-terra
    gpt-5.6-luna gpt-5.5 gpt-5.5-pro gpt-5.4 gpt-5.4-mini gpt-5.4-nano gpt-5.3-codex gpt-5.3-codex-spark gpt-5.2 gpt-5.1
    gpt-5 gpt-5-mini gpt-4.1 gpt-4.1-mini gpt-4o o3 o4-mini`,
  google: `gemini-4-hydrogen gemini-4-neon gemini-4-argon gemini-4-carbon gemini-3.8-flash gemini-3.7-flash
    gemini-3.6-flash gemini-3.5-flash gemini-3.5-flash-lite gemini-3.1-pro-preview gemini-3.1-flash-lite gemini-2.5-pro
    gemini-2.5-flash gemini-2.5-flash-lite`
}

/** Dated copies, aliases that move, and models that are not for this work or cannot be had by everyone. */
const passedOver =
  /-20\d{6}$|-\d{4}-\d\d-\d\d$|-latest$|^chat-|^gpt-4(-turbo)?$|nano$|-cyber$|-pro$|^o1|^o3-|^gpt-4o-mini$|deep-research|computer-use|robotics|^gemma|-preview/

/** Where the source says nothing of the levels. */
const levels: { readonly [id: string]: ReadonlyArray<string> } = {
  "gemini-2.5-pro": ["low", "medium", "high"],
  "gemini-2.5-flash": ["none", "low", "medium", "high"],
  "gemini-2.5-flash-lite": ["none", "low", "medium", "high"]
}

/** The usual levels are there unless the source denies them, the highest two if it names them. */
const effortsOf = (kind: Kind, { id, reasoning, thinkingLevelMap: map = {} }: Model): ReadonlyArray<string> => {
  if (!reasoning) return []
  return (
    levels[id] ?? [
      ...(map.off === null ? [] : ["none"]),
      ...(kind === "anthropic" || map.minimal === null ? [] : ["minimal"]),
      ...(map.low === null ? [] : ["low"]),
      ...(map.medium === null ? [] : ["medium"]),
      ...(map.high === null ? [] : ["high"]),
      ...(typeof map.xhigh === "string" ? ["xhigh"] : []),
      ...(typeof map.max === "string" ? ["max"] : [])
    ]
  )
}

const rowOf = (kind: Kind, model: Model): string => {
  const { cacheRead, cacheWrite, input, output } = model.cost
  const name = model.name.replace(/ \(latest\)$/, "")
  return JSON.stringify([
    model.id,
    name,
    model.contextWindow,
    model.maxTokens,
    effortsOf(kind, model).join(" "),
    model.input.includes("image"),
    [input, output, cacheRead, cacheWrite]
  ]).replaceAll(/\b(\d{1,3})(\d{3})(\d{3})\b|\b(\d{1,3})(\d{3})\b(?!["-])/g, (number, a, b, c, d, e) =>
    number.length < 5 ? number : [a, b, c, d, e].filter((part) => part !== undefined).join("_")
  )
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error("Give the folder of the unpacked package")
const { version } = decode(readFileSync(join(folder, "package.json"), "utf8"))

const rowsOf = (kind: Kind): ReadonlyArray<string> => {
  const file = decode(readFileSync(join(folder, "dist", "providers", "data", `${kind}.json`), "utf8"))
  const models = new Map(Object.values(decodeModels(file[interfaces[kind]])).map((model) => [model.id, model]))
  const ids = listed[kind].split(/\s+/)
  for (const id of models.keys())
    if (!ids.includes(id) && !passedOver.test(id)) console.warn(`not listed: ${kind}/${id}`)
  return ids.map((id) => {
    const model = models.get(id)
    if (model === undefined) throw new Error(`The source has no model ${kind}/${id}`)
    return rowOf(kind, model)
  })
}

const kinds: ReadonlyArray<Kind> = ["anthropic", "openai", "google"]

writeFileSync(
  join(import.meta.dirname, "..", "src", "services", "models", "Snapshot.ts"),
  `/** Facts about models, made by \`scripts/catalogue.ts\` from version ${version} of its source: change them there. */

/** Tokens of the window and of the longest answer, and US dollars per million tokens. */
export type Row = readonly [
  id: string,
  name: string,
  contextWindow: number,
  outputLimit: number,
  efforts: string,
  image: boolean,
  price: readonly [input: number, output: number, cacheRead: number, cacheWrite: number]
]

${kinds.map((kind) => `export const ${kind}: ReadonlyArray<Row> = [\n${rowsOf(kind).join(",\n")}\n]`).join("\n\n")}
`
)
