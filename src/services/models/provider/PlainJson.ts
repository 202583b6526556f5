/** Metadata of a provider as the JSON that it becomes in a session log. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

type JsonObject = { readonly [key: string]: Schema.Json }

/** What `JSON.stringify` would keep of `value`: keys without a value are dropped, what JSON has no word for is null. */
export const plainJson = (value: unknown): Schema.Json => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "number":
      return Number.isFinite(value) ? value : null
    default:
      if (Array.isArray(value)) return value.map(plainJson)
      return Predicate.isObject(value) ? plainObject(value) : null
  }
}

const plainObject = (value: { readonly [key: string]: unknown }): JsonObject =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, entry]) => (entry === undefined ? [] : [[key, plainJson(entry)] as const]))
  )

/** Metadata by provider name. What a provider says twice about one part is merged. */
export type Metadata = { readonly [provider: string]: JsonObject }

/** Only the entries that are objects; others mean nothing to a provider. */
export const plainMetadata = (value: unknown): Metadata =>
  Predicate.isObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, entry]) =>
          Predicate.isObject(entry) ? [[name, plainObject(entry)] as const] : []
        )
      )
    : {}

export const mergeMetadata = (left: Metadata, right: Metadata): Metadata => {
  const merged: { [provider: string]: JsonObject } = { ...left }
  for (const [name, entry] of Object.entries(right)) merged[name] = { ...merged[name], ...entry }
  return merged
}

export const isEmpty = (metadata: Metadata): boolean => Object.keys(metadata).length === 0
