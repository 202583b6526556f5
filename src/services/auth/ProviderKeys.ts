/** Stores and forgets keys of providers, and writes what else a sign-in settles. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import { makeOwnFile } from "../files/OwnFile.ts"
import type { ProviderSettings } from "../Settings.ts"
import { removeKey, setKey } from "../settings/ConfigEdit.ts"
import { changeConfig, type Edit } from "../settings/ConfigWriter.ts"
import { largestFile } from "../settings/FileLook.ts"
import { CREDENTIALS_FILE } from "../settings/SettingsReader.ts"
import { noKeys, StoredKeys } from "../settings/StoredKeys.ts"

const keyFile = Effect.fnUntraced(function* (home: string) {
  const paths = yield* Path.Path
  return makeOwnFile({
    fs: yield* FileSystem.FileSystem,
    paths,
    path: paths.join(home, CREDENTIALS_FILE),
    schema: StoredKeys,
    empty: noKeys,
    what: "list of keys",
    largest: largestFile
  })
})

const storeKey = Effect.fnUntraced(function* (home: string, name: string, key: Redacted.Redacted<string>) {
  const file = yield* keyFile(home)
  yield* file.change(({ keys }) => [undefined, { version: 1, keys: { ...keys, [name]: Redacted.value(key) } }])
})

/** What a sign-in ends with. */
export interface SignedIn {
  readonly provider: ProviderSettings
  /** Absent where the key that is used is somewhere else already. */
  readonly key: Redacted.Redacted<string> | undefined
  /** What the section of the provider has to say; nothing for a provider that needs no section. */
  readonly section: Readonly<Record<string, string | ReadonlyArray<string>>>
  /** `provider/model`; absent to leave it. */
  readonly defaultModel: string | undefined
}

const editOf = ({ defaultModel, provider, section }: SignedIn): Edit => {
  const keys = Object.entries(section).map(([key, value]) => [["providers", provider.name, key], value] as const)
  const all = defaultModel === undefined ? keys : [[["models", "default"], defaultModel] as const, ...keys]
  return (text) =>
    all.reduce<Result.Result<string, string>>(
      (made, [path, value]) => Result.flatMap(made, (present) => setKey(present, path, value)),
      Result.succeed(text)
    )
}

/** Keeps a sign-in. The key goes first: a section without its key is a warning at every start. */
export const keep = Effect.fn("ProviderKeys.keep")(function* (home: string, signedIn: SignedIn) {
  if (signedIn.key !== undefined) yield* storeKey(home, signedIn.provider.name, signedIn.key)
  yield* changeConfig(home, editOf(signedIn))
})

/** Forgets the key of a provider wherever this program keeps it; whether there was one. */
export const forget = Effect.fn("ProviderKeys.forget")(function* (home: string, name: string) {
  const file = yield* keyFile(home)
  const isStored = Object.hasOwn((yield* file.read).keys, name)
  if (isStored) {
    yield* file.change(({ keys }) => [undefined, { version: 1, keys: Struct.omit(keys, [name]) }])
  }
  let isWritten = false
  yield* changeConfig(home, (text) =>
    Result.map(removeKey(text, ["providers", name, "api_key"]), (made) => {
      isWritten = made !== text
      return made
    })
  )
  return { isStored, isWritten }
})
