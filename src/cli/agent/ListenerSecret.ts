/** The secret of a server: whether the one that a person gave is good enough for where it listens, or a new one. */
import * as CliError from "effect/cli/CliError"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { isLoopback, weaknessOf } from "../../transports/http/Guard.ts"

/** Bytes of a generated secret: 192 bits. */
const BYTES = 24

export interface ListenerSecret {
  readonly secret: Redacted.Redacted<string>
  /** Nobody knows it yet: it has to be shown. */
  readonly isNew: boolean
}

/**
 * On loopback a missing secret is generated and a weak one gets a warning on stderr. Where others can reach the server,
 * either is an error that says how to go on. `variable` is the environment variable that may hold the secret.
 */
export const choose = Effect.fnUntraced(function* (
  given: Option.Option<Redacted.Redacted<string>>,
  host: string,
  variable: string
): Effect.fn.Return<ListenerSecret, CliError.UserError> {
  const known = Option.filter(given, (secret) => Redacted.value(secret) !== "")
  const weakness = Option.isNone(known) ? "there is none" : weaknessOf(Redacted.value(known.value))
  const remedy = `set ${variable} to a long random one, such as the output of: openssl rand -hex 24`
  if (weakness !== undefined && !isLoopback(host)) {
    return yield* new CliError.UserError({
      cause: weakness,
      userMessage: `${host} can be reached from outside of this machine, which needs a strong secret: ${weakness}. Either ${remedy}; or listen on 127.0.0.1, with --bind 127.0.0.1`
    })
  }
  if (Option.isNone(known)) {
    return { secret: Redacted.make(randomBytes(BYTES).toString("base64url")), isNew: true }
  }
  if (weakness !== undefined) yield* Console.error(`warning: the secret can be guessed, ${weakness}: ${remedy}`)
  return { secret: known.value, isNew: false }
})
