/** The flags of commands that listen on a port. They stand after the transport's name. */
import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Address from "../../transports/http/Address.ts"

const origins = Flag.String("allow-origin").pipe(
  Flag.withMetavar("ORIGIN"),
  Flag.withDescription(
    "A page, such as https://agent.example.com, from which browsers may connect; its host is also a name of the server. May be given several times"
  ),
  Flag.atLeast(0)
)

const grace = Flag.Finite("grace").pipe(
  Flag.withMetavar("SECONDS"),
  Flag.withDescription("How long turns may go on after a signal to end; 5 seconds unless given"),
  Flag.withDefault(5),
  Flag.filter(
    (seconds) => seconds >= 0 && seconds <= 3600,
    () => "a number of seconds from 0 to 3600"
  ),
  Flag.map(Duration.seconds)
)

const tlsFile = (name: string, what: string) =>
  Flag.FileText(name).pipe(Flag.withMetavar("FILE"), Flag.withDescription(what), Flag.optional)

/** Where it listens. `usual` is the address unless it is given, by the flag or by the variable. */
export const bindFlag = (usual: Address.Address, variable?: string) => {
  const flag = Flag.String("bind").pipe(
    Flag.withMetavar("HOST:PORT"),
    Flag.withDescription(`Where to listen; ${Address.authority(usual)} unless given. Port 0 is any that is free`)
  )
  const known = variable === undefined ? flag : Flag.withFallbackConfig(flag, Config.String(variable))
  return known.pipe(
    Flag.withDefault(Address.authority(usual)),
    Flag.filterMap(
      (text) => Option.getSuccess(Address.parse(text, usual.port)),
      (text) => Result.getOrElse(Result.flip(Address.parse(text, usual.port)), () => "HOST:PORT")
    )
  )
}

/** The secret of its clients, by the flag or by the variable. */
export const secretFlag = (variable: string) =>
  Flag.Redacted("secret").pipe(
    Flag.withMetavar("SECRET"),
    Flag.withDescription(`What clients have to know; better set ${variable}, for other users see a command line`),
    Flag.withFallbackConfig(Config.Redacted(variable)),
    Flag.optional
  )

/** What every listener takes beside them. */
export const listenerFlags = {
  origins,
  tlsCert: tlsFile(
    "tls-cert",
    "Serve over TLS with this certificate, a PEM file that may have its chain; needs --tls-key"
  ),
  tlsKey: tlsFile("tls-key", "The key of the certificate, a PEM file"),
  grace
}

/** A certificate is of use only with its key. */
export const tlsOf = (cert: Option.Option<string>, key: Option.Option<string>) => {
  if (Option.isSome(cert) && Option.isSome(key)) return Effect.succeed({ cert: cert.value, key: key.value })
  return Option.isSome(cert) || Option.isSome(key)
    ? Effect.fail(
        new CliError.UserError({ cause: "tls", userMessage: "--tls-cert and --tls-key belong together: give both" })
      )
    : Effect.undefined
}
