/**
 * Facts about the current models of the three providers that have lists of their own: window, efforts, price. The first
 * model of a kind is the one that a new session gets when nothing was chosen.
 */
import type { ModelPrice } from "../../domain/Model.ts"
import type { ProviderKind } from "../Settings.ts"
import { anthropic, google, openai, type Row } from "./Snapshot.ts"

/** A model without the name of a provider. */
export interface KnownModel {
  readonly id: string
  readonly name: string
  readonly contextWindow: number
  readonly outputLimit: number
  readonly efforts: ReadonlyArray<string>
  readonly image: boolean
  readonly price: ModelPrice
}

const known = ([id, name, contextWindow, outputLimit, efforts, image, prices]: Row): KnownModel => {
  const [input, output, cacheRead, cacheWrite] = prices
  return {
    id,
    name,
    contextWindow,
    outputLimit,
    efforts: efforts === "" ? [] : efforts.split(" "),
    image,
    price: { input, output, cacheRead, cacheWrite }
  }
}

/** What is known of a kind, the default first; nothing of servers that may offer anything. */
export const catalogue: { readonly [K in ProviderKind]: ReadonlyArray<KnownModel> } = {
  anthropic: anthropic.map(known),
  openai: openai.map(known),
  google: google.map(known),
  "openai-compatible": []
}
