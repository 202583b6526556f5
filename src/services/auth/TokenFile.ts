/** The token store in a file: atomic changes, one at a time, in a file and a folder that only their owner can read. */
import * as Array from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Struct from "effect/Struct"
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { InvalidInput } from "../../domain/Failure.ts"
import { withFileLock } from "../files/FileLock.ts"
import type { TokenInfo, TokenStoreShape } from "./TokenStore.ts"
import { TokenStoreFailed } from "./TokenStoreFailed.ts"

const mostTokens = 1000
/** In bytes; far above what that many tokens take. */
const largestFile = 4n * 1024n * 1024n
/** Tries of 25 ms to get the lock of the file. */
const patience = 200

const TokenEntry = Schema.Struct({
  id: Schema.NonEmptyString,
  name: Schema.String,
  /** SHA-256 in hex. A token is 32 random bytes, so nothing slower and no salt is needed. */
  hash: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)),
  createdAt: Schema.String,
  lastUsedAt: Schema.optionalKey(Schema.String)
})
type TokenEntry = typeof TokenEntry.Type

const TokenList = Schema.fromJsonString(Schema.Struct({ version: Schema.Literal(1), tokens: Schema.Array(TokenEntry) }))
const decodeList = Schema.decodeUnknownEffect(TokenList)
const encodeList = Schema.encodeEffect(TokenList)

const isName = Schema.is(Schema.String.check(Schema.isPattern(/^(?=.*\S)[^\p{Cc}]{1,64}$/u)))
const isToken = Schema.is(Schema.String.check(Schema.isPattern(/^spi_[\w-]{43}$/)))

const hashOf = (token: string) => createHash("sha256").update(token).digest("hex")
const sameHash = (one: string, other: string) => timingSafeEqual(Buffer.from(one, "hex"), Buffer.from(other, "hex"))

const infoOf = (entry: TokenEntry): TokenInfo => Struct.omit(entry, ["hash"])

type Change<A, E> = (
  tokens: ReadonlyArray<TokenEntry>
) => Effect.Effect<readonly [result: A, tokens: ReadonlyArray<TokenEntry>], E>

/** `folder` is made when it is absent; `path` lies in it. */
export const makeTokenFile = (fs: FileSystem.FileSystem, folder: string, path: string): TokenStoreShape => {
  const oneAtATime = Semaphore.makeUnsafe(1)
  const lock = `${path}.lock`

  const damaged = () =>
    new TokenStoreFailed({
      reason: "damaged",
      message: `${path} is no list of tokens and was left as it is; restore it from a copy, or move it away and create new tokens`
    })
  const unavailable = ({ reason }: PlatformError) =>
    new TokenStoreFailed({
      reason: "unavailable",
      message: `${path} cannot be read or written (${reason._tag}); make it and its folder readable and writable for you`
    })
  const lockFailed = (error: PlatformError) =>
    error.reason._tag === "AlreadyExists"
      ? new TokenStoreFailed({
          reason: "locked",
          message: `${path} is being changed by another process; try again, or delete ${lock} if none is running`
        })
      : unavailable(error)

  const read = Effect.gen(function* () {
    const { size } = yield* fs.stat(path)
    if (size > largestFile) return yield* damaged()
    const text = yield* fs.readFileString(path)
    const { tokens } = yield* decodeList(text)
    return tokens
  }).pipe(
    Effect.catchTags({
      SchemaError: () => Effect.fail(damaged()),
      PlatformError: (error) =>
        error.reason._tag === "NotFound" ? Effect.succeed([]) : Effect.fail(unavailable(error))
    })
  )

  const write = Effect.fnUntraced(function* (tokens: ReadonlyArray<TokenEntry>) {
    const text = yield* Effect.orDie(encodeList({ version: 1, tokens }))
    const temporary = `${path}.${randomBytes(6).toString("hex")}`
    yield* Effect.scoped(
      Effect.gen(function* () {
        const file = yield* fs.open(temporary, { flag: "wx", mode: 0o600 })
        yield* file.writeAll(Buffer.from(text))
        yield* file.sync
      })
    ).pipe(
      Effect.andThen(fs.rename(temporary, path)),
      Effect.onError(() => Effect.ignore(fs.remove(temporary)))
    )
  })

  const change = <A, E>(retries: number, apply: Change<A, E>): Effect.Effect<A, E | TokenStoreFailed> =>
    Effect.gen(function* () {
      const [result, tokens] = yield* Effect.flatMap(read, apply)
      yield* Effect.mapError(write(tokens), unavailable)
      return result
    }).pipe(withFileLock({ fs, path: lock, retries, failed: lockFailed }), Semaphore.withPermit(oneAtATime))

  const makeFolder = fs.makeDirectory(folder, { recursive: true, mode: 0o700 }).pipe(Effect.mapError(unavailable))

  const create = Effect.fn("TokenStore.create")(function* (name: string) {
    if (!isName(name)) {
      return yield* new InvalidInput({
        field: "name",
        message: "name must be 1 to 64 characters on one line, such as the machine that will use the token"
      })
    }
    const token = `spi_${randomBytes(32).toString("base64url")}`
    const entry: TokenEntry = {
      id: randomBytes(6).toString("hex"),
      name,
      hash: hashOf(token),
      createdAt: DateTime.formatIso(yield* DateTime.now)
    }
    yield* makeFolder
    yield* change(patience, (tokens) =>
      tokens.length < mostTokens
        ? Effect.succeed([undefined, [...tokens, entry]])
        : Effect.fail(
            new InvalidInput({ field: "name", message: `there are ${mostTokens} tokens already; revoke some first` })
          )
    )
    return { ...infoOf(entry), token: Redacted.make(token) }
  })

  const revoke = Effect.fn("TokenStore.revoke")(function* (id: string) {
    const unknown = new InvalidInput({
      field: "id",
      message: "no token has this id; `super-pi token list` shows the ids"
    })
    const isKnown = (tokens: ReadonlyArray<TokenEntry>) => tokens.some((token) => token.id === id)
    // Looked at first, so that a wrong id makes no folder and no lock.
    if (!isKnown(yield* read)) return yield* unknown
    yield* change(patience, (tokens) =>
      isKnown(tokens) ? Effect.succeed([undefined, tokens.filter((token) => token.id !== id)]) : Effect.fail(unknown)
    )
  })

  /** Never waits and never fails: that a token was used is worth less than that it works. */
  const noteUse = Effect.fnUntraced(function* (used: TokenEntry) {
    const now = yield* DateTime.now
    const last = Option.flatMap(Option.fromUndefinedOr(used.lastUsedAt), DateTime.make)
    if (Option.exists(last, (time) => DateTime.isGreaterThan(DateTime.add(time, { minutes: 1 }), now))) return
    const lastUsedAt = DateTime.formatIso(now)
    yield* change(0, (tokens) =>
      Effect.succeed([undefined, tokens.map((token) => (token.id === used.id ? { ...token, lastUsedAt } : token))])
    ).pipe(Effect.ignore)
  })

  const verify = Effect.fn("TokenStore.verify")(function* (token: Redacted.Redacted<string>) {
    const text = Redacted.value(token)
    if (!isToken(text)) return false
    const hash = hashOf(text)
    // Every entry is compared, in constant time, so that the time tells nothing about the tokens.
    const matches = (yield* read).filter((entry) => sameHash(entry.hash, hash))
    yield* Effect.forEach(matches, noteUse, { discard: true })
    return matches.length > 0
  })

  return { create, list: Effect.map(read, Array.map(infoOf)), revoke, verify }
}
