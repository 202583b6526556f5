/** The token store in a file: atomic changes, one at a time, in a file and a folder that only their owner can read. */
import * as Array from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { InvalidInput } from "../../domain/Failure.ts"
import { makeOwnFile } from "../files/OwnFile.ts"
import type { ChangeOptions, OwnFileFailed } from "../files/OwnText.ts"
import type { TokenInfo, TokenStoreShape } from "./TokenStore.ts"
import { TokenStoreFailed } from "./TokenStoreFailed.ts"

const mostTokens = 1000

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

const isName = Schema.is(Schema.String.check(Schema.isPattern(/^(?=.*\S)[^\p{Cc}]{1,64}$/u)))
const isToken = Schema.is(Schema.String.check(Schema.isPattern(/^spi_[\w-]{43}$/)))

const hashOf = (token: string) => createHash("sha256").update(token).digest("hex")
const sameHash = (one: string, other: string) => timingSafeEqual(Buffer.from(one, "hex"), Buffer.from(other, "hex"))

const infoOf = (entry: TokenEntry): TokenInfo => Struct.omit(entry, ["hash"])

/** The folder of `path` is made when it is absent. */
export const makeTokenFile = (fs: FileSystem.FileSystem, paths: Path.Path, path: string): TokenStoreShape => {
  const file = makeOwnFile({
    fs,
    paths,
    path,
    schema: TokenList,
    empty: { version: 1, tokens: [] },
    what: "list of tokens",
    afterwards: "create new tokens"
  })
  const failed = ({ message, reason }: OwnFileFailed) => new TokenStoreFailed({ message, reason })
  const read = Effect.mapBoth(file.read, { onFailure: failed, onSuccess: ({ tokens }) => tokens })

  const change = <E extends InvalidInput = never>(
    apply: (tokens: ReadonlyArray<TokenEntry>) => Effect.Effect<ReadonlyArray<TokenEntry>, E>,
    options?: ChangeOptions
  ): Effect.Effect<void, E | TokenStoreFailed> =>
    file
      .attempt(({ tokens }) => Effect.map(apply(tokens), (next) => [undefined, { version: 1, tokens: next }]), options)
      .pipe(Effect.mapError((error) => (error._tag === "OwnFileFailed" ? failed(error) : error)))

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
    yield* change((tokens) =>
      tokens.length < mostTokens
        ? Effect.succeed([...tokens, entry])
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
    yield* change((tokens) =>
      isKnown(tokens) ? Effect.succeed(tokens.filter((token) => token.id !== id)) : Effect.fail(unknown)
    )
  })

  /** Never waits and never fails: that a token was used is worth less than that it works. */
  const noteUse = Effect.fnUntraced(function* (used: TokenEntry) {
    const now = yield* DateTime.now
    const last = Option.flatMap(Option.fromUndefinedOr(used.lastUsedAt), DateTime.make)
    if (Option.exists(last, (time) => DateTime.isGreaterThan(DateTime.add(time, { minutes: 1 }), now))) return
    const lastUsedAt = DateTime.formatIso(now)
    yield* change(
      (tokens) => Effect.succeed(tokens.map((token) => (token.id === used.id ? { ...token, lastUsedAt } : token))),
      { patience: 0 }
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
