/** `credentials.json` of the home folder: the keys that were given to `super-pi login`, by provider. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Look } from "./FileLook.ts"
import { unreadable } from "./FileLook.ts"

export const StoredKeys = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), keys: Schema.Record(Schema.String, Schema.NonEmptyString) })
)
export type StoredKeys = typeof StoredKeys.Type

/** What there is before the first sign-in. */
export const noKeys: StoredKeys = { version: 1, keys: {} }

const decode = Schema.decodeUnknownEffect(StoredKeys)

/** Keys by provider. Fails with what is wrong, for whoever has to repair it, and never with what the file holds. */
export const readStoredKeys = (
  fs: FileSystem.FileSystem,
  path: string,
  seen: Look
): Effect.Effect<ReadonlyMap<string, Redacted.Redacted<string>>, string> => {
  if (seen._tag === "Unusable") return Effect.fail(`${path} ${seen.problem}; its keys are not used`)
  const damaged = `${path} cannot be understood and its keys are not used: move it away, and run super-pi login again`
  return fs.readFileString(path).pipe(
    Effect.mapError(({ reason }) => `${path} ${unreadable(reason._tag)}; its keys are not used`),
    Effect.flatMap((text) => Effect.mapError(decode(text), () => damaged)),
    Effect.map(({ keys }) => new Map(Object.entries(keys).map(([name, key]) => [name, Redacted.make(key.trim())])))
  )
}
