/** Changes one key of `config.toml`. A change that would not be read as it is meant is refused, and nothing is written. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Toml from "effect/encoding/Toml"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { closest } from "../../domain/text/Similar.ts"
import { settings } from "../../composition/Platform.ts"
import { Settings } from "../../services/Settings.ts"
import { type ConfigValue, keyText, removeKey, setKey } from "../../services/settings/ConfigEdit.ts"
import { parseConfigFile } from "../../services/settings/ConfigFile.ts"
import { type ConfigKey, isTable } from "../../services/settings/ConfigKey.ts"
import { jsonSchema, keyAt, keyPaths } from "../../services/settings/ConfigSchema.ts"
import { changeConfig } from "../../services/settings/ConfigWriter.ts"
import { inputText } from "../InputText.ts"
import { failed } from "../Explained.ts"

/** What the reader complains of is shown as such where it matters, and is no log. */
export const quietly = Effect.provideService(References.MinimumLogLevel, "None")

const here = Effect.provide(settings({ alwaysApprove: false }))

type KeyPath = ReadonlyArray<string>

/** The names of a dotted key, in which a name may be quoted as in the file. */
export const pathOf = (text: string): KeyPath | undefined => {
  let at: unknown = Result.getOrUndefined(Toml.parse(`${text} = 0`))
  const path: Array<string> = []
  while (isTable(at)) {
    const [entry, ...more] = Object.entries(at)
    if (entry === undefined || more.length > 0) return undefined
    path.push(entry[0])
    at = entry[1]
  }
  return at === 0 ? path : undefined
}

/** Every key, and every section that has some. */
const known = [...new Set(keyPaths().flatMap(([path]) => [path, ...path.split(".").slice(0, 1)]))]

/** What somebody may have meant by a key that does not exist. */
export const unknownKey = (text: string): string => {
  const [meant] = closest(text, known)
  return `There is no key ${JSON.stringify(text)}; ${meant === undefined ? "super-pi config schema prints all" : `did you mean ${meant}?`}`
}

const requireKey = Effect.fnUntraced(function* (text: string) {
  const path = pathOf(text)
  const key = path === undefined ? undefined : keyAt(path)
  if (path === undefined || key === undefined) return yield* failed(unknownKey(text))
  return { path, key }
})

/** What TOML can write, dates aside. */
export const isConfigValue = (value: unknown): value is ConfigValue =>
  typeof value === "string" ||
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value)) ||
  (Array.isArray(value) && value.every(isConfigValue)) ||
  (isTable(value) && Object.values(value).every(isConfigValue))

/** As TOML reads it where that fits, else as a text: quotes are what one forgets in a shell. */
export const valueOf = (text: string, key: ConfigKey<unknown>): ConfigValue | undefined => {
  const parsed = Result.getOrUndefined(Toml.parse(`value = ${text}`))?.["value"]
  const fits = (value: unknown): value is ConfigValue => isConfigValue(value) && Option.isSome(key.decode(value))
  if (fits(parsed)) return parsed
  return fits(text) ? text : undefined
}

const fromInput = Effect.map(inputText, (text) => text.replace(/\r?\n$/, ""))

/** What the reader complains of in a text, without the lines, which move with a change. */
const complaints = (text: string): ReadonlyArray<string> =>
  Result.match(parseConfigFile(text, ""), {
    onSuccess: ({ warnings }) => warnings.map((warning) => warning.replace(/^:\d+: /, "")),
    onFailure: () => []
  })

export const set = Effect.fnUntraced(
  function* (name: string, given: string) {
    const { key, path } = yield* requireKey(name)
    if (key.isSecret && given !== "-") {
      return yield* failed(
        `${name} is a secret, and a command line is kept by the shell: write - for the value and send it to standard input` +
          (path[0] === "providers" ? `, or run super-pi login --provider ${path[1]}` : "")
      )
    }
    const value = valueOf(given === "-" ? yield* fromInput : given, key)
    if (value === undefined) return yield* failed(`${name} must be ${key.expected}`)
    const { home } = yield* Settings
    yield* changeConfig(home, (text) =>
      Result.flatMap(setKey(text, path, value), (made) => {
        const before = complaints(text)
        const problem = complaints(made).find((complaint) => !before.includes(complaint))
        return problem === undefined ? Result.succeed(made) : Result.fail(`was not changed: ${problem}`)
      })
    ).pipe(Effect.mapError(({ message }) => failed(message)))
    yield* Console.log(`${keyText(path)} is ${key.isSecret ? "set" : JSON.stringify(value)}`)
  },
  here,
  quietly
)

export const unset = Effect.fnUntraced(
  function* (name: string) {
    const { path } = yield* requireKey(name)
    const { home } = yield* Settings
    let wasThere = false
    yield* changeConfig(home, (text) =>
      Result.map(removeKey(text, path), (made) => {
        wasThere = made !== text
        return made
      })
    ).pipe(Effect.mapError(({ message }) => failed(message)))
    yield* Console.log(wasThere ? `${keyText(path)} is removed` : `${keyText(path)} was not in the file`)
  },
  here,
  quietly
)

export const printPath = Effect.gen(function* () {
  const paths = yield* Path.Path
  const { home } = yield* Settings
  yield* Console.log(paths.join(home, "config.toml"))
}).pipe(here, quietly)

export const printSchema = Effect.suspend(() => Console.log(JSON.stringify(jsonSchema(), null, 2)))
