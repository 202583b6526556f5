/** Signs out: of what is cached, or of one provider. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { forget } from "../../services/auth/ProviderKeys.ts"
import { Settings } from "../../services/Settings.ts"
import { explained, failed } from "../Explained.ts"
import { here } from "./Here.ts"

/** Sign-ins of connections live in the memory of agents that run; on disk lies only what was asked with a key. */
const forgetCached = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const { home } = yield* Settings
  const cached = paths.join(home, "cache", "models.json")
  yield* fs.remove(cached, { force: true }).pipe(Effect.mapError(() => failed(`${cached} cannot be removed`)))
  yield* Console.log(
    "Nothing that was cached of a sign-in is left. An agent that runs forgets its gateway token when its editor signs out " +
      "or it ends."
  )
  yield* Console.log("The keys of providers stay: super-pi logout --provider NAME forgets one")
})

const forgetKey = Effect.fnUntraced(function* (name: string) {
  const { current, home } = yield* Settings
  const source = (yield* current).providers.find((provider) => provider.name === name)?.keySource
  const { isStored, isWritten } = yield* explained(forget(home, name))
  if (isStored) yield* Console.log(`The key of ${name} is removed from ${home}/credentials.json`)
  if (isWritten) yield* Console.log(`The key of ${name} is removed from ${home}/config.toml`)
  if (source?.kind === "variable") {
    yield* Console.error(
      `note: ${source.name} of the environment still has a key for ${name}; unset it where it is set`
    )
  }
  if (!isStored && !isWritten && source?.kind !== "variable") {
    return yield* failed(`No key of ${name} is stored; super-pi auth status shows what there is`)
  }
})

export const run = (provider: Option.Option<string>) =>
  here(Option.match(provider, { onNone: () => forgetCached, onSome: forgetKey }))
